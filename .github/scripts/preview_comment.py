"""The pull-request comments of the preview: which stacks get one, what it holds, and how it is posted.

Standard library alone: it runs before anything is installed. `stacks` runs on the pull request's own code, without
permissions. `post` runs from the default branch, with a token; everything that it reads from the artifact was written
by code of the pull request and is treated as hostile: names are matched, text is made harmless, sizes are bounded.
Limits of GitHub's REST API, read 2026-12-01: a comment holds 65,536 characters, a page 100 comments.
"""

import argparse
import http.client
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BODY_LIMIT = 65_536
PAGE_SIZE = 100
MAX_STACKS = 50
MAX_BYTES = 4_000_000
"""Of one text in the artifact. A preview has a few thousand."""
AUTHOR = "github-actions[bot]"
"""Whose comments are ours to change: those of the workflow token."""
NUMBER_FILE = "pull-request.txt"

PROGRAM_FILES = frozenset({"Pulumi.yaml", "__main__.py", "program.py", "offline.py", "requirements.txt"})
PROGRAM_FOLDERS = ("components/", "doks_gpu/")

# What Pulumi allows in the name of a stack, without a dot or a dash at the front.
_STACK = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_STACK_FILE = re.compile(rf"Pulumi\.({_STACK})\.yaml")
_TEXT_FILE = re.compile(rf"comment-({_STACK})\.md")
_MARKER = re.compile(rf"<!-- doks-gpu preview ({_STACK}) -->")
_SHA = re.compile(r"[0-9a-f]{40}")

Api = Callable[[str, str, Mapping[str, Any] | None], Any]
"""Method, path below the API's root and body; returns the decoded answer. Raises `CommentError`."""


class CommentError(Exception):
    """The comment is not posted, and why."""


@dataclass(frozen=True, kw_only=True)
class Preview:
    """One run of the preview workflow, as the event that started us names it. All three are GitHub's own words."""

    repository: str
    head_sha: str
    run_url: str


def stacks_to_preview(changed: Collection[str], existing: Collection[str]) -> tuple[str, ...]:
    """Stacks whose file changed; all of them when the program changed. A removed stack file counts as changed."""
    named = {match[1] for path in changed if (match := _STACK_FILE.fullmatch(path))}
    if any(path in PROGRAM_FILES or path.startswith(PROGRAM_FOLDERS) for path in changed):
        named |= set(existing)
    return tuple(sorted(named))


def marker(stack: str) -> str:
    """The hidden first line by which the comment of a stack is found again."""
    return f"<!-- doks-gpu preview {stack} -->"


def body(stack: str, text: str, preview: Preview, limit: int = BODY_LIMIT) -> str:
    """The whole comment, at most `limit` characters: the head of the text is kept, and what is cut is said.

    Where it comes from stands first, so that no text can hide it.
    """
    head = (
        f"{marker(stack)}\n<sub>Made by this pull request's own code at {preview.head_sha[:7]} "
        f"([run]({preview.run_url})), without an account: prices and regions are the catalogue's.</sub>\n\n"
    )
    return head + shortened(harmless(text).strip(), limit - len(head) - 1) + "\n"


def harmless(text: str) -> str:
    """Mentions nobody, hides nothing and imitates no marker."""
    visible = text.replace("<!--", "&lt;!--").replace("\r", "").replace("\0", "")
    return re.sub(r"@(?=[A-Za-z0-9])", "@\u200b", visible)


def shortened(text: str, limit: int) -> str:
    """Cuts at the end of a line, closes what the cut left open, and says how much is missing."""
    if len(text) <= limit:
        return text
    longest_ending = len(_ending("```\n<details>", len(text)))
    kept = text[: max(limit - longest_ending, 0)]
    kept = kept.rpartition("\n")[0] or kept
    return kept + _ending(kept, len(text) - len(kept))


def _ending(kept: str, missing: int) -> str:
    fence = "\n```" if sum(line.startswith("```") for line in kept.splitlines()) % 2 else ""
    details = "\n\n</details>" if kept.count("<details>") > kept.count("</details>") else ""
    return f"{fence}{details}\n\n**Cut here:** {missing} more characters; the artifact of the run has them all."


def read_number(folder: Path) -> int:
    """The pull request that the artifact claims. Raises `CommentError` for anything but digits."""
    text = _read(folder / NUMBER_FILE).strip()
    if not re.fullmatch(r"[1-9][0-9]{0,9}", text, re.ASCII):
        raise CommentError(f"{NUMBER_FILE} holds no pull request's number: {text[:40]!r}")
    return int(text)


def read_texts(folder: Path) -> dict[str, str]:
    """Stack to text. Raises `CommentError` for a file of another name: the artifact is not what the workflow makes."""
    names = sorted(path.name for path in folder.iterdir() if path.name != NUMBER_FILE)
    if len(names) > MAX_STACKS:
        raise CommentError(f"The artifact has {len(names)} texts; at most {MAX_STACKS} are posted.")
    texts = {}
    for name in names:
        match = _TEXT_FILE.fullmatch(name)
        if match is None:
            raise CommentError(f"The artifact holds a file that the preview does not make: {name[:80]!r}")
        texts[match[1]] = _read(folder / name)
    return texts


