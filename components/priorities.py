"""The cluster autoscaler's priority map: DOKS owns the object, we own its one line of text.

DOKS makes the map once the `priority` expander is on, some time after the cluster runs. A map made by us would lack
DOKS's labels, so the patch waits for it (see docs/adr/0005-priority-map-ownership.md).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from doks_gpu.plan import priorities

MapReady = Callable[[str], Awaitable[None]]
"""Given a cluster id, returns once its priority map exists and may be taken over; raises with the way out otherwise."""


@dataclass(frozen=True, kw_only=True)
class ExpanderPrioritiesArgs:
    cluster_id: pulumi.Input[str]
    """Cluster whose autoscaler reads the map."""
    levels: Mapping[str, int]
    """Pool name to priority: higher is asked first."""
    pool_ids: Mapping[str, pulumi.Output[str]]
    """Pool name to the id of the pool; the id of one that could not be made stays unknown."""
    previous_ids: Mapping[str, str]
    """Pool name to the id of the live pool before this run: a tier whose replacement failed keeps its line."""
    map_ready: MapReady | None = None
    """None where nothing is created (the offline preview)."""


class ExpanderPriorities(pulumi.ComponentResource):
    """Sets `data.priorities` alone. The map outlives the stack: without it the autoscaler picks at random."""

    text: pulumi.Output[str]

    def __init__(self, name: str, args: ExpanderPrioritiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("doks-gpu:index:ExpanderPriorities", name, None, opts)
        self.text = _text(args)
        k8s.core.v1.ConfigMapPatch(
            f"{name}-map",
            metadata=k8s.meta.v1.ObjectMetaPatchArgs(
                name=priorities.MAP_NAME,
                namespace=priorities.MAP_NAMESPACE,
                annotations={"pulumi.com/patchForce": "true"},
            ),
            data={priorities.MAP_KEY: self.text},
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True, hooks=_hooks(name, args)),
        )
        self.register_outputs({"text": self.text})


def _text(args: ExpanderPrioritiesArgs) -> pulumi.Output[str]:
    """Depends on no pool: the engine skips what depends on one that failed, and the map must follow the others."""
    if pulumi.runtime.is_dry_run():
        return pulumi.Output.all(**args.pool_ids).apply(lambda ids: priorities.text(args.levels, ids))
    return pulumi.Output.from_input(_text_of_pools_that_exist(args))


async def _text_of_pools_that_exist(args: ExpanderPrioritiesArgs) -> str:
    made: dict[str, str] = {}
    for pool, output in args.pool_ids.items():
        if await output.is_known():
            made[pool] = str(await output.future())
    return priorities.text(args.levels, priorities.merge(made, args.previous_ids))


def _hooks(name: str, args: ExpanderPrioritiesArgs) -> pulumi.ResourceHookBinding | None:
    if args.map_ready is None:
        return None
    ready = args.map_ready

    async def wait(_: pulumi.ResourceHookArgs) -> None:
        cluster_id = await pulumi.Output.from_input(args.cluster_id).future()
        await ready(str(cluster_id))

    hook = pulumi.ResourceHook(f"{name}-map-exists", wait)
    return pulumi.ResourceHookBinding(before_create=[hook], before_update=[hook])
