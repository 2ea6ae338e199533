"""The node template that the autoscaler asks for: it is not in the OpenAPI text, and its real numbers are not known.

Field names: DigitalOcean's Go client 1.188 and newer. `capacity` and `allocatable` are always there: the autoscaler
ends without them.
"""

from doks_gpu.plan import labels
from rehearsal.digitalocean.model import Cluster, Pool
from rehearsal.digitalocean.views import Json
from rehearsal.digitalocean.world import World

_PODS = 110
_RESERVED_MILLI_CORES = 150
_RESERVED_MEMORY = 0.08
"""Guess: what the system keeps of a node."""


def template(world: World, cluster: Cluster, pool: Pool) -> Json:
    """A node as the autoscaler should imagine it."""
    size = world.sizes[pool.size]
    memory_mib = size.memory_gib * 1024
    row: Json = {
        "cluster_uuid": cluster.id,
        "name": pool.name,
        "slug": pool.size,
        "labels": node_labels(world, cluster, pool),
        "taints": node_taints(world, pool),
        "capacity": _resources(size.vcpus * 1000, memory_mib),
        "allocatable": _resources(size.vcpus * 1000 - _RESERVED_MILLI_CORES, int(memory_mib * (1 - _RESERVED_MEMORY))),
    }
    if size.gpu:
        row["gpu"] = {"vendor": size.gpu.vendor, "model": size.gpu.model, "count": size.gpu.gpus}
    return row


def node_labels(world: World, cluster: Cluster, pool: Pool) -> dict[str, str]:
    """Labels of every node of a pool, DOKS's own first."""
    size = world.sizes[pool.size]
    found = {
        "doks.digitalocean.com/managed": "true",
        labels.DOKS_POOL: pool.name,
        labels.DOKS_POOL_ID: pool.id,
        "doks.digitalocean.com/version": cluster.version,
        labels.INSTANCE_TYPE: pool.size,
        "topology.kubernetes.io/region": cluster.region,
    }
    if size.gpu:
        found[labels.DOKS_GPU_BRAND] = size.gpu.vendor
        found[labels.DOKS_GPU_MODEL] = size.gpu.model
    if size.is_spot:
        found |= world.settings.spot_node_labels
    return found | pool.labels


def node_taints(world: World, pool: Pool) -> list[str]:
    """Taints of every node of a pool as `key=value:Effect`: the vendor's, those of Spot, then the pool's own."""
    size = world.sizes[pool.size]
    vendor = [f"{labels.GPU_RESOURCE[size.gpu.vendor]}=:{labels.NO_SCHEDULE}"] if size.gpu else []
    spot = list(world.settings.spot_node_taints) if size.is_spot else []
    return [*vendor, *spot, *(f"{taint.key}={taint.value}:{taint.effect}" for taint in pool.taints)]


def _resources(milli_cores: int, memory_mib: int) -> Json:
    return {
        "cpu": milli_cores // 1000,
        "cpu_milli_cores": milli_cores,
        "memory": f"{memory_mib}Mi",
        "pods": _PODS,
    }
