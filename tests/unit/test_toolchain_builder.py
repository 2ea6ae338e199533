"""Finding and making programs, with a pretended Go that only writes files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from rehearsal.toolchain import Origin, ToolchainError, ensure
from rehearsal.toolchain.builder import cache_key, select

QUIET = Console(quiet=True)
BUILDS = """
if [ "$1" = env ]; then echo go1.26.8; exit; fi
while [ "$1" != -o ]; do shift; done
echo built > "$2"; echo built >> "$GO_CALLS"
"""
FAILS = """
if [ "$1" = env ]; then echo go1.26.8; exit; fi
echo "etcd.go:1: it does not compile" >&2; exit 1
"""
TOO_OLD = "echo go1.24.1"


@pytest.fixture
def put_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A `go` with the given shell script, the only program on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))

    def put(script: str) -> None:
        (folder / "go").write_text(f"#!/bin/sh\n{script}")
        (folder / "go").chmod(0o755)

    return put


def test_a_second_run_makes_nothing(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(BUILDS)
    first = ensure(["etcd"], console=QUIET, root=tmp_path / "cache")
    second = ensure(["etcd"], console=QUIET, root=tmp_path / "cache")
    assert first.programs["etcd"].origin is Origin.MADE
    assert second.programs["etcd"].origin is Origin.CACHE
    assert (tmp_path / "calls").read_text() == "built\n"


def test_a_made_program_is_where_the_toolchain_says(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(BUILDS)
    tools = ensure(["kube-scheduler"], console=QUIET, root=tmp_path / "cache")
    assert tools.path("kube-scheduler").read_text() == "built\n"
    assert tools.folders == (tools.path("kube-scheduler").parent,)


def test_a_folder_that_is_on_path_is_not_put_in_front_of_it(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(BUILDS)
    own = tmp_path / "bin" / "kubectl"
    own.write_text("#!/bin/sh\necho Client Version: v1.36.0\n")
    own.chmod(0o755)
    tools = ensure(["etcd", "kubectl"], console=QUIET, root=tmp_path / "cache")
    assert tools.path("kubectl") == own
    assert tools.folders == (tools.path("etcd").parent,)


def test_only_the_program_is_left_of_a_build(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(BUILDS)
    tools = ensure(["etcd"], console=QUIET, root=tmp_path / "cache")
    assert [path.name for path in tools.path("etcd").parent.iterdir()] == ["etcd"]


def test_a_failed_build_says_what_go_said(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(FAILS)
    with pytest.raises(ToolchainError, match="it does not compile"):
        ensure(["etcd"], console=QUIET, root=tmp_path / "cache")


def test_a_failed_build_is_tried_again_by_the_next_run(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(FAILS)
    with pytest.raises(ToolchainError):
        ensure(["etcd"], console=QUIET, root=tmp_path / "cache")
    put_go(BUILDS)
    assert ensure(["etcd"], console=QUIET, root=tmp_path / "cache").programs["etcd"].origin is Origin.MADE


def test_one_failed_family_does_not_hide_another(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(FAILS)
    with pytest.raises(ToolchainError) as caught:
        ensure(["etcd", "kube-scheduler"], console=QUIET, root=tmp_path / "cache")
    assert "etcd: go build failed" in str(caught.value)
    assert "kube-scheduler: go build failed" in str(caught.value)


def test_a_missing_go_names_the_programs_and_both_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"Install Go 1\.26\.\d+ or newer.*on PATH.*etcd"):
        ensure(["etcd"], console=QUIET, root=tmp_path / "cache")


def test_a_go_that_is_too_old_is_refused_with_its_version(put_go: Callable[[str], None], tmp_path: Path) -> None:
    put_go(TOO_OLD)
    with pytest.raises(ToolchainError, match=r"Go 1\.24\.1 is too old"):
        ensure(["etcd"], console=QUIET, root=tmp_path / "cache")


def test_an_unknown_program_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ToolchainError, match=r"Unknown program: etdc\. Known: pulumi, .*etcd"):
        select(["etdc"])


def test_programs_of_one_family_have_folders_of_their_own() -> None:
    tools = select(["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
    assert len({cache_key(tool) for tool in tools}) == len(tools)
