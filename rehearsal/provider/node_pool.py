"""`KubernetesNodePool`: a pool enters the state only after its nodes run."""

from typing import Any

from rehearsal.provider import diffing, wire
from rehearsal.provider.api import Api, Body
from rehearsal.provider.checking import Failure
from rehearsal.provider.diffing import Changes
from rehearsal.provider.errors import ApiError, GoneError, PartialUpdateError, ProviderError
from rehearsal.provider.marshal import Props
from rehearsal.provider.resources import DIGITALOCEAN, Found
from rehearsal.provider.schema import Fields
from rehearsal.provider.tables import NODE_POOL

_PER_PAGE = 200


class NodePool:
    token = f"{DIGITALOCEAN}/kubernetesNodePool:KubernetesNodePool"
    fields: Fields = NODE_POOL

    def __init__(self, api: Api) -> None:
        self._api = api

    def extra_failures(self, _inputs: Props) -> list[Failure]:
        return []

    def diff(self, state: Props, inputs: Props) -> Changes:
        found = diffing.changes(self.fields, state, inputs)
        return without_count_noise(found, "nodeCount", state, inputs)

    def planned(self, state: Props | None, inputs: Props) -> Props:
        return with_stored_count(diffing.planned(self.fields, state, inputs), state)

    def create(self, inputs: Props, limit: float) -> Found:
        cluster_id = inputs["clusterId"]
        try:
            answer = self._api.call(
                "POST",
                f"/v2/kubernetes/clusters/{cluster_id}/node_pools",
                wire.creation_body(inputs, inputs.get("tags", [])),
            )
        except ApiError as error:
            raise ProviderError(f"Error creating Kubernetes node pool: {error}") from error
        pool_id = str(answer["node_pool"]["id"])
        try:
            wait_until_running(self._api, cluster_id, pool_id, limit)
        except ProviderError as error:
            raise ProviderError(f"Error creating Kubernetes node pool: {error}") from error
        outputs = self.read(pool_id, inputs)
        if outputs is None:
            raise GoneError("the node pool was gone before it could be read")
        return Found(pool_id, outputs)

    def read(self, resource_id: str, state: Props) -> Props | None:
        if "clusterId" not in state:
            return self.import_(resource_id)
        pool = fetch_pool(self._api, state["clusterId"], resource_id)
        return None if pool is None else {**wire.pool_outputs(pool), "clusterId": state["clusterId"]}

    def import_(self, resource_id: str) -> Props | None:
        for cluster in clusters(self._api):
            if any(pool["id"] == resource_id for pool in cluster.get("node_pools") or []):
                return self.read(resource_id, {"clusterId": cluster["id"]})
        raise ProviderError(f"Did not find the cluster owning the node pool {resource_id}")

    def update(self, resource_id: str, state: Props, inputs: Props, limit: float) -> Props:
        cluster_id = state["clusterId"]
        count = inputs.get("nodeCount", state.get("nodeCount"))
        body = wire.update_body(inputs, inputs.get("tags", []), count)
        try:
            self._api.call("PUT", pool_path(cluster_id, resource_id), body)
        except ApiError as error:
            if error.status == 404:
                raise GoneError(f"node pool {resource_id}: {error}") from error
            raise PartialUpdateError(
                self.planned(state, inputs), f"Error updating Kubernetes node pool: {error}"
            ) from error
        try:
            wait_until_running(self._api, cluster_id, resource_id, limit)
        except ProviderError as error:
            raise PartialUpdateError(self.planned(state, inputs), str(error)) from error
        outputs = self.read(resource_id, state)
        if outputs is None:
            raise GoneError(f"node pool {resource_id} was gone after its update")
        return outputs

    def delete(self, resource_id: str, state: Props, limit: float) -> None:
        path = pool_path(state["clusterId"], resource_id)
        try:
            self._api.call("DELETE", path)
        except ApiError as error:
            raise ProviderError(f"Unable to delete node pool {error}") from error
        self._api.patience.until(lambda: self._api.exists(path) is None, "the node pool to be deleted", limit)


def pool_path(cluster_id: str, pool_id: str) -> str:
    return f"/v2/kubernetes/clusters/{cluster_id}/node_pools/{pool_id}"


def fetch_pool(api: Api, cluster_id: str, pool_id: str) -> Body | None:
    """The API's object, or None when it is gone. Raises ProviderError."""
    try:
        answer = api.exists(pool_path(cluster_id, pool_id))
    except ApiError as error:
        raise ProviderError(f"Error retrieving Kubernetes node pool: {error}") from error
    return None if answer is None else answer["node_pool"]


def clusters(api: Api) -> list[dict[str, Any]]:
    """Every cluster of the account, page by page."""
    found: list[dict[str, Any]] = []
    page = 1
    while True:
        answer = api.get("/v2/kubernetes/clusters", page=page, per_page=_PER_PAGE)
        batch = answer.get("kubernetes_clusters") or []
        found.extend(batch)
        if not batch or len(found) >= answer.get("meta", {}).get("total", 0):
            return found
        page += 1


def wait_until_running(api: Api, cluster_id: str, pool_id: str, limit: float) -> None:
    """Polls until the pool has all its nodes, running. A pool that vanishes meanwhile is an error."""

    def arrived() -> bool:
        try:
            answer = api.get(pool_path(cluster_id, pool_id))
        except ApiError as error:
            raise ProviderError(f"Error trying to read nodepool state: {error}") from error
        return wire.all_running(answer["node_pool"])

    api.patience.until(arrived, "all nodes of the node pool to run", limit)


def without_count_noise(found: Changes, path: str, state: Props, inputs: Props) -> Changes:
    """A count that the program leaves out, or that is the live one, is no change."""
    wanted = inputs.get("nodeCount")
    if wanted is None or wanted == state.get("actualNodeCount"):
        return {key: change for key, change in found.items() if key != path}
    return found


def with_stored_count(outputs: Props, state: Props | None) -> Props:
    """A count that the program leaves out stays the stored one."""
    if state is not None and "nodeCount" not in outputs and "nodeCount" in state:
        return {**outputs, "nodeCount": state["nodeCount"]}
    return outputs
