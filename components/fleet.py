"""The GPU pools of one fleet: one node pool per tier, none depending on another."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_digitalocean as do

from doks_gpu.plan.pools import PoolSpec


@dataclass(frozen=True, kw_only=True)
class GpuFleetArgs:
    cluster_id: pulumi.Input[str]
    """Cluster that the pools join."""
    pools: Sequence[PoolSpec]
    """Derived by `doks_gpu.plan.pools`, in order of preference."""


class GpuFleet(pulumi.ComponentResource):
    """Owns size, minimum and maximum of each pool; the autoscaler owns the live count, which is never sent."""

    pools: dict[str, do.KubernetesNodePool]
    """Pool name (`<fleet>-<tier>`) to its resource."""

    def __init__(self, name: str, args: GpuFleetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("doks-gpu:index:GpuFleet", name, None, opts)
        self.pools = {spec.name: self._pool(spec, args.cluster_id) for spec in args.pools}
        self.register_outputs({"poolIds": {pool: resource.id for pool, resource in self.pools.items()}})

    def _pool(self, spec: PoolSpec, cluster_id: pulumi.Input[str]) -> do.KubernetesNodePool:
        return do.KubernetesNodePool(
            spec.name,
            cluster_id=cluster_id,
            size=spec.size,
            auto_scale=spec.autoscaled,
            min_nodes=spec.min if spec.autoscaled else None,
            max_nodes=spec.max if spec.autoscaled else None,
            node_count=spec.count,
            labels=dict(spec.labels),
            taints=[
                do.KubernetesNodePoolTaintArgs(key=taint.key, value=taint.value, effect=taint.effect)
                for taint in spec.taints
            ],
            tags=list(spec.tags),
            opts=pulumi.ResourceOptions(
                parent=self,
                # Set at creation: the price in them is that of the pool's birth.
                ignore_changes=["tags"],
                # DigitalOcean fixes a Spot pool's ceiling when it is made.
                replace_on_changes=["maxNodes", "nodeCount"] if spec.is_spot else None,
                replacement_trigger=spec.generation,
                custom_timeouts=pulumi.CustomTimeouts(create=spec.create_timeout),
            ),
        )
