"""The account's things in the API's words. Field names: DigitalOcean's OpenAPI text, 2026-08-07."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from doks_gpu.catalog import HOURS_PER_MONTH
from rehearsal.digitalocean.bodies import PLUGINS
from rehearsal.digitalocean.clock import rfc3339
from rehearsal.digitalocean.model import Cluster, Node, Pool, SpacesKey, Vpc
from rehearsal.digitalocean.sizes import Size
from rehearsal.digitalocean.world import World

Json = dict[str, Any]


def cluster(world: World, it: Cluster, now: datetime) -> Json:
    """`status` and `maintenance_policy` are always there: the provider panics without them."""
    server = it.endpoint.server if it.endpoint else ""
    return {
        "id": it.id,
        "name": it.name,
        "region": it.region,
        "version": it.version,
        "cluster_subnet": it.cluster_subnet,
        "service_subnet": it.service_subnet,
        "vpc_uuid": it.vpc_uuid,
        "ipv4": server.removeprefix("https://").partition(":")[0],
        "endpoint": server,
        "tags": ["k8s", f"k8s:{it.id}", *it.tags],
        "node_pools": [pool(row, it, now) for row in it.pools],
        "maintenance_policy": dict(it.maintenance_policy),
        "auto_upgrade": it.auto_upgrade,
        "surge_upgrade": it.surge_upgrade,
        "ha": it.ha,
        "registry_enabled": it.registry_enabled,
        "status": {"state": it.state(now), "message": it.failure},
        "cluster_autoscaler_configuration": _autoscaler(it.autoscaler),
        "created_at": rfc3339(it.created_at),
        "updated_at": rfc3339(it.updated_at),
        **it.blocks,
        **plugins(world, it),
    }


def plugins(world: World, it: Cluster) -> Json:
    """Each plugin as it was switched, else as DOKS would: a device plugin for each vendor that the cluster has."""
    vendors = {gpu.vendor for row in it.pools if (gpu := world.sizes[row.size].gpu)}
    by_itself = {
        "nvidia_gpu_device_plugin": "nvidia" in vendors,
        "amd_gpu_device_plugin": "amd" in vendors,
        "coredns_autoscaler": minor_version(it.version) >= (1, 36),
    }
    return {name: it.blocks.get(name) or {"enabled": by_itself.get(name, False)} for name in PLUGINS}


def minor_version(slug: str) -> tuple[int, int]:
    """`1.36.3-do.0` is (1, 36)."""
    major, minor = slug.split(".")[:2]
    return int(major), int(minor)


def pool(it: Pool, of: Cluster, now: datetime) -> Json:
    """The tags that DigitalOcean adds are those that the provider hides: `k8s`, `k8s:<cluster>`, `k8s:worker`."""
    return {
        "id": it.id,
        "name": it.name,
        "size": it.size,
        "count": it.count,
        "tags": ["k8s", f"k8s:{of.id}", "k8s:worker", *it.tags],
        "labels": dict(it.labels) or None,
        "taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in it.taints],
        "auto_scale": it.auto_scale,
        "min_nodes": it.min_nodes,
        "max_nodes": it.max_nodes,
        "gpu_partition_mode": it.gpu_partition_mode,
        "nodes": [node(row, now) for row in it.nodes if row.is_listed(now)],
    }


def node(it: Node, now: datetime) -> Json:
    """One entry of a pool's list."""
    return {
        "id": it.id,
        "name": it.name,
        "status": {"state": it.state(now)},
        "droplet_id": str(it.droplet_id) if it.droplet_id_at <= now else "",
        "created_at": rfc3339(it.created_at),
        "updated_at": rfc3339(it.changed_at(now)),
    }


def size(world: World, it: Size) -> Json:
    """A row of the price list."""
    price = world.price(it.slug)
    row: Json = {
        "slug": it.slug,
        "memory": it.memory_gib * 1024,
        "vcpus": it.vcpus,
        "disk": it.disk_gib,
        "transfer": 15.0 if it.gpu else 4.0,
        "price_monthly": float(round(price * HOURS_PER_MONTH, 2)),
        "price_hourly": float(price),
        "regions": sorted(world.settings.regions_of(it.slug)),
        "available": True,
        "description": _description(it),
        "networking_throughput": 10000 if it.gpu else 2000,
        "disk_info": [{"type": "local", "size": {"amount": it.disk_gib, "unit": "gib"}}],
    }
    if it.gpu:
        memory = {"amount": it.gpu.gpus * it.gpu.gpu_memory_gib, "unit": "gib"}
        row["gpu_info"] = {"count": it.gpu.gpus, "vram": memory, "model": it.gpu_model}
    return row


def spaces_key(it: SpacesKey, *, with_secret: bool = False) -> Json:
    """The secret is told once, in the answer to the creation."""
    row: Json = {
        "name": it.name,
        "access_key": it.access_key,
        "grants": [dict(grant) for grant in it.grants],
        "created_at": rfc3339(it.created_at),
    }
    return row | ({"secret_key": it.secret_key} if with_secret else {})


def vpc(it: Vpc) -> Json:
    """A private network."""
    return {
        "id": it.id,
        "urn": f"do:vpc:{it.id}",
        "name": it.name,
        "description": it.description,
        "ip_range": it.ip_range,
        "region": it.region,
        "default": it.default,
        "created_at": rfc3339(it.created_at),
    }


def _autoscaler(configured: Mapping[str, Any]) -> Json | None:
    """Null when nothing is set: the provider would plan a change for ever otherwise."""
    if not configured:
        return None
    names = ("scale_down_utilization_threshold", "scale_down_unneeded_time", "expanders")
    return {name: configured.get(name) for name in names}


def _description(it: Size) -> str:
    if it.gpu:
        return f"{it.gpu.model.upper()} GPU - {it.gpu.gpus}X"
    families = {"s": "Basic", "c": "CPU-Optimized", "g": "General Purpose", "m": "Memory-Optimized"}
    return families.get(it.slug.partition("-")[0], "Premium")
