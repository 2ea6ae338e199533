"""Node pools on the wire: request bodies as the real provider's client writes them, answers as outputs.

The Go client leaves zero values out of a creation; an update sends its pointers even when they are 0, but
never empty labels or tags, and a count only when it is not 0. Taints have no JSON names in that client,
hence the capitals (godo 3fce660, 2026-07-24).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rehearsal.provider.api import Body
from rehearsal.provider.marshal import Props
from rehearsal.provider.schema import is_zero

DEFAULT_POOL_TAG: Final = "terraform:default-node-pool"


def creation_body(inputs: Props, tags: Iterable[str]) -> Body:
    """The pool of a POST, alone or inside a new cluster."""
    body = {
        "name": inputs["name"],
        "size": inputs["size"],
        "count": inputs.get("nodeCount"),
        "tags": list(tags),
        "labels": inputs.get("labels"),
        "taints": _taints(inputs),
        "auto_scale": inputs.get("autoScale"),
        "min_nodes": inputs.get("minNodes"),
        "max_nodes": inputs.get("maxNodes"),
        "gpu_partition_mode": inputs.get("gpuPartitionMode"),
    }
    return without_zeros(body)


def update_body(inputs: Props, tags: Iterable[str], count: int | None) -> Body:
    """The body of a PUT on a pool; `count` resizes it, None or 0 does not."""
    body: Body = {
        "name": inputs["name"],
        "auto_scale": inputs.get("autoScale", False),
        "min_nodes": inputs.get("minNodes", 0),
        "max_nodes": inputs.get("maxNodes", 0),
        "taints": _taints(inputs),
    }
    return body | without_zeros({"count": count, "tags": list(tags), "labels": inputs.get("labels")})


def pool_outputs(pool: Mapping[str, Any]) -> Props:
    """The outputs of a pool from the API's object; what is not set stays out, as in the real state."""
    outputs: Props = {
        "actualNodeCount": pool.get("count", 0),
        "autoScale": pool.get("auto_scale", False),
        "maxNodes": pool.get("max_nodes", 0),
        "minNodes": pool.get("min_nodes", 0),
        "name": pool["name"],
        "nodeCount": pool.get("count", 0),
        "nodes": [_node_outputs(node) for node in pool.get("nodes") or []],
        "size": pool["size"],
        "tags": filtered_tags(pool.get("tags") or []),
        "taints": [_taint_outputs(taint) for taint in pool.get("taints") or []],
    }
    return outputs | without_zeros({"gpuPartitionMode": pool.get("gpu_partition_mode"), "labels": pool.get("labels")})


def filtered_tags(tags: Iterable[str]) -> list[str]:
    """Without the tags that DigitalOcean and the provider add themselves."""
    return [tag for tag in tags if tag != "k8s" and not tag.startswith(("k8s:", "terraform:"))]


def all_running(pool: Mapping[str, Any]) -> bool:
    """Whether the pool has as many nodes as it should, each of them running."""
    nodes = pool.get("nodes") or []
    return len(nodes) == pool.get("count", 0) and all(node["status"]["state"] == "running" for node in nodes)


def without_zeros(body: Body) -> Body:
    return {key: value for key, value in body.items() if not is_zero(value)}


def _taints(inputs: Props) -> list[Body]:
    return [
        {"Key": taint["key"], "Value": taint["value"], "Effect": taint["effect"]} for taint in inputs.get("taints", [])
    ]


def _taint_outputs(taint: Mapping[str, Any]) -> Props:
    lower = {key.lower(): value for key, value in taint.items()}
    return {key: lower.get(key, "") for key in ("key", "value", "effect")}


def _node_outputs(node: Mapping[str, Any]) -> Props:
    return {
        "createdAt": node.get("created_at"),
        "dropletId": node.get("droplet_id"),
        "id": node["id"],
        "name": node.get("name"),
        "status": node["status"]["state"],
        "updatedAt": node.get("updated_at"),
    }
