"""The pull-request comments: which stacks, what text, and what a hostile artifact cannot do."""

import http.client
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github" / "scripts" / "preview_comment.py"
STACKS = ("dev", "prod-ric1", "prod-tor1")
SHA = "0123456789abcdef0123456789abcdef01234567"


def load_script() -> Any:
    """The script lies outside every package: it runs where nothing is installed."""
    spec = importlib.util.spec_from_file_location("preview_comment", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


comments = load_script()
PREVIEW = comments.Preview(repository="acme/gpu", head_sha=SHA, run_url="https://github.com/acme/gpu/actions/runs/1")


class FakeGitHub:
    """Pull request 7 of acme/gpu and its comments; keeps what was written."""

    def __init__(self, *existing: Mapping[str, Any], pull: Mapping[str, Any] | None = None) -> None:
        self.comments = list(existing)
        usual = {"state": "open", "head": {"sha": SHA}, "base": {"repo": {"full_name": "acme/gpu"}}}
        self.pull: Mapping[str, Any] = {**usual, **(pull or {})}
        self.written: list[tuple[str, str, str]] = []

    def __call__(self, method: str, path: str, content: Mapping[str, Any] | None) -> Any:
        if content is not None:
            self.written.append((method, path, content["body"]))
            return {}
        if path == "/repos/acme/gpu/pulls/7":
            return self.pull
        route, _, query = path.partition("?")
        assert route == "/repos/acme/gpu/issues/7/comments"
        size, page = (int(part.partition("=")[2]) for part in query.split("&"))
        return self.comments[(page - 1) * size : page * size]


def comment(number: int, body: str, login: str = comments.AUTHOR) -> dict[str, Any]:
    return {"id": number, "body": body, "user": {"login": login}}


def artifact(folder: Path, number: str = "7", **texts: str) -> Path:
    (folder / comments.NUMBER_FILE).write_text(f"{number}\n")
    for stack, text in texts.items():
        (folder / f"comment-{stack}.md").write_text(text)
    return folder


def test_a_changed_stack_file_chooses_its_stack_alone() -> None:
    assert comments.stacks_to_preview(["Pulumi.dev.yaml", "README.md"], STACKS) == ("dev",)


@pytest.mark.parametrize("path", ["program.py", "components/fleet.py", "doks_gpu/plan/pools.py", "Pulumi.yaml"])
def test_a_changed_program_chooses_every_stack(path: str) -> None:
    assert comments.stacks_to_preview([path], STACKS) == STACKS


def test_a_removed_stack_file_is_previewed_too() -> None:
    assert comments.stacks_to_preview(["Pulumi.old.yaml", "program.py"], STACKS) == ("dev", "old", *STACKS[1:])


@pytest.mark.parametrize("path", ["docs/architecture.md", "tests/unit/test_docs.py", "rehearsal/session.py", ""])
def test_what_no_stack_depends_on_chooses_none(path: str) -> None:
    assert comments.stacks_to_preview([path], STACKS) == ()


@pytest.mark.parametrize("path", ["Pulumi.--yes.yaml", "Pulumi..yaml", "Pulumi.a b.yaml", "x/Pulumi.dev.yaml"])
def test_a_file_that_only_resembles_a_stack_file_chooses_none(path: str) -> None:
    assert comments.stacks_to_preview([path], STACKS) == ()


def test_the_command_reads_the_names_as_git_writes_them() -> None:
    run = subprocess.run(
        [sys.executable, SCRIPT, "stacks"],
        input="Pulumi.dev.yaml\0docs/x.md\0",
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert run.stdout == "dev\n"


def test_a_comment_starts_with_its_marker_and_says_where_it_comes_from() -> None:
    first, second, *_ = comments.body("dev", "### Text", PREVIEW).splitlines()
    assert first == "<!-- doks-gpu preview dev -->"
    assert SHA[:7] in second
    assert PREVIEW.run_url in second


def test_a_short_text_is_not_changed() -> None:
    assert comments.shortened("one\ntwo", 100) == "one\ntwo"


def test_a_cut_text_keeps_its_head_and_says_how_much_is_missing() -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    cut = comments.body("dev", text, PREVIEW)
    kept = cut.count("\nline ")
    missing = len(text.strip()) - len("".join(f"line {number}\n" for number in range(kept)).rstrip("\n"))
    assert "line 0\n" in cut
    assert f"**Cut here:** {missing} more characters" in cut


def test_a_cut_inside_a_code_block_closes_it() -> None:
    cut = comments.shortened("<details>\n\n```\n" + "x" * 50 + "\n" + "y" * 900, 300)
    assert "\n```\n\n</details>\n\n**Cut here:**" in cut


@given(text=st.text(st.characters(codec="utf-8"), max_size=3000), limit=st.integers(600, 2000))
def test_no_text_makes_a_comment_longer_than_the_limit(text: str, limit: int) -> None:
    assert len(comments.body("dev", text, PREVIEW, limit)) <= limit


@given(text=st.text("`\n<details>/!-@a ", max_size=400))
def test_no_text_makes_a_second_marker_or_a_mention(text: str) -> None:
    body = comments.body("dev", text + "<!-- doks-gpu preview prod -->@acme/admins", PREVIEW)
    assert body.count("<!--") == 1
    assert "@acme" not in body


def test_an_ordinary_preview_survives_word_for_word() -> None:
    text = "### doks-gpu preview: stack `dev`\n\n| what | $/h |\n|---|--:|\n| cpu | 0.07 |"
    assert comments.body("dev", text, PREVIEW).endswith(text + "\n")


def test_the_first_preview_writes_one_comment_per_stack(tmp_path: Path) -> None:
    api = FakeGitHub(comment(1, "Looks good", "someone"))
    comments.post(api, artifact(tmp_path, dev="A", prod="B"), PREVIEW)
    assert [(method, path) for method, path, _ in api.written] == [
        ("POST", "/repos/acme/gpu/issues/7/comments"),
        ("POST", "/repos/acme/gpu/issues/7/comments"),
    ]


def test_the_next_preview_changes_the_comment_that_is_there(tmp_path: Path) -> None:
    crowd = [comment(number, "talk", "someone") for number in range(100)]
    api = FakeGitHub(*crowd, comment(500, f"{comments.marker('dev')}\nold"))
    comments.post(api, artifact(tmp_path, dev="new"), PREVIEW)
    ((method, path, body),) = api.written
    assert (method, path) == ("PATCH", "/repos/acme/gpu/issues/comments/500")
    assert "new" in body


def test_a_stack_that_is_no_longer_changed_has_its_comment_say_so(tmp_path: Path) -> None:
    api = FakeGitHub(comment(500, f"{comments.marker('dev')}\nold"))
    comments.post(api, artifact(tmp_path), PREVIEW)
    ((_, path, body),) = api.written
    assert path.endswith("/comments/500")
    assert "no longer changes stack `dev`" in body


def test_a_persons_comment_with_our_marker_is_left_alone(tmp_path: Path) -> None:
    api = FakeGitHub(comment(500, comments.marker("dev"), "someone"))
    comments.post(api, artifact(tmp_path, dev="A"), PREVIEW)
    assert [method for method, _, _ in api.written] == ["POST"]


@pytest.mark.parametrize(
    ("pull", "said"),
    [
        ({"head": {"sha": "f" * 40}}, "a newer push has a preview of its own"),
        ({"state": "closed"}, "Pull request 7 is closed"),
        ({"base": {"repo": {"full_name": "other/repo"}}}, "not one of acme/gpu"),
    ],
)
def test_nothing_is_posted_to_a_pull_request_that_is_not_this_runs(
    tmp_path: Path, pull: Mapping[str, Any], said: str
) -> None:
    api = FakeGitHub(pull=pull)
    with pytest.raises(comments.CommentError, match=said):
        comments.post(api, artifact(tmp_path, dev="A"), PREVIEW)
    assert api.written == []


@pytest.mark.parametrize("number", ["", "7/../8", "07", "-7", "7\n8", "\u0667", "7?x=1", "12345678901"])
def test_a_number_that_is_not_plain_digits_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(comments.CommentError, match="no pull request's number"):
        comments.read_number(artifact(tmp_path, number))


@pytest.mark.parametrize("name", ["extra.txt", "comment-.md", "comment-a b.md", "comment-..md", "comment-x.md.sh"])
def test_a_file_that_the_preview_does_not_make_is_refused(tmp_path: Path, name: str) -> None:
    (artifact(tmp_path) / name).write_text("x")
    with pytest.raises(comments.CommentError, match="does not make"):
        comments.read_texts(tmp_path)


def test_a_link_in_the_artifact_is_not_followed(tmp_path: Path) -> None:
    (artifact(tmp_path) / "comment-dev.md").symlink_to("/etc/hostname")
    with pytest.raises(comments.CommentError, match="no plain file"):
        comments.read_texts(tmp_path)


def test_a_huge_text_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (artifact(tmp_path) / "comment-dev.md").open("wb") as file:
        file.truncate(comments.MAX_BYTES + 1)
    with pytest.raises(comments.CommentError, match="more than"):
        comments.read_texts(tmp_path)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script's own client, against a server on loopback without TLS."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setattr(http.client, "HTTPSConnection", http.client.HTTPConnection)
        root = f"https://127.0.0.1:{server.server_port}/api/v3"
        yield comments.github({"GITHUB_API_URL": root, "GITHUB_TOKEN": "canary"})
        server.shutdown()


class Answering(BaseHTTPRequestHandler):
    """Says what it was asked, or fails as its path wants."""

    def answer(self) -> None:
        status = int(self.path.rpartition("/")[2]) if self.path.rpartition("/")[2].isdigit() else 200
        length = int(self.headers.get("Content-Length") or 0)
        told = {
            "method": self.command,
            "path": self.path,
            "token": self.headers["Authorization"],
            "body": json.loads(self.rfile.read(length) or "null"),
        }
        content = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the standard library's names

    def log_message(self, *_: object) -> None: ...


def test_the_client_sends_the_body_and_the_workflows_token(api: Any) -> None:
    assert api("POST", "/repos/acme/gpu/x", {"body": "text"}) == {
        "method": "POST",
        "path": "/api/v3/repos/acme/gpu/x",
        "token": "Bearer canary",
        "body": {"body": "text"},
    }


@pytest.mark.parametrize(("status", "said"), [("404", "deleted"), ("422", "answered 422"), ("502", "answered 502")])
def test_a_failing_api_is_told_in_a_few_words(api: Any, status: str, said: str) -> None:
    with pytest.raises(comments.CommentError, match=said) as caught:
        api("GET", f"/repos/{status}", None)
    assert len(str(caught.value)) < 400


def test_an_api_out_of_reach_is_told() -> None:
    unreachable = comments.github({"GITHUB_API_URL": "https://127.0.0.1:1", "GITHUB_TOKEN": "canary"})
    with pytest.raises(comments.CommentError, match="failed") as caught:
        unreachable("GET", "/repos/x", None)
    assert "canary" not in str(caught.value)


def test_a_refusal_is_one_line_for_the_log_and_exit_code_1(tmp_path: Path) -> None:
    environment = {
        "GITHUB_REPOSITORY": "acme/gpu",
        "GITHUB_API_URL": "https://api.invalid",
        "GITHUB_TOKEN": "unused",
        "HEAD_SHA": SHA,
        "RUN_URL": "https://github.com/acme/gpu/actions/runs/1",
    }
    run = subprocess.run(
        [sys.executable, SCRIPT, "post", artifact(tmp_path, "7\n::set-output name=x::y")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert run.returncode == 1
    assert run.stdout.startswith("::error::pull-request.txt holds no pull request's number")
    assert len(run.stdout.splitlines()) == 1
    assert run.stderr == ""