def _read(path: Path) -> str:
    """A link could lead to the runner's own files, so only plain files count."""
    if path.is_symlink() or not path.is_file():
        raise CommentError(f"The artifact has no plain file {path.name}.")
    if path.stat().st_size > MAX_BYTES:
        raise CommentError(f"{path.name} has more than {MAX_BYTES} bytes.")
    return path.read_text(encoding="utf-8", errors="replace")


def check_pull_request(pull: Mapping[str, Any], number: int, preview: Preview) -> None:
    """The number comes from the pull request's own code; the commit does not. Raises `CommentError` if they differ."""
    if pull["base"]["repo"]["full_name"] != preview.repository:
        raise CommentError(f"Pull request {number} is not one of {preview.repository}.")
    if pull["head"]["sha"] != preview.head_sha:
        raise CommentError(
            f"Pull request {number} is at {pull['head']['sha']}, and this preview was made at {preview.head_sha}: "
            "either a newer push has a preview of its own, or the number is not this run's. Nothing was posted."
        )
    if pull["state"] != "open":
        raise CommentError(f"Pull request {number} is {pull['state']}. Nothing was posted.")


def our_comments(comments: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Stack to its sticky comment, the oldest if there are two. A person's comment with our marker is not ours."""
    found: dict[str, Mapping[str, Any]] = {}
    for comment in comments:
        first = (comment.get("body") or "").splitlines()[:1]
        match = _MARKER.fullmatch(first[0].strip()) if first else None
        if match and (comment.get("user") or {}).get("login") == AUTHOR:
            found.setdefault(match[1], comment)
    return found


def post(api: Api, folder: Path, preview: Preview) -> list[str]:
    """Writes one comment per stack, or changes the one that is there. Returns what it did, in words."""
    if not _SHA.fullmatch(preview.head_sha):
        raise CommentError(f"Not a commit: {preview.head_sha[:60]!r}")
    number, texts = read_number(folder), read_texts(folder)
    check_pull_request(api("GET", f"/repos/{preview.repository}/pulls/{number}", None), number, preview)
    there = our_comments(_all_comments(api, preview.repository, number))
    wanted = {stack: body(stack, text, preview) for stack, text in texts.items()}
    for stack in there.keys() - texts.keys():
        wanted[stack] = body(stack, f"This pull request no longer changes stack `{stack}`.", preview)
    done = []
    for stack, content in sorted(wanted.items()):
        if stack in there:
            path = f"/repos/{preview.repository}/issues/comments/{there[stack]['id']}"
            api("PATCH", path, {"body": content})
            done.append(f"{stack}: comment updated")
        else:
            api("POST", f"/repos/{preview.repository}/issues/{number}/comments", {"body": content})
            done.append(f"{stack}: comment written")
    return done


def _all_comments(api: Api, repository: str, number: int) -> list[Mapping[str, Any]]:
    comments: list[Mapping[str, Any]] = []
    while True:
        page = len(comments) // PAGE_SIZE + 1
        path = f"/repos/{repository}/issues/{number}/comments?per_page={PAGE_SIZE}&page={page}"
        answer = api("GET", path, None)
        comments += answer
        if len(answer) < PAGE_SIZE:
            return comments


def github(environment: Mapping[str, str]) -> Api:
    """The API of the GitHub that runs us, with the workflow's own token."""
    root, token = urlsplit(environment["GITHUB_API_URL"]), environment["GITHUB_TOKEN"]

    def call(method: str, path: str, content: Mapping[str, Any] | None) -> Any:
        connection = http.client.HTTPSConnection(root.netloc, timeout=30)
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "doks-gpu-preview-comment",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        try:
            connection.request(method, root.path + path, json.dumps(content) if content else None, headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", errors="replace")
        except OSError as error:
            raise CommentError(f"{method} {path} failed: {error}") from error
        finally:
            connection.close()
        if answer.status == http.client.NOT_FOUND:
            raise CommentError(f"{method} {path}: not found. Was the pull request or its comment deleted?")
        if answer.status >= http.client.BAD_REQUEST:
            raise CommentError(f"{method} {path} answered {answer.status}: {text[:300]}")
        return json.loads(text)

    return call


def main(arguments: list[str]) -> int:
    """`stacks` reads changed paths (NUL-separated) and prints stacks; `post FOLDER` posts what an artifact holds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("stacks")
    verbs.add_parser("post").add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    if options.verb == "stacks":
        existing = [match[1] for path in Path.cwd().iterdir() if (match := _STACK_FILE.fullmatch(path.name))]
        chosen = stacks_to_preview(sys.stdin.read().split("\0"), existing)
        sys.stdout.write("".join(f"{stack}\n" for stack in chosen))
        return 0
    preview = Preview(
        repository=os.environ["GITHUB_REPOSITORY"],
        head_sha=os.environ["HEAD_SHA"],
        run_url=os.environ["RUN_URL"],
    )
    try:
        done = post(github(os.environ), options.folder, preview)
    except CommentError as error:
        sys.stdout.write(f"::error::{' '.join(str(error).split())}\n")
        return 1
    sys.stdout.write("\n".join(done or ["No stack is changed, and no comment is there."]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
