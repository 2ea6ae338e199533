"""Clusters on the wire: request bodies as the real provider's client writes them, answers as outputs."""

from collections.abc import Mapping
from typing import Any

from rehearsal.provider import wire
from rehearsal.provider.api import Body
from rehearsal.provider.marshal import Props
from rehearsal.provider.tables import PLUGINS


def creation_body(inputs: Props) -> Body:
    """The body of a POST. The maintenance policy and both upgrade switches are always there."""
    pool = inputs["nodePool"]
    optional = {
        "tags": inputs.get("tags") or None,
        "vpc_uuid": inputs.get("vpcUuid") or None,
        "worker_subnet_uuid": inputs.get("workerSubnetUuid") or None,
        "cluster_subnet": inputs.get("clusterSubnet") or None,
        "service_subnet": inputs.get("serviceSubnet") or None,
        "ha": inputs.get("ha"),
        "isolated_workers": inputs.get("isolatedWorkers"),
        "control_plane_firewall": _firewall(inputs.get("controlPlaneFirewall")),
        "cluster_autoscaler_configuration": _autoscaler(inputs),
        "sso": _sso(inputs),
        **{api: inputs.get(name) for name, api in PLUGINS.items()},
    }
    return {
        "name": inputs["name"],
        "region": inputs["region"].lower(),
        "version": inputs["version"],
        "node_pools": [wire.creation_body(pool, _default_pool_tags(pool))],
        "maintenance_policy": _maintenance(inputs.get("maintenancePolicy")),
        "auto_upgrade": inputs.get("autoUpgrade", False),
        "surge_upgrade": inputs.get("surgeUpgrade", True),
        **{key: value for key, value in optional.items() if value is not None},
    }


def update_body(state: Props, inputs: Props) -> Body:
    """The body of a PUT: every block, null where nobody set it. `surge_upgrade: false` cannot be sent."""
    merged = {**state, **inputs}
    body: Body = {
        "name": inputs["name"],
        "auto_upgrade": inputs.get("autoUpgrade", False),
        "ha": merged.get("ha"),
        "maintenance_policy": _maintenance(
            {**state.get("maintenancePolicy", {}), **inputs.get("maintenancePolicy", {})}
        ),
        "control_plane_firewall": _firewall(merged.get("controlPlaneFirewall"))
        or {"enabled": None, "allowed_addresses": None},
        "cluster_autoscaler_configuration": _autoscaler(inputs) or _autoscaler_removed(state),
        **{api: merged.get(name) or {"enabled": None} for name, api in PLUGINS.items()},
    }
    if inputs.get("surgeUpgrade", True):
        body["surge_upgrade"] = True
    if sso := _sso(merged):
        body["sso"] = sso
    return body | wire.without_zeros({"tags": inputs.get("tags")})


def default_pool_update(pool: Props) -> Body:
    """The PUT of the inline pool: its tag stays, and its count is sent only when the program gives one."""
    return wire.update_body(pool, _default_pool_tags(pool), pool.get("nodeCount"))


def cluster_outputs(cluster: Mapping[str, Any], pool: Mapping[str, Any]) -> Props:
    """The outputs from the API's cluster and its default pool; credentials are not part of it."""
    outputs: Props = {
        "autoUpgrade": cluster.get("auto_upgrade", False),
        "clusterSubnet": cluster.get("cluster_subnet"),
        "clusterUrn": f"do:kubernetes:{cluster['id']}",
        "createdAt": cluster.get("created_at"),
        "endpoint": cluster.get("endpoint"),
        "ha": cluster.get("ha", False),
        "ipv4Address": cluster.get("ipv4"),
        "isolatedWorkers": cluster.get("isolated_workers"),
        "maintenancePolicy": _maintenance_outputs(cluster["maintenance_policy"]),
        "name": cluster["name"],
        "nodePool": {**wire.pool_outputs(pool), "id": pool["id"]},
        "region": cluster["region"],
        "registryIntegration": cluster.get("registry_enabled", False),
        "serviceSubnet": cluster.get("service_subnet"),
        "status": cluster["status"]["state"],
        "surgeUpgrade": cluster.get("surge_upgrade", False),
        "tags": wire.filtered_tags(cluster.get("tags") or []),
        "updatedAt": cluster.get("updated_at"),
        "version": cluster["version"],
        "vpcUuid": cluster.get("vpc_uuid"),
        "workerSubnetUuid": cluster.get("worker_subnet_uuid"),
        **{name: _switch(cluster.get(api)) for name, api in PLUGINS.items()},
        "clusterAutoscalerConfigurations": _autoscaler_outputs(cluster),
        "controlPlaneFirewall": _firewall_outputs(cluster.get("control_plane_firewall")),
        "ssos": _sso_outputs(cluster.get("sso")),
    }
    return {key: value for key, value in outputs.items() if value is not None}


