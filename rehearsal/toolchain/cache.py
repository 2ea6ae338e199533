"""Where made programs are kept: outside the project, one folder per key. A second run makes nothing."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_root() -> Path:
    """`~/.cache/doks-gpu`, or below `XDG_CACHE_HOME` where that is set."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "doks-gpu"


def key(name: str, facts: Iterable[str], files: Iterable[Path] = ()) -> str:
    """The name of a program's folder: it changes with every file and flag that the result depends on."""
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(f"{len(fact)}:{fact}".encode())
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name}:{len(content)}:".encode() + content)
    return f"{name}-{digest.hexdigest()[:16]}"


@contextmanager
def locked(root: Path, name: str) -> Iterator[None]:
    """Holds the lock of that name; a second process waits here. The kernel frees it when the holder dies."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A new folder that becomes `target` in one step when the block ends well, and vanishes otherwise."""
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=target.parent))
    try:
        unfinished.chmod(0o755)
        yield unfinished
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
