"""The versions that we name and the versions that Go would build are the same."""

import re

import pytest

from rehearsal.toolchain import versions
from rehearsal.toolchain.tools import TOOLS, GoTool

GO_TOOLS = [tool for tool in TOOLS if isinstance(tool, GoTool)]
REQUIREMENTS = [
    ("pulumi", "github.com/pulumi/pulumi/pkg/v3", f"v{versions.PULUMI}"),
    ("pulumi", "github.com/pulumi/pulumi/sdk/v3", f"v{versions.PULUMI}"),
    ("python-host", "github.com/pulumi/pulumi/sdk/v3", f"v{versions.PYTHON_HOST}"),
    (
        "kubernetes-provider",
        "github.com/pulumi/pulumi-kubernetes/provider/v4",
        versions.KUBERNETES_PROVIDER_MODULE,
    ),
    ("etcd", "go.etcd.io/etcd/server/v3", f"v{versions.ETCD}"),
    ("kubernetes", "k8s.io/kubernetes", f"v{versions.KUBERNETES}"),
]


@pytest.mark.parametrize(("family", "module", "version"), REQUIREMENTS)
def test_a_family_builds_the_version_that_we_name(family: str, module: str, version: str) -> None:
    modules = next(tool.modules for tool in GO_TOOLS if tool.family == family)
    required = re.search(rf"^(?:require )?\s*{re.escape(module)} (\S+)", (modules / "go.mod").read_text(), re.MULTILINE)
    assert required is not None
    assert required[1] == version


@pytest.mark.parametrize("tool", GO_TOOLS, ids=lambda tool: tool.name)
def test_the_sum_of_what_is_built_is_committed(tool: GoTool) -> None:
    assert (tool.modules / "go.sum").stat().st_size > 0


def test_the_kubernetes_libraries_are_those_of_the_kubernetes_release() -> None:
    modules = next(tool.modules for tool in GO_TOOLS if tool.family == "kubernetes")
    replaced = set(re.findall(r"=> k8s\.io/\S+ (\S+)", (modules / "go.mod").read_text()))
    assert replaced == {"v0." + versions.KUBERNETES.split(".", 1)[1]}