def default_pool(cluster: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The pool that carries the provider's tag."""
    pools: list[Mapping[str, Any]] = cluster.get("node_pools") or []
    return next((pool for pool in pools if wire.DEFAULT_POOL_TAG in (pool.get("tags") or [])), None)


def _default_pool_tags(pool: Props) -> list[str]:
    return [wire.DEFAULT_POOL_TAG, *pool.get("tags", [])]


def _maintenance(policy: Props | None) -> Body | None:
    if not policy:
        return None
    return {
        "start_time": policy.get("startTime", ""),
        "duration": policy.get("duration", ""),
        "day": policy.get("day", "any"),
    }


def _maintenance_outputs(policy: Mapping[str, Any] | None) -> Props | None:
    if not policy:
        return None
    return {
        "day": policy.get("day"),
        "duration": policy.get("duration"),
        "startTime": policy.get("start_time"),
    }


def _firewall(block: Props | None) -> Body | None:
    if not block:
        return None
    return {"enabled": block["enabled"], "allowed_addresses": block["allowedAddresses"]}


def _firewall_outputs(block: Mapping[str, Any] | None) -> Props | None:
    if not block or block.get("enabled") is None:
        return None
    return {"enabled": block["enabled"], "allowedAddresses": block.get("allowed_addresses") or []}


def _switch(block: Mapping[str, Any] | None) -> Props | None:
    return {"enabled": block["enabled"]} if block and block.get("enabled") is not None else None


def _autoscaler(inputs: Props) -> Body | None:
    """All three fields as soon as there is a block; the API takes 0, "" and [] as unset."""
    blocks = inputs.get("clusterAutoscalerConfigurations")
    if not blocks:
        return None
    block = blocks[0]
    return {
        "scale_down_utilization_threshold": block.get("scaleDownUtilizationThreshold", 0),
        "scale_down_unneeded_time": block.get("scaleDownUnneededTime", ""),
        "expanders": block.get("expanders", []),
    }


def _autoscaler_removed(state: Props) -> Body:
    blocks: list[Props] = state.get("clusterAutoscalerConfigurations", [])
    block = blocks[0] if blocks else {}
    return {
        "scale_down_utilization_threshold": 0 if "scaleDownUtilizationThreshold" in block else None,
        "scale_down_unneeded_time": "" if "scaleDownUnneededTime" in block else None,
        "expanders": [] if "expanders" in block else None,
    }


def _autoscaler_outputs(cluster: Mapping[str, Any]) -> list[Props] | None:
    block = cluster.get("cluster_autoscaler_configuration") or {}
    found = wire.without_zeros(
        {
            "expanders": block.get("expanders"),
            "scaleDownUnneededTime": block.get("scale_down_unneeded_time"),
            "scaleDownUtilizationThreshold": block.get("scale_down_utilization_threshold"),
        }
    )
    return [found] if found else None


def _sso(inputs: Props) -> Body | None:
    blocks = inputs.get("ssos")
    if not blocks:
        return None
    block = blocks[0]
    return {
        "enabled": block["enabled"],
        "required": block.get("required", False),
        "issuer_url": block.get("issuerUrl", ""),
        "client_id": block.get("clientId", ""),
    }


def _sso_outputs(block: Mapping[str, Any] | None) -> list[Props] | None:
    if not block:
        return None
    return [
        {
            "enabled": block.get("enabled", False),
            "required": block.get("required", False),
            "issuerUrl": block.get("issuer_url", ""),
            "clientId": block.get("client_id", ""),
        }
    ]
