"""A copy of the program and a throwaway Pulumi backend: a rehearsal never writes into the checkout.

(`pulumi stack init` with a passphrase would write a salt into the stack's file.)
"""

import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAM = (
    "Pulumi.yaml",
    "__main__.py",
    "program.py",
    "offline.py",
    "components",
    "doks_gpu",
    "pyproject.toml",
)


@dataclass(frozen=True)
class Workspace:
    """The folder that a rehearsal works in."""

    folder: Path

    @property
    def program(self) -> Path:
        """The copy that the engine runs."""
        return self.folder / "program"

    def environment(
        self, outer: Mapping[str, str], *, tools: list[Path], api_url: str, token: str, passphrase: str
    ) -> dict[str, str]:
        """The environment of every engine call: nothing of the user's Pulumi, account or clusters leaks in."""
        prefixes = ("PULUMI_", "DIGITALOCEAN_", "SPACES_", "KUBE", "DOKS_GPU_")
        kept = {
            key: value
            for key, value in outer.items()
            if not key.startswith(prefixes) or key.startswith("DOKS_GPU_REHEARSAL_")
        }
        path = [
            str(Path(sys.executable).parent),
            *(str(tool) for tool in tools),
            kept.get("PATH", os.defpath),
        ]
        return kept | {
            "PATH": os.pathsep.join(path),
            # The Kubernetes provider leaves its kubeconfig in the folder for temporary files.
            "TMPDIR": str(self.folder / "tmp"),
            "PULUMI_HOME": str(self.folder / "pulumi-home"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": passphrase,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            # A shell's start-up file may put another Python first on PATH.
            "PULUMI_PYTHON_CMD": sys.executable,
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "DIGITALOCEAN_TOKEN": token,
            "DIGITALOCEAN_API_URL": api_url,
            "KUBECONFIG": str(self.folder / "kubeconfig"),
        }


def make_workspace(project: Path, folder: Path) -> Workspace:
    """Copies the program and its stack files from `project` into `folder`, which it makes."""
    workspace = Workspace(folder)
    for part in ("state", "pulumi-home", "tmp"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    ignore = shutil.ignore_patterns("__pycache__")
    workspace.program.mkdir(exist_ok=True)
    for source in (*(project / name for name in PROGRAM), *project.glob("Pulumi.*.yaml")):
        target = workspace.program / source.name
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignore, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    environment = workspace.program / ".venv"
    if not environment.exists():
        environment.symlink_to(sys.prefix)
    return workspace


def new_secret() -> str:
    """For the backend's passphrase and the stand-in's token: worth nothing outside this folder."""
    return secrets.token_urlsafe(24)
