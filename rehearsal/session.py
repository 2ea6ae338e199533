"""One rehearsal: toolchain, stand-in cloud, control planes, and the engine run against them.

Everything lives in one folder and stops together. Tests, drills and the command use this class.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import yaml

from rehearsal.cluster import ControlPlanes
from rehearsal.digitalocean import StandIn, StandInSettings
from rehearsal.toolchain import Toolchain
from rehearsal.workspace import Workspace, make_workspace, new_secret

PROVIDER = Path(__file__).parent / "provider" / "bin" / "pulumi-resource-digitalocean"


@dataclass(frozen=True, kw_only=True)
class RehearsalSettings:
    """What a rehearsal can be asked to differ in."""

    provider: Path = PROVIDER
    """The executable that serves the DigitalOcean provider: the stand-in, or a real plugin."""
    map_delay_seconds: float = 1.0
    """From `priority` being on to the starter map: the race is real (doks-facts, section 4)."""
    poll_seconds: float = 0.2
    """How often the provider stand-in asks; the real one asks every 10 s. Its time limits shrink in proportion."""
    cloud: StandInSettings = field(default_factory=StandInSettings)


class Rehearsal:
    """A running rehearsal. Use it as a context manager: leaving it stops all that it started."""

    def __init__(
        self, project: Path, folder: Path, toolchain: Toolchain, settings: RehearsalSettings | None = None
    ) -> None:
        self.settings = settings or RehearsalSettings()
        self.workspace: Workspace = make_workspace(project, folder)
        self._toolchain = toolchain
        self.token = new_secret()
        self._passphrase = new_secret()
        self.planes = ControlPlanes(toolchain, folder / "clusters", map_delay_seconds=self.settings.map_delay_seconds)
        self.stand_in = StandIn(self.settings.cloud, backend=self.planes, token=self.token)

    def __enter__(self) -> Self:
        self.stand_in.start()
        self.planes.token_review_url = f"{self.stand_in.url}/admin/tokenreview"
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.planes.stop()
        finally:
            self.stand_in.stop()

    @property
    def environment(self) -> dict[str, str]:
        """For every engine call, and for the shell that looks around."""
        base = self.workspace.environment(
            os.environ,
            tools=[self._provider_folder(), *self._toolchain.folders],
            api_url=self.stand_in.url,
            token=self.token,
            passphrase=self._passphrase,
        )
        return {
            "DOKS_GPU_REHEARSAL_POLL_SECONDS": str(self.settings.poll_seconds),
            "DOKS_GPU_PYTHON": sys.executable,
        } | base

    def doks_gpu(self, *arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Runs the command against the rehearsal and keeps what it prints."""
        return self._run([sys.executable, "-m", "doks_gpu.ops.main", *arguments], timeout)

    def pulumi(self, *arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Runs the engine's own command."""
        return self._run(["pulumi", *arguments], timeout)

    def init_stack(self, stack: str) -> None:
        """Makes the stack on the throwaway backend; once is enough. Raises `CalledProcessError`."""
        self.pulumi("stack", "init", stack).check_returncode()

    def edit(self, stack: str, changes: Mapping[str, Any]) -> None:
        """Sets values in the copied stack file: `{"fleets.batch.tiers[0].max": 3}`."""
        from doks_gpu.stackfile import set_path

        path = self.workspace.program / f"Pulumi.{stack}.yaml"
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        prefix = "doks-gpu:"
        raw = {k.removeprefix(prefix): v for k, v in document["config"].items() if k.startswith(prefix)}
        for where, value in changes.items():
            raw = dict(set_path(raw, where, json.dumps(value)))
        others = {k: v for k, v in document["config"].items() if not k.startswith(prefix)}
        document["config"] = others | {prefix + key: value for key, value in raw.items()}
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")

    def write_kubeconfig(self) -> Path:
        """For people who look around: administrator access to the newest cluster, in the rehearsal's own folder."""
        path = self.workspace.folder / "kubeconfig"
        clusters = list(self.stand_in.cloud.world.clusters)
        if clusters:
            path.write_bytes(self.planes.plane(clusters[-1]).admin_kubeconfig.read_bytes())
        return path

    def _provider_folder(self) -> Path:
        """A folder with the chosen executable under the name that the engine looks for."""
        name = "pulumi-resource-digitalocean"
        if self.settings.provider.name == name:
            return self.settings.provider.parent
        folder = self.workspace.folder / "plugins"
        folder.mkdir(exist_ok=True)
        link = folder / name
        if not link.exists():
            link.symlink_to(self.settings.provider)
        return folder

    def _run(self, command: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own programs
            command,
            cwd=self.workspace.program,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
