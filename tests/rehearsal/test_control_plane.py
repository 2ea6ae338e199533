"""Real control planes: they come up, know their users, and leave nothing behind."""

import contextlib
import http.server
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from rehearsal.cluster import ControlPlane, ControlPlaneError, ControlPlanes
from rehearsal.cluster.control_plane import PROGRAMS
from rehearsal.cluster.starter_map import MANAGED_LABELS, NAME, STARTER_TEXT, create_starter_map
from rehearsal.digitalocean.backend import ClusterBackend
from rehearsal.toolchain import Toolchain, ensure

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(180)]

MAP = f"/api/v1/namespaces/kube-system/configmaps/{NAME}"
PROJECT = Path(__file__).parents[2]
NO_USERS = "http://127.0.0.1:9/"


class Users:
    """Answers TokenReviews, as the DigitalOcean stand-in does."""

    def __init__(self) -> None:
        self.tokens: set[str] = set()

    def review(self, review: Mapping[str, Any]) -> dict[str, Any]:
        known = review["spec"]["token"] in self.tokens
        user = {"username": "admin", "groups": ["system:masters"]} if known else {}
        status = {"authenticated": known, "user": user}
        return {"apiVersion": review["apiVersion"], "kind": "TokenReview", "status": status}


@contextlib.contextmanager
def served(users: Users) -> Iterator[str]:
    """The address at which the users are asked for."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = json.dumps(users.review(json.loads(body))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing on the test's output."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/admin/tokenreview"
    finally:
        server.shutdown()
        server.server_close()


def eventually(holds: Callable[[], bool], what: str, within: float = 30) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {within} s"
        time.sleep(0.1)


def runs(pid: int) -> bool:
    """Whether the process is there and not a corpse that nobody has fetched."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return ensure(PROGRAMS)


@pytest.fixture(scope="module")
def users() -> Users:
    return Users()


@pytest.fixture(scope="module")
def planes(toolchain: Toolchain, users: Users, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlanes]:
    """Two clusters, made at the same time by threads that end, as a web server's do."""
    with served(users) as address:
        planes = ControlPlanes(toolchain, tmp_path_factory.mktemp("clusters"), map_delay_seconds=0)
        planes.token_review_url = address
        backend: ClusterBackend = planes
        try:
            with ThreadPoolExecutor(2) as pool:
                made = [pool.submit(backend.create, name, name, "atl1", "1.36.3-do.0") for name in ("one", "two")]
                endpoints = [each.result() for each in made]
            assert endpoints[0].server == planes.plane("one").server
            yield planes
        finally:
            planes.stop()


@pytest.fixture
def api(planes: ControlPlanes) -> Iterator[httpx.Client]:
    with planes.plane("one").admin() as client:
        yield client


