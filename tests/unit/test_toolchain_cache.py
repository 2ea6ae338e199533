"""The cache: a key that sees every change, folders that are whole or absent, one builder at a time."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.toolchain import cache

FACTS = st.lists(st.text(max_size=5), max_size=4)


@given(FACTS, FACTS)
def test_two_lists_of_facts_share_a_key_only_when_they_are_the_same(first: list[str], second: list[str]) -> None:
    assert (cache.key("etcd", first) == cache.key("etcd", second)) == (first == second)


def test_a_changed_file_changes_the_key(tmp_path: Path) -> None:
    file = tmp_path / "go.sum"
    file.write_text("one")
    before = cache.key("etcd", [], [file])
    file.write_text("two")
    assert cache.key("etcd", [], [file]) != before


def test_a_folder_appears_only_when_its_making_ended_well(tmp_path: Path) -> None:
    target = tmp_path / "etcd-1"
    with cache.new_folder(target) as folder:
        (folder / "etcd").touch()
        assert not target.exists()
    assert (target / "etcd").exists()


def test_a_failed_making_leaves_nothing(tmp_path: Path) -> None:
    def make_and_fail() -> None:
        with cache.new_folder(tmp_path / "etcd-1") as folder:
            (folder / "etcd").touch()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        make_and_fail()
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    second = (
        "import sys, pathlib; from rehearsal.toolchain import cache\n"
        "print('waiting', flush=True)\n"
        "with cache.locked(pathlib.Path(sys.argv[1]), 'etcd'): print('has it', flush=True)"
    )
    with cache.locked(tmp_path, "etcd"):
        process = subprocess.Popen(
            [sys.executable, "-c", second, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
    assert process.communicate(timeout=10)[0] == "has it\n"


def test_the_cache_moves_with_the_users_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_root() == tmp_path / "doks-gpu"
