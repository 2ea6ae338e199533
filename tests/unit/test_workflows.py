"""The GitHub workflows: what runs with which rights, and what the preview leaves behind for the comment."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yaml"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

DOKS_GPU = """#!/bin/sh
stack=$3
case "$stack" in
  refused) echo "### refused text"; exit 2 ;;
  broken) echo "half a text"; echo "Error: crashed" >&2; exit 1 ;;
  silent) exit 2 ;;
  *) echo "### text of $stack against $(cat "$6/Pulumi.$stack.yaml")" ;;
esac
"""


def workflow(name: str) -> dict[str, Any]:
    """YAML 1.1 reads the key `on` as true; here it is `on` again."""
    loaded = yaml.safe_load((FOLDER / name).read_text())
    return {"on" if key is True else key: value for key, value in loaded.items()}


def steps(name: str) -> Iterator[dict[str, Any]]:
    for job in workflow(name)["jobs"].values():
        yield from job["steps"]


def writing_permissions(granted: dict[str, str]) -> set[str]:
    return {scope for scope, right in granted.items() if right == "write"}


def test_the_four_workflows_are_there() -> None:
    assert [path.name for path in WORKFLOWS] == [
        "ci.yaml",
        "engine-preview.yaml",
        "preview-comment.yaml",
        "preview.yaml",
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit_and_says_its_version(path: Path) -> None:
    loose = [line.strip() for line in path.read_text().splitlines() if "uses:" in line and not PINNED.search(line)]
    assert loose == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_permission_that_a_job_does_not_ask_for(path: Path) -> None:
    assert workflow(path.name)["permissions"] == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_shell_line_has_an_expression_in_it(path: Path) -> None:
    filled = [step["run"] for step in steps(path.name) if "${{" in step.get("run", "")]
    assert filled == [], "a branch name or a title could run as code: hand it over in `env`"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_checkout_leaves_its_token_behind(path: Path) -> None:
    checkouts = [step for step in steps(path.name) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_preview_of_forks_has_neither_permissions_nor_secrets() -> None:
    jobs = workflow("preview.yaml")["jobs"].values()
    assert [job.get("permissions") for job in jobs] == [None]
    text = (FOLDER / "preview.yaml").read_text()
    assert "secrets." not in text
    assert "github.token" not in text


def test_nobody_elses_code_runs_with_the_base_repositorys_rights() -> None:
    triggers = [event for path in WORKFLOWS for event in workflow(path.name)["on"]]
    assert "pull_request_target" not in triggers


def test_secrets_are_used_by_the_engine_preview_alone() -> None:
    using = [path.name for path in WORKFLOWS if "secrets." in path.read_text()]
    assert using == ["engine-preview.yaml"]


def test_the_engine_preview_is_for_this_repositorys_branches_in_a_protected_environment() -> None:
    (job,) = workflow("engine-preview.yaml")["jobs"].values()
    assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
    assert job["environment"] == "preview"
    assert writing_permissions(job["permissions"]) == set()


def test_the_comment_job_alone_may_write_and_only_comments() -> None:
    granted = {
        path.name: writing_permissions(job.get("permissions", {}))
        for path in WORKFLOWS
        for job in workflow(path.name)["jobs"].values()
    }
    assert {name: rights for name, rights in granted.items() if rights} == {"preview-comment.yaml": {"pull-requests"}}


def test_the_comment_workflow_checks_out_the_default_branch_only() -> None:
    (checkout,) = (s for s in steps("preview-comment.yaml") if s.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"] == {"sparse-checkout": ".github/scripts", "persist-credentials": False}


def test_the_comment_workflow_runs_its_own_script_and_nothing_else() -> None:
    commands = [step["run"] for step in steps("preview-comment.yaml") if "run" in step]
    assert commands == ['python3 .github/scripts/preview_comment.py post "$RUNNER_TEMP/comments"']


def test_the_comment_workflow_follows_the_preview_also_when_it_refused() -> None:
    comment = workflow("preview-comment.yaml")
    assert comment["on"]["workflow_run"]["workflows"] == [workflow("preview.yaml")["name"]]
    (job,) = comment["jobs"].values()
    assert '["success", "failure"]' in job["if"]


def test_the_artifact_has_one_name_on_both_sides() -> None:
    (upload,) = (s for s in steps("preview.yaml") if s.get("uses", "").startswith("actions/upload-artifact@"))
    (download,) = (s for s in steps("preview-comment.yaml") if "download-artifact@" in s.get("uses", ""))
    assert upload["with"]["name"] == download["with"]["name"]
    assert upload["with"]["path"] == download["with"]["path"]


def test_the_engine_preview_installs_the_engine_that_the_rehearsal_knows() -> None:
    from rehearsal.toolchain.versions import PULUMI

    (install,) = (s for s in steps("engine-preview.yaml") if s.get("uses", "").startswith("pulumi/actions@"))
    assert install["with"] == {"pulumi-version": PULUMI}


@pytest.fixture
def pull_request(tmp_path: Path) -> Path:
    """A checkout as the preview workflow has it: a merge whose first parent is the base; the tools are stand-ins."""
    root = tmp_path / "checkout"
    script = root / ".github" / "scripts" / "preview_comment.py"
    script.parent.mkdir(parents=True)
    script.write_text((ROOT / ".github" / "scripts" / "preview_comment.py").read_text())
    (root / ".gitignore").write_text(".venv/\n")
    (root / "Makefile").write_text(".venv/runtime:\n\t@true\n")
    for stack in ("good", "refused", "broken", "silent", "same"):
        (root / f"Pulumi.{stack}.yaml").write_text("before\n")
    git(root, "init", "--quiet")
    commit(root)
    for stack in ("good", "refused", "broken", "silent"):
        (root / f"Pulumi.{stack}.yaml").write_text("after\n")
    commit(root)
    command = root / ".venv" / "bin" / "doks-gpu"
    command.parent.mkdir(parents=True)
    command.write_text(DOKS_GPU)
    command.chmod(0o755)
    return root


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "x")


def run_preview_steps(root: Path) -> list[subprocess.CompletedProcess[str]]:
    """The workflow's own shell lines, run the way GitHub runs `shell: bash`."""
    runner = root.parent / "runner"
    runner.mkdir()
    environment = os.environ | {
        "RUNNER_TEMP": str(runner),
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "NUMBER": "7",
    }
    return [
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        for step in steps("preview.yaml")
        if "run" in step
    ]


def test_the_preview_writes_a_text_for_every_changed_stack_whatever_became_of_it(pull_request: Path) -> None:
    choose, write = run_preview_steps(pull_request)
    texts = {p.name: p.read_text() for p in (pull_request.parent / "runner" / "comments").iterdir()}
    assert choose.returncode == 0, choose.stderr
    assert write.returncode == 1, "a refused or broken preview makes the check red"
    failed = "**The preview itself failed**"
    assert texts.pop("pull-request.txt") == "7\n"
    assert texts.pop("comment-good.md") == "### text of good against before\n"
    assert texts.pop("comment-refused.md") == "### refused text\n"
    assert failed in texts.pop("comment-broken.md")
    assert failed in texts.pop("comment-silent.md")
    assert texts == {}, "unchanged stacks have none"


def test_a_change_that_concerns_no_stack_previews_nothing(pull_request: Path) -> None:
    (pull_request / "README.md").write_text("x")
    commit(pull_request)
    choose, write = run_preview_steps(pull_request)
    assert (choose.returncode, write.returncode) == (0, 0)
    assert [p.name for p in (pull_request.parent / "runner" / "comments").iterdir()] == ["pull-request.txt"]
