"""Programs that the machine already has, taken only where their version suits the rehearsal."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rehearsal.toolchain import versions
from rehearsal.toolchain.cache import cache_root


@dataclass(frozen=True)
class Installed:
    """A program that is there, with the version that it says it has."""

    path: Path
    version: str


def pulumi() -> Installed | None:
    """The engine, taken only with its language host for Python beside it."""
    found = _at_least(_on_path("pulumi", "version"), versions.MINIMUM_PULUMI)
    return found if found and _python_host_beside(found) else None


def pulumi_python_host() -> Installed | None:
    """The language host beside an installed engine that suits."""
    engine = pulumi()
    host = _python_host_beside(engine) if engine else None
    return Installed(host, engine.version) if engine and host else None


def kubernetes_provider() -> Installed | None:
    """The newest suitable plugin among those that the user's own Pulumi has installed."""
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    plugins = [
        Installed(folder / "pulumi-resource-kubernetes", folder.name.removeprefix("resource-kubernetes-v"))
        for folder in home.glob("plugins/resource-kubernetes-v4.*")
        if (folder / "pulumi-resource-kubernetes").is_file()
    ]
    fitting = [plugin for plugin in plugins if _at_least(plugin, versions.MINIMUM_KUBERNETES_PROVIDER)]
    return max(fitting, key=lambda plugin: numbers(plugin.version), default=None)


def etcd() -> Installed | None:
    """etcd 3.6 or newer; older ones are refused by Kubernetes."""
    return _at_least(_on_path("etcd", "--version"), versions.MINIMUM_ETCD)


def kubernetes(name: str) -> Installed | None:
    """A part of the control plane, of exactly the minor version that the rehearsal shows."""
    found = _on_path(name, "--version")
    return found if found and numbers(found.version)[:2] == numbers(versions.KUBERNETES)[:2] else None


def kubectl() -> Installed | None:
    """Any kubectl that is not ancient: it is for looking around."""
    return _at_least(_on_path("kubectl", "version", "--client"), versions.MINIMUM_KUBECTL)


def numbers(version: str) -> tuple[int, ...]:
    """`v1.36.3-rc.1` as `(1, 36, 3)`, to be compared."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def _at_least(found: Installed | None, minimum: tuple[int, ...]) -> Installed | None:
    return found if found and numbers(found.version) >= minimum else None


def _python_host_beside(engine: Installed) -> Path | None:
    for folder in (engine.path.parent, engine.path.resolve().parent):
        host = folder / "pulumi-language-python"
        if host.is_file():
            return host
    return None


def _on_path(name: str, *ask: str) -> Installed | None:
    found = shutil.which(name)
    # Inside a shell of the rehearsal, PATH leads to what an earlier run made: those are known by their key.
    if found is None or Path(found).resolve().is_relative_to(cache_root().resolve()):
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - a program that the user's PATH names
            [found, *ask], capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"\bv?(\d+\.\d+\.\d+)", answer.stdout)
    return Installed(Path(found), version[1]) if version and answer.returncode == 0 else None
