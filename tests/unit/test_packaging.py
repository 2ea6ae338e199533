"""What people install: a GPU job image never pulls Pulumi, and every pin says the same."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([A-Za-z0-9_.-]+)==(\S+)", line) for line in lines)
    return {match[1].lower().replace("-", "_"): match[2] for match in found if match}


def test_the_bare_package_needs_nothing() -> None:
    assert PROJECT["dependencies"] == []


def test_the_command_alone_does_not_need_pulumi() -> None:
    assert not [need for need in PROJECT["optional-dependencies"]["cli"] if "pulumi" in need]


def test_the_packages_pins_are_those_of_requirements_txt() -> None:
    pinned = pins("requirements.txt")
    exact = dict(need.split("==") for need in PROJECT["optional-dependencies"]["program"] if "==" in need)
    assert exact == {name: pinned[name.replace("-", "_")] for name in exact}


def test_every_line_of_requirements_txt_is_pinned() -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(pins("requirements.txt")) == len(lines)


def test_tests_do_not_change_what_users_run() -> None:
    assert not pins("requirements.txt").keys() & pins("requirements-dev.txt").keys()
