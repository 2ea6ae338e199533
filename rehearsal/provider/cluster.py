"""`KubernetesCluster`: made with its default pool, forgotten when that fails, deleted without a wait."""

import re

from rehearsal.provider import cluster_wire, diffing, kubeconfig, node_pool
from rehearsal.provider.api import Api, Body
from rehearsal.provider.checking import Failure
from rehearsal.provider.diffing import Change, Changes, Edit
from rehearsal.provider.errors import ApiError, GoneError, PartialUpdateError, ProviderError
from rehearsal.provider.marshal import Props, Secret
from rehearsal.provider.resources import DIGITALOCEAN, Found
from rehearsal.provider.schema import Fields
from rehearsal.provider.tables import CLUSTER, EXCLUSIVE
from rehearsal.provider.wire import DEFAULT_POOL_TAG

_CLUSTERS = "/v2/kubernetes/clusters"
_KEPT_FROM_BEFORE = frozenset({"destroyAllAssociatedResources", "kubeconfigExpireSeconds"})
_NOT_IN_THE_PUT = frozenset({"nodePool", "version", "registryIntegration"}) | _KEPT_FROM_BEFORE


class Cluster:
    token = f"{DIGITALOCEAN}/kubernetesCluster:KubernetesCluster"
    fields: Fields = CLUSTER

    def __init__(self, api: Api) -> None:
        self._api = api

    def extra_failures(self, inputs: Props) -> list[Failure]:
        return [
            Failure(one, f"conflicts with {other}: only one of them can be set")
            for one, other in EXCLUSIVE
            if one in inputs and other in inputs
        ]

    def diff(self, state: Props, inputs: Props) -> Changes:
        """With the stray `nodePool.labels` that is planned next to any other change, and sends nothing."""
        found = self._changes(state, inputs)
        if found and "labels" not in _pool(inputs) and "nodePool.labels" not in found:
            found["nodePool.labels"] = Change(Edit.ADD)
        return found

    def _changes(self, state: Props, inputs: Props) -> Changes:
        found = diffing.changes(self.fields, state, _lower_region(inputs))
        found = node_pool.without_count_noise(found, "nodePool.nodeCount", _pool(state), _pool(inputs))
        if "version" in found and _is_lower(inputs["version"], state["version"]):
            found["version"] = diffing.replacing(found["version"])
        return found

    def planned(self, state: Props | None, inputs: Props) -> Props:
        outputs = diffing.planned(self.fields, state, _lower_region(inputs))
        if state is not None and isinstance(outputs.get("nodePool"), dict):
            outputs["nodePool"] = node_pool.with_stored_count(outputs["nodePool"], state.get("nodePool"))
        return _with_secrets(outputs)

    def create(self, inputs: Props, limit: float) -> Found:
        try:
            answer = self._api.call("POST", _CLUSTERS, cluster_wire.creation_body(inputs))
            cluster_id = str(answer["kubernetes_cluster"]["id"])
            self._wait_until_running(cluster_id, limit)
        except ProviderError as error:
            raise ProviderError(f"Error creating Kubernetes cluster: {error}") from error
        if inputs.get("registryIntegration"):
            self._set_registry(cluster_id, enabled=True)
        outputs = self.read(cluster_id, inputs)
        if outputs is None:
            raise GoneError("the cluster was gone before it could be read")
        return Found(cluster_id, outputs)

    def read(self, resource_id: str, state: Props) -> Props | None:
        cluster = self._fetch(resource_id)
        return None if cluster is None else self._outputs(cluster, state)

    def import_(self, resource_id: str) -> Props | None:
        cluster = self._fetch(resource_id)
        if cluster is None:
            return None
        if cluster_wire.default_pool(cluster) is None:
            self._adopt_default_pool(cluster)
        return self.read(resource_id, {})

    def update(self, resource_id: str, state: Props, inputs: Props, limit: float) -> Props:
        changed = diffing.top_level(self._changes(state, inputs))
        try:
            self._send_update(resource_id, state, inputs, changed, limit)
        except GoneError:
            raise
        except ProviderError as error:
            raise PartialUpdateError(self.planned(state, inputs), str(error)) from error
        outputs = self.read(resource_id, {"kubeConfigs": state.get("kubeConfigs", []), **_kept(inputs)})
        if outputs is None:
            raise GoneError(f"cluster {resource_id} was gone after its update")
        return outputs

    def delete(self, resource_id: str, state: Props, _limit: float) -> None:
        path = f"{_CLUSTERS}/{resource_id}"
        try:
            if state.get("destroyAllAssociatedResources"):
                self._api.get(f"{path}/destroy_with_associated_resources")
                self._api.call("DELETE", f"{path}/destroy_with_associated_resources/dangerous")
            else:
                self._api.call("DELETE", path)
        except ApiError as error:
            if error.status != 404:
                raise ProviderError(f"Unable to delete cluster: {error}") from error

    def _fetch(self, cluster_id: str) -> Body | None:
        try:
            answer = self._api.exists(f"{_CLUSTERS}/{cluster_id}")
        except ApiError as error:
            raise ProviderError(f"Error retrieving Kubernetes cluster: {error}") from error
        return None if answer is None else answer["kubernetes_cluster"]

    def _wait_until_running(self, cluster_id: str, limit: float) -> None:
        def arrived() -> bool:
            try:
                status = self._api.get(f"{_CLUSTERS}/{cluster_id}")["kubernetes_cluster"]["status"]
            except ApiError as error:
                raise ProviderError(f"Error trying to read cluster state: {error}") from error
            if status["state"] == "error":
                raise ProviderError(str(status.get("message", "")))
            return bool(status["state"] == "running")

        self._api.patience.until(arrived, "the cluster to run", limit)

    def _outputs(self, cluster: Body, state: Props) -> Props:
        pool = cluster_wire.default_pool(cluster)
        if pool is None:
            raise ProviderError(f"cluster {cluster['id']} has no node pool tagged {DEFAULT_POOL_TAG}")
        outputs = {**cluster_wire.cluster_outputs(cluster, pool), **_kept(state)}
        stored = state.get("kubeConfigs", [])
        if not kubeconfig.still_valid(stored, self._api.patience.clock.now()):
            stored = [self._credentials(cluster, state.get("kubeconfigExpireSeconds", 0))]
        return _with_secrets({**outputs, "kubeConfigs": stored})

    def _credentials(self, cluster: Body, expiry: int) -> Props:
        path = f"{_CLUSTERS}/{cluster['id']}/credentials"
        try:
            credentials = self._api.get(path, expiry_seconds=expiry)
        except ApiError as error:
            raise ProviderError(f"Unable to fetch Kubernetes credentials: {error}") from error
        return kubeconfig.outputs(cluster["name"], cluster["region"], credentials)

    def _send_update(self, cluster_id: str, state: Props, inputs: Props, changed: frozenset[str], limit: float) -> None:
        path = f"{_CLUSTERS}/{cluster_id}"
        if changed - _NOT_IN_THE_PUT:
            self._put(path, cluster_wire.update_body(state, _lower_region(inputs)))
        if "nodePool" in changed:
            self._update_default_pool(cluster_id, state["nodePool"]["id"], inputs["nodePool"], limit)
        if "version" in changed:
            try:
                self._api.call("POST", f"{path}/upgrade", {"version": inputs["version"]})
            except ApiError as error:
                raise ProviderError(f"Unable to upgrade cluster version: {error}") from error
        if "registryIntegration" in changed:
            self._set_registry(cluster_id, enabled=inputs.get("registryIntegration", False))

    def _put(self, path: str, body: Body) -> None:
        try:
            self._api.call("PUT", path, body)
        except ApiError as error:
            if error.status == 404:
                raise GoneError(f"cluster: {error}") from error
            raise ProviderError(f"Unable to update cluster: {error}") from error

    def _update_default_pool(self, cluster_id: str, pool_id: str, pool: Props, limit: float) -> None:
        try:
            self._api.call("PUT", node_pool.pool_path(cluster_id, pool_id), cluster_wire.default_pool_update(pool))
        except ApiError as error:
            raise ProviderError(f"Unable to update default node pool: {error}") from error
        node_pool.wait_until_running(self._api, cluster_id, pool_id, limit)

    def _set_registry(self, cluster_id: str, *, enabled: bool) -> None:
        try:
            self._api.call("POST" if enabled else "DELETE", "/v2/kubernetes/registry", {"cluster_uuids": [cluster_id]})
        except ApiError as error:
            raise ProviderError(f"Unable to change the registry integration: {error}") from error

    def _adopt_default_pool(self, cluster: Body) -> None:
        pools = cluster.get("node_pools") or []
        if len(pools) != 1:
            raise ProviderError(
                f"cannot import cluster {cluster['id']}: tag exactly one of its {len(pools)} node pools "
                f"with {DEFAULT_POOL_TAG}"
            )
        pool = pools[0]
        tags = [*(pool.get("tags") or []), DEFAULT_POOL_TAG]
        self._api.call("PUT", node_pool.pool_path(cluster["id"], pool["id"]), {"name": pool["name"], "tags": tags})


