"""From the change of a stack file to the words of the pull request."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doks_gpu.ops.main import app

ROOT = Path(__file__).parents[2]
PARTS = ("Pulumi.yaml", "Pulumi.dev.yaml", "offline.py", "program.py")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another checkout: the program as it is, before a change of the stack file."""
    return checkout(tmp_path_factory.mktemp("before"))


def checkout(folder: Path) -> Path:
    for name in PARTS:
        shutil.copy2(ROOT / name, folder / name)
    for name in ("components", "doks_gpu"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def comment(before: Path, after: Path) -> tuple[int, str]:
    arguments = ["preview", "--project", str(after), "--compare", str(before), "--output", "markdown", "--offline"]
    run = CliRunner().invoke(app, arguments)
    return run.exit_code, run.stdout


def changed(folder: Path, old: str, new: str) -> Path:
    """A checkout whose stack file differs in one text."""
    checkout(folder)
    path = folder / "Pulumi.dev.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def test_no_change_is_said_to_be_none(before: Path, tmp_path: Path) -> None:
    assert "Nothing changes." in comment(before, checkout(tmp_path))[1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("usdPerHour: 60 ", "usdPerHour: 90 ", "Price cap ($/h) **raised**: 60 → 90."),
        ("{h200: 4}", "{h200: 6}", "GPU limit for h200 **raised**: 4 → 6."),
        (
            "gpu-mi300x1-192gb",
            "gpu-h100x1-80gb",
            "**Vendor changed**: tier `amd` of fleet `inference` goes from AMD to NVIDIA.",
        ),
        (
            "size: gpu-b300x1-288gb-spot, min: 1, max: 2",
            "size: gpu-b300x1-288gb-spot, min: 1, max: 1",
            "(maximum 2 → 1, which a Spot pool fixes at creation)",
        ),
        (
            "size: gpu-h200x1-141gb, min: 1, max: 2",
            "size: gpu-h200x1-141gb, min: 1, max: 1",
            "**Resized**: tier `fallback` of fleet `batch`, 1–2 → 1 nodes.",
        ),
        (
            "        - {name: fallback, size: gpu-h200x1-141gb, min: 1, max: 2}\n",
            "",
            "**Removed**: tier `fallback` of fleet `batch`",
        ),
        (
            "doks-gpu:region: atl1",
            "doks-gpu:region: tor1",
            "**Replaces the cluster and every pool** (region atl1 → tor1)",
        ),
        ("protect: false", "protect: true", "Protection against destroy and replacement: off → on."),
    ],
)
def test_a_change_is_said_in_words(before: Path, tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in comment(before, changed(tmp_path, old, new))[1]


def test_a_new_price_is_shown_before_and_after(before: Path, tmp_path: Path) -> None:
    after = changed(tmp_path, "gpu-h200x1-141gb, min: 1, max: 2", "gpu-h200x1-141gb, min: 1, max: 1")
    assert "At most: 46.00 → 41.53 $/h." in comment(before, after)[1]


def test_a_configuration_that_is_refused_says_so_with_exit_code_2(before: Path, tmp_path: Path) -> None:
    code, text = comment(before, changed(tmp_path, "max: 8}", "max: 0}"))
    assert code == 2, text
    assert "The configuration is refused" in text
