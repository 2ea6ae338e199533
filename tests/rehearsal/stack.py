"""One stack of a rehearsal, in the words of the tests."""

import json
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx
import yaml

from rehearsal.session import Rehearsal

MAP = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-priority-expander"


class Stack:
    """Deploys, previews and looks; asserts nothing by itself."""

    def __init__(self, rehearsal: Rehearsal, name: str = "dev") -> None:
        self.rehearsal, self.name = rehearsal, name
        self.printed = ""
        """Everything that `up` and `destroy` printed."""
        rehearsal.init_stack(name)
        self.api = httpx.Client(
            base_url=rehearsal.stand_in.url, headers={"Authorization": f"Bearer {rehearsal.token}"}, timeout=30
        )

    def up(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._deploy("up", *arguments)

    def destroy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._deploy("destroy", *arguments)

    def _deploy(self, verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        run = self.rehearsal.doks_gpu(verb, "--stack", self.name, "--yes", "--skip-preview", *arguments)
        self.printed += run.stdout + run.stderr
        return run

    def orphans(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.rehearsal.doks_gpu("orphans", "--stack", self.name, *arguments)

    def plan(self) -> dict[str, str]:
        """What the engine would do: resource name to operation, without those that stay the same."""
        run = self.rehearsal.pulumi("preview", "--stack", self.name, "--json")
        steps = json.loads(run.stdout)["steps"]
        return {step["urn"].rsplit("::", 1)[-1]: step["op"] for step in steps if step["op"] not in ("same", "refresh")}

    def edit(self, changes: Mapping[str, Any]) -> None:
        self.rehearsal.edit(self.name, changes)

    def clusters(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.api.get("/v2/kubernetes/clusters").json()["kubernetes_clusters"]
        return rows

    def pools(self) -> dict[str, dict[str, Any]]:
        """GPU pools that live, by their name in the program."""
        return {
            pool["name"].rsplit("-", 1)[0]: pool
            for cluster in self.clusters()
            for pool in cluster["node_pools"]
            if pool["size"].startswith("gpu-")
        }

    def pool_path(self, name: str) -> str:
        (cluster,) = [c for c in self.clusters() if any(p["id"] == self.pools()[name]["id"] for p in c["node_pools"])]
        return f"/v2/kubernetes/clusters/{cluster['id']}/node_pools/{self.pools()[name]['id']}"

    def scale(self, name: str, count: int) -> None:
        """As the autoscaler does it: a PUT with the count alone."""
        self.api.put(self.pool_path(name), json={"count": count}).raise_for_status()

    def settings(self, **changes: Any) -> None:
        """Changes the stand-in's settings."""
        self.api.patch("/admin/settings", json=changes).raise_for_status()

    def reclaim(self, name: str, **how: Any) -> None:
        """DigitalOcean takes a whole Spot pool back."""
        self.api.post("/admin/reclaims", json={"pool": self.pools()[name]["id"], **how}).raise_for_status()

    def settle(self) -> None:
        """Lets nodes that boot come up: the stand-in's clock goes on by a minute."""
        self.api.post("/admin/clock/advance", json={"seconds": 60}).raise_for_status()

    def wait_until_running(self, cluster_id: str) -> None:
        """Until a cluster's control plane and its starter map are there: seconds of real time."""

        def there() -> bool:
            row = self.api.get(f"/v2/kubernetes/clusters/{cluster_id}").json()["kubernetes_cluster"]
            if row["status"]["state"] != "running":
                return False
            with self.rehearsal.planes.plane(cluster_id).admin() as kubernetes:
                return kubernetes.get(MAP).status_code == 200

        deadline = time.monotonic() + 60
        while not there():
            if time.monotonic() > deadline:
                raise TimeoutError(f"cluster {cluster_id} is not ready after 60 s")
            threading.Event().wait(0.1)

    def kubernetes_credentials(self) -> str:
        """What the state holds of the cluster's credentials: encrypted, so equal texts alone mean equal values."""
        run = self.rehearsal.pulumi("stack", "export", "--stack", self.name, "--show-secrets")
        rows = json.loads(run.stdout)["deployment"]["resources"]
        (cluster,) = [row for row in rows if row["type"].endswith(":KubernetesCluster")]
        return json.dumps(cluster["outputs"]["kubeConfigs"], sort_keys=True)

    def cluster_tokens(self) -> list[str]:
        """Every Kubernetes token that the stand-in gave out."""
        return list(self.rehearsal.stand_in.cloud.world.tokens)

    def priority_map(self) -> dict[str, Any]:
        """The map as the real API server holds it."""
        with self.rehearsal.planes.plane(self.clusters()[0]["id"]).admin() as kubernetes:
            answer = kubernetes.get(MAP)
            answer.raise_for_status()
            found: dict[str, Any] = answer.json()
            return found

    def priorities(self) -> dict[Any, Any]:
        """The map's text as the autoscaler parses it."""
        parsed: dict[Any, Any] = yaml.safe_load(self.priority_map()["data"]["priorities"])
        return parsed

    def expected_priorities(self) -> dict[int, list[str]]:
        """What the text must say for the dev stack's pools as they live now."""
        levels = {"batch-spot": 100, "inference-amd": 100, "batch-fallback": 50}
        expected: dict[int, list[str]] = {1: [".*"]}
        for name, pool in self.pools().items():
            expected.setdefault(levels[name], []).append(f"^{pool['id']}$")
        return {level: sorted(patterns) for level, patterns in expected.items()}

    def state(self) -> dict[str, dict[str, Any]]:
        """The engine's state: resource name to its row."""
        run = self.rehearsal.pulumi("stack", "export", "--stack", self.name)
        rows = json.loads(run.stdout)["deployment"].get("resources", [])
        return {row["urn"].rsplit("::", 1)[-1]: row for row in rows}