def _pool(props: Props) -> Props:
    """The inline pool, empty where it is not known yet."""
    pool = props.get("nodePool")
    return pool if isinstance(pool, dict) else {}


def _with_secrets(outputs: Props) -> Props:
    configs = outputs.get("kubeConfigs")
    return outputs if configs is None else {**outputs, "kubeConfigs": Secret(configs)}


def _kept(props: Props) -> Props:
    """What no API answer tells: it stays as the program gave it."""
    return {key: props[key] for key in _KEPT_FROM_BEFORE if key in props}


def _lower_region(inputs: Props) -> Props:
    region = inputs.get("region")
    return {**inputs, "region": region.lower()} if isinstance(region, str) else inputs


def _is_lower(wanted: object, stored: object) -> bool:
    return isinstance(wanted, str) and isinstance(stored, str) and _precedence(wanted) < _precedence(stored)


def _precedence(version: str) -> tuple[tuple[int, ...], tuple[tuple[int, int, str], ...]]:
    """Order of versions such as `1.36.3-do.0`, as semantic versioning has it for what follows the dash."""
    core, _, suffix = version.removeprefix("v").partition("-")
    numbers = tuple(int(part) for part in re.findall(r"\d+", core))
    parts = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in suffix.split(".") if part)
    return numbers, parts
