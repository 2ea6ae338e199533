"""A canary for the token: it must appear nowhere that people or machines read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.graph.conftest import ROOT

CANARY = "dop_v1_" + "c0ffee" * 10


def preview(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "doks_gpu.ops.main", "preview", "--offline", *arguments],
        cwd=ROOT,
        env={**os.environ, "DIGITALOCEAN_TOKEN": CANARY, "DIGITALOCEAN_ACCESS_TOKEN": CANARY},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_token_of_the_environment_is_in_no_preview(tmp_path: Path) -> None:
    run = preview("--output", "json", "--manifests", str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert CANARY not in run.stdout + run.stderr


@pytest.mark.parametrize("end", ["\r", "\n", " ", "\u00e9"])
def test_a_token_that_no_header_takes_is_refused_without_repeating_it(end: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "doks_gpu.ops.main", "kube-token", "c1"],
        env={**os.environ, "DIGITALOCEAN_TOKEN": CANARY + end},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2, run.stderr
    assert CANARY not in run.stdout + run.stderr


def test_the_token_of_the_environment_is_in_no_manifest(tmp_path: Path) -> None:
    preview("--manifests", str(tmp_path))
    written = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert written
    assert not any(CANARY in text for text in written)


def test_a_token_in_the_stack_file_is_refused_without_repeating_it(tmp_path: Path) -> None:
    stack_file = tmp_path / "Pulumi.bad.yaml"
    text = (ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    stack_file.write_text(f"{text}\n  digitalocean:token: {CANARY}\n", encoding="utf-8")
    run = preview("--config-file", str(stack_file))
    assert run.returncode == 2
    assert "export DIGITALOCEAN_TOKEN" in run.stderr
    assert CANARY not in run.stdout + run.stderr


def test_what_the_cluster_stores_about_access_is_hidden_in_the_json() -> None:
    resources = json.loads(preview("--output", "json").stdout)["resources"]
    (provider,) = [row for row in resources if row["type"] == "pulumi:providers:kubernetes"]
    assert "token" not in json.loads(provider["inputs"]["kubeconfig"])["users"][0]["user"]
