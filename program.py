"""The composition: which components a plan needs, in which order, with which outputs."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pulumi
import pulumi_digitalocean as do
import pulumi_kubernetes as k8s

from components import (
    ExpanderPriorities,
    ExpanderPrioritiesArgs,
    GpuBatch,
    GpuBatchArgs,
    GpuCluster,
    GpuClusterArgs,
    GpuFleet,
    GpuFleetArgs,
)
from components.priorities import MapReady
from doks_gpu import priority_map
from doks_gpu.cloud import Cloud
from doks_gpu.plan.names import job_name
from doks_gpu.plan.pricing import cents
from doks_gpu.plan.report import estimate
from doks_gpu.plan.stack import StackPlan

OUTPUTS = ("clusterId", "clusterName", "region", "pools", "hourlyUsd", "teamId")


def announce(plan: StackPlan) -> None:
    """Shows the estimate and every warning in `pulumi preview` itself. Raises `RefusedError` on any error."""
    plan.refuse_errors()
    pulumi.log.info(estimate(plan))
    for finding in plan.findings:
        if finding.severity == "warning":
            pulumi.log.warn(f"{finding.rule}: {finding.message} {finding.way_out}")


def build(plan: StackPlan, cloud: Cloud | None) -> Mapping[str, pulumi.Input[Any]]:
    """Registers every resource and returns the stack's outputs. `cloud` is None where nothing will be made."""
    cluster = GpuCluster(
        "cluster", GpuClusterArgs(spec=plan.cluster, vendors=frozenset(pool.vendor for pool in plan.pools))
    )
    fleets = [
        GpuFleet(name, GpuFleetArgs(cluster_id=cluster.cluster_id, pools=pools))
        for name, pools in plan.pools_by_fleet().items()
    ]
    pools = {name: pool for fleet in fleets for name, pool in fleet.pools.items()}
    ExpanderPriorities(
        "priorities",
        ExpanderPrioritiesArgs(
            cluster_id=cluster.cluster_id,
            levels=plan.levels,
            pool_ids={name: pool.id for name, pool in pools.items()},
            previous_ids=plan.previous_ids,
            map_ready=_map_ready(cloud, attached=plan.cluster.attached_id is not None) if cloud else None,
        ),
        opts=pulumi.ResourceOptions(provider=cluster.kubernetes),
    )
    _workloads(plan, cluster.kubernetes, pools)
    return {
        "clusterId": cluster.cluster_id,
        "clusterName": cluster.cluster_name,
        "region": plan.region,
        "pools": {
            spec.name: {
                "id": pools[spec.name].id,
                "size": spec.size,
                "usdPerHour": cents(spec.price.usd_per_hour or Decimal(0)),
            }
            for spec in plan.pools
        },
        "hourlyUsd": plan.pricing.output(),
        "teamId": plan.team_id,
    }


def _workloads(plan: StackPlan, kubernetes: k8s.Provider, pools: Mapping[str, do.KubernetesNodePool]) -> None:
    """What runs on the fleets. Each waits for its own fleet's on-demand pools alone: a Spot pool that cannot be made
    stops nothing."""
    namespace = (
        [
            k8s.core.v1.Namespace(
                "namespace",
                metadata=k8s.meta.v1.ObjectMetaArgs(name=plan.namespace),
                # Somebody else's things may be in it: in an attached cluster it was perhaps there before us.
                opts=pulumi.ResourceOptions(provider=kubernetes, retain_on_delete=plan.cluster.attached_id is not None),
            )
        ]
        if plan.makes_namespace
        else []
    )
    for spec in plan.jobs:
        GpuBatch(
            job_name(spec.name),
            GpuBatchArgs(spec=spec, after=[*namespace, *(pools[pool] for pool in spec.after)]),
            opts=pulumi.ResourceOptions(provider=kubernetes),
        )


def _map_ready(cloud: Cloud, *, attached: bool) -> MapReady:
    read = priority_map.reader(cloud)

    async def ready(cluster_id: str) -> None:
        await priority_map.wait_until_ready(cluster_id, read, attached=attached)

    return ready
