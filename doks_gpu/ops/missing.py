"""Which tiers of a plan are not there, or not in their new form, after an `up`."""

from collections.abc import Mapping, Sequence
from typing import Any

from doks_gpu.ops.state import State
from doks_gpu.plan.pools import PoolSpec
from doks_gpu.plan.tags import parse_pool_tags


def missing_tiers(pools: Sequence[PoolSpec], state: State) -> list[str]:
    """One line per tier of the plan that the state does not hold, or holds in its old form."""
    made = {row.name: row.outputs for row in state.pools}
    others = "The other tiers work without it. " if made else ""
    lines = []
    for pool in pools:
        name = f"tier {pool.tier} of fleet {pool.fleet} ({pool.size})"
        outputs = made.get(pool.name)
        if outputs is None:
            lines.append(f"{name} is not there. {others}The next `up` tries again.")
        elif _is_old(pool, outputs):
            lines.append(f"{name} could not be replaced: the old pool stays. The next `up` tries again.")
    return lines


def _is_old(pool: PoolSpec, outputs: Mapping[str, Any]) -> bool:
    """What a replacement would have changed: size, generation, and a Spot pool's ceiling."""
    if outputs.get("size") != pool.size or _generation(outputs) not in (None, pool.generation):
        return True
    return pool.is_spot and outputs.get("maxNodes" if pool.autoscaled else "nodeCount") != pool.max


def _generation(outputs: Mapping[str, Any]) -> int | None:
    """From the pool's tags, which are written when it is made; None for a pool that was made without them."""
    tags = parse_pool_tags(outputs.get("tags") or ())
    return tags.generation if tags else None
