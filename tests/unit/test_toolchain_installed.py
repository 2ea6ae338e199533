"""Installed programs are taken where they suit, and only there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rehearsal.toolchain import installed

Put = Callable[[str, str], Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts a program that prints a text on an otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))

    def put(name: str, says: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return program

    return put


def test_an_etcd_that_kubernetes_accepts_is_taken(put: Put) -> None:
    program = put("etcd", "etcd Version: 3.6.4")
    assert installed.etcd() == installed.Installed(program, "3.6.4")


@pytest.mark.parametrize("says", ["etcd Version: 3.4.23", "no version at all"])
def test_an_etcd_that_is_too_old_or_silent_is_left_alone(put: Put, says: str) -> None:
    put("etcd", says)
    assert installed.etcd() is None


def test_an_engine_with_its_language_host_beside_it_is_taken_with_it(put: Put) -> None:
    put("pulumi", "v3.250.0")
    host = put("pulumi-language-python", "")
    engine, language = installed.pulumi(), installed.pulumi_python_host()
    assert engine is not None
    assert language == installed.Installed(host, "3.250.0")


def test_an_engine_without_a_language_host_is_left_alone(put: Put) -> None:
    put("pulumi", "v3.250.0")
    assert installed.pulumi() is None


def test_a_language_host_of_an_engine_that_is_too_old_is_left_alone(put: Put) -> None:
    put("pulumi", "v3.100.0")
    put("pulumi-language-python", "")
    assert installed.pulumi_python_host() is None


@pytest.mark.parametrize(("says", "taken"), [("Kubernetes v1.36.9", True), ("Kubernetes v1.35.3", False)])
def test_a_control_plane_is_taken_in_its_own_minor_version_only(put: Put, says: str, taken: bool) -> None:
    put("kube-apiserver", says)
    assert (installed.kubernetes("kube-apiserver") is not None) is taken


@pytest.mark.usefixtures("put")
def test_the_newest_fitting_plugin_of_the_users_engine_is_taken(tmp_path: Path) -> None:
    for version in ("4.9.0", "4.25.0", "4.34.2", "4.4.0"):
        folder = tmp_path / "pulumi" / "plugins" / f"resource-kubernetes-v{version}"
        folder.mkdir(parents=True)
        (folder / "pulumi-resource-kubernetes").touch()
    found = installed.kubernetes_provider()
    assert found is not None
    assert found.version == "4.34.2"


def test_what_an_earlier_run_made_is_not_called_installed(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("etcd", "etcd Version: 3.6.4")
    cache = tmp_path / "cache" / "doks-gpu"
    cache.parent.mkdir()
    (tmp_path / "bin").rename(cache)
    monkeypatch.setenv("PATH", str(cache))
    assert installed.etcd() is None
