"""May these nodes be made? What the region sells, what is in stock, what the account may have."""

from rehearsal.digitalocean.errors import NOT_IN_REGION, UNAVAILABLE, unprocessable
from rehearsal.digitalocean.sizes import Size
from rehearsal.digitalocean.world import World


def refuse_unknown_size(world: World, size: str, region: str) -> None:
    """A size that does not exist, that DOKS does not take or that the region does not sell. Raises 422."""
    if size not in world.sizes:
        raise unprocessable(f"invalid size: {size}")
    if size in world.settings.not_in_doks:
        raise unprocessable(f"size {size} is not supported for Kubernetes node pools")
    if region not in world.settings.regions_of(size):
        raise unprocessable(NOT_IN_REGION)


def refuse_growth(world: World, size: str, region: str, more: int) -> None:
    """More nodes of a size than there are, or than the account may have. Raises 422."""
    if more <= 0:
        return
    _refuse_without_stock(world, size, region, more)
    _refuse_above_droplet_limit(world, more)
    _refuse_above_gpu_quota(world, world.sizes[size], more)


def bootable(world: World, size: str, region: str, more: int) -> int:
    """How many of these nodes will ever boot."""
    left = world.stock_left(size, region)
    return more if left is None else min(more, left)


def _refuse_without_stock(world: World, size: str, region: str, more: int) -> None:
    rule = world.settings.stock_out(size, region)
    if rule and rule.kind == "refused" and bootable(world, size, region, more) < more:
        raise unprocessable(UNAVAILABLE)


def _refuse_above_droplet_limit(world: World, more: int) -> None:
    nodes = sum(len(pool.nodes) for _, pool in world.pools())
    if world.settings.other_droplets + nodes + more > world.settings.droplet_limit:
        raise unprocessable("creating this/these droplet(s) will exceed your droplet limit")


def _refuse_above_gpu_quota(world: World, size: Size, more: int) -> None:
    if size.gpu is None or size.gpu.model not in world.settings.gpu_quota:
        return
    model, quota = size.gpu.model, world.settings.gpu_quota[size.gpu.model]
    used = sum(
        gpu.gpus * len(pool.nodes)
        for _, pool in world.pools()
        if (gpu := world.sizes[pool.size].gpu) and gpu.model == model
    )
    if used + more * size.gpu.gpus > quota:
        raise unprocessable(f"creating this/these droplet(s) will exceed your GPU limit for {model}: {quota}")