def as_user(plane: ControlPlane, token: str) -> int:
    """The API server's answer to a user with that token."""
    tls = ssl.create_default_context(cadata=plane.certificate_authority_pem)
    with httpx.Client(base_url=plane.server, verify=tls, trust_env=False) as client:
        answer = client.get("/api/v1/namespaces", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


def test_its_controllers_work(api: httpx.Client) -> None:
    api.post("/api/v1/namespaces", json={"metadata": {"name": "gpu"}}).raise_for_status()
    account = "/api/v1/namespaces/gpu/serviceaccounts/default"
    eventually(lambda: api.get(account).status_code == 200, "the namespace's service account")


def test_its_scheduler_says_why_a_pod_waits(api: httpx.Client) -> None:
    pods = "/api/v1/namespaces/default/pods"
    account = "/api/v1/namespaces/default/serviceaccounts/default"
    eventually(lambda: api.get(account).status_code == 200, "the default service account")
    pod = {
        "metadata": {"name": "waits"},
        "spec": {"containers": [{"name": "main", "image": "example.com/none:1"}]},
    }
    api.post(pods, json=pod).raise_for_status()

    def refused() -> bool:
        conditions = api.get(f"{pods}/waits").json()["status"].get("conditions", [])
        return any(condition.get("reason") == "Unschedulable" for condition in conditions)

    eventually(refused, "the scheduler's verdict")


def test_an_unknown_token_is_refused(planes: ControlPlanes) -> None:
    assert as_user(planes.plane("one"), "bogus") == 401


def test_a_known_token_is_let_in_until_it_expires(planes: ControlPlanes, users: Users) -> None:
    plane = planes.plane("one")
    users.tokens.add("good")
    assert as_user(plane, "good") == 200
    users.tokens.remove("good")
    eventually(lambda: as_user(plane, "good") == 401, "the token's end")


def test_clusters_share_nothing(planes: ControlPlanes) -> None:
    one, two = planes.plane("one"), planes.plane("two")
    with one.admin() as first, two.admin() as second:
        first.post("/api/v1/namespaces", json={"metadata": {"name": "only-here"}}).raise_for_status()
        assert second.get("/api/v1/namespaces/only-here").status_code == 404
    assert set(one.pids.values()).isdisjoint(two.pids.values())


def test_the_priority_expander_brings_the_starter_map_with_its_labels(planes: ControlPlanes) -> None:
    with planes.plane("two").admin() as api:
        planes.apply_autoscaler("two", ("random",))
        assert api.get(MAP).status_code == 404
        planes.apply_autoscaler("two", ("priority", "random"))
        eventually(lambda: api.get(MAP).status_code == 200, "the starter map")
        made = api.get(MAP).json()
    assert made["metadata"]["labels"] == MANAGED_LABELS
    assert made["data"] == {"priorities": STARTER_TEXT}


def test_a_map_that_is_there_is_left_as_it_is(api: httpx.Client) -> None:
    assert create_starter_map(api)
    patch = {"data": {"priorities": "100: [ours]"}}
    api.patch(MAP, json=patch, headers={"Content-Type": "application/merge-patch+json"}).raise_for_status()
    assert not create_starter_map(api)
    assert api.get(MAP).json()["data"] == patch["data"]


def test_deleting_a_cluster_ends_its_programs_and_keeps_its_logs(
    planes: ControlPlanes, toolchain: Toolchain, tmp_path: Path
) -> None:
    own = ControlPlanes(toolchain, tmp_path)
    own.token_review_url = NO_USERS
    own.create("three", "three", "atl1", "1.36")
    pids = own.plane("three").pids
    assert set(pids) == set(PROGRAMS)
    own.delete("three")
    assert not [name for name, pid in pids.items() if runs(pid)]
    assert {log.stem for log in (tmp_path / "three").glob("*.log")} == set(PROGRAMS)
    assert all(runs(pid) for pid in planes.plane("one").pids.values())


def test_a_cluster_that_is_being_made_can_be_deleted(toolchain: Toolchain, tmp_path: Path) -> None:
    own = ControlPlanes(toolchain, tmp_path)
    own.token_review_url = NO_USERS
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(own.create, "four", "four", "atl1", "1.36")
        eventually((tmp_path / "four" / "kube-apiserver.log").exists, "the API server's start")
        plane = own.plane("four")
        pids = plane.pids
        own.delete("four")
        with pytest.raises(ControlPlaneError):
            making.result()
    assert pids
    assert not [name for name, pid in pids.items() if runs(pid)]
    assert plane.pids == {}


def test_a_program_that_fails_is_named_and_nothing_stays(toolchain: Toolchain, tmp_path: Path) -> None:
    broken = replace(toolchain.programs["kube-apiserver"], path=Path(sys.executable))
    plane = ControlPlane(tmp_path / "plane", Toolchain({**toolchain.programs, "kube-apiserver": broken}), NO_USERS)
    with pytest.raises(ControlPlaneError, match=r"kube-apiserver ended before it was ready:\n.*option"):
        plane.start()
    assert plane.pids == {}


def test_nothing_survives_a_rehearsal_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys, time; from rehearsal.cluster import ControlPlane\n"
        "from rehearsal.cluster.control_plane import PROGRAMS; from rehearsal.toolchain import ensure\n"
        f"plane = ControlPlane(pathlib.Path(sys.argv[1]), ensure(PROGRAMS), {NO_USERS!r}); plane.start()\n"
        "print(*plane.pids.values(), flush=True); time.sleep(300)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "plane")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == len(PROGRAMS)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    eventually(lambda: not any(runs(pid) for pid in pids), "the end of every program", within=5)
