"""A job of the configuration: an Indexed Job and the service account that its pods run as."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from doks_gpu.plan.jobs import JobSpec


@dataclass(frozen=True, kw_only=True)
class GpuBatchArgs:
    spec: JobSpec
    """Derived by `doks_gpu.plan.jobs`."""
    after: Sequence[pulumi.Resource]
    """What must be there first: the namespace, and the pools that `spec.after` names."""


class GpuBatch(pulumi.ComponentResource):
    """The Job is started and not waited for. One with another template replaces it; the old one goes first, so that
    the two do not work on the same tasks while the rest of an update goes on."""

    job: k8s.batch.v1.Job

    def __init__(self, name: str, args: GpuBatchArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("doks-gpu:index:GpuBatch", name, None, opts)
        metadata: Any = args.spec.manifest["metadata"]
        account = k8s.core.v1.ServiceAccount(
            f"{args.spec.name}-account",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.spec.name, namespace=metadata["namespace"], labels=metadata["labels"]
            ),
            automount_service_account_token=False,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        self.job = k8s.batch.v1.Job(
            name,
            metadata=metadata,
            spec=_hiding(args.spec.manifest["spec"], args.spec.hidden),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*args.after, account], delete_before_replace=True),
        )
        self.register_outputs({"objectName": args.spec.object_name})


def _hiding(spec: Any, hidden: frozenset[str]) -> Any:
    """A copy in which the values of these variables are secrets to the engine."""
    pod = spec["template"]["spec"]
    containers = [
        container
        | {
            "env": [
                row | {"value": pulumi.Output.secret(row["value"])} if row["name"] in hidden else row
                for row in container["env"]
            ]
        }
        for container in pod["containers"]
    ]
    return spec | {"template": spec["template"] | {"spec": pod | {"containers": containers}}}
