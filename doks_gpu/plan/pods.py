"""What the pods of services and jobs share: where they may run, where they prefer to, and what they are given.

Plain Kubernetes manifests as dictionaries. Everything that comes from a mapping of the settings is sorted: the engine
and the offline preview hand the same keys over in different orders, and a job is known by a hash of its pods.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from doks_gpu.catalog import Vendor
from doks_gpu.plan import labels
from doks_gpu.settings import Fleet
from doks_gpu.settings.fleets import Toleration
from doks_gpu.settings.problems import names_secret
from doks_gpu.settings.types import Placement
from doks_gpu.settings.workloads import SHARED_MEMORY_PATH, SecretKey, Volume, Workload

Manifest = dict[str, Any]

CONTAINER = "main"
"""The one container of a workload's pod."""
SHARED_MEMORY = "doks-gpu-shared-memory"
"""Name of the volume at /dev/shm."""
PREFERENCE_WEIGHT = 100
"""The strongest preference that Kubernetes has; a requirement would keep work off the fallback."""
LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
"""Annotations of the cluster autoscaler (its FAQ, read 2026-11-30)."""


def pod_spec(
    workload: Workload,
    fleet: Fleet,
    vendor: Vendor,
    *,
    placement: Placement,
    container: Mapping[str, Any],
    env: Mapping[str, str],
    grace_seconds: int,
    tolerations: Sequence[Manifest] = (),
) -> Manifest:
    """The pod of a workload. `container` is what only this kind of workload has: image, command, ports, probes.

    `env` and `tolerations` are ours, besides those of the settings.
    """
    volumes = _volumes(workload)
    main = {
        "name": CONTAINER,
        **container,
        "env": _variables({**workload.env, **env}, workload.secret_env),
        "resources": _resources(workload, vendor),
        "volumeMounts": _mounts(workload),
    }
    spec = {
        "nodeSelector": {labels.WORKLOAD: fleet.workload},
        "tolerations": [*_tolerations(fleet, vendor), *tolerations],
        "affinity": preferred_capacity(placement),
        "imagePullSecrets": [{"name": name} for name in workload.pull_secrets],
        "terminationGracePeriodSeconds": grace_seconds,
        # What other services exist in the namespace is nothing that a pod's variables should follow.
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "containers": [_without_empty(main)],
        "volumes": volumes,
    }
    return _without_empty(spec)


def preferred_capacity(placement: Placement) -> Manifest:
    """Prefers Spot, or everything else. Never required: the work goes on where there is room."""
    operator = "In" if placement == "spot" else "NotIn"
    wanted = {"key": labels.CAPACITY_TYPE, "operator": operator, "values": [labels.SPOT]}
    term = {"weight": PREFERENCE_WEIGHT, "preference": {"matchExpressions": [wanted]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(selector: Mapping[str, str]) -> list[Manifest]:
    """Replicas apart over nodes and pools where that is possible, as `topologySpreadConstraints`.

    Nothing for a job: spreading weighs as much as the preference for Spot and would take tasks off it.
    """
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(selector)},
        }
        for key in (labels.HOST, labels.DOKS_POOL_ID)
    ]


def evictable_volumes(workload: Workload) -> dict[str, str]:
    """The annotation without which a node whose pod has an emptyDir (shared memory too) is never given back."""
    local = [volume.name for volume in workload.volumes if volume.empty_dir]
    local += [SHARED_MEMORY] if workload.shared_memory else []
    return {LOCAL_VOLUMES: ",".join(local)} if local else {}


def hidden_variables(workload: Workload) -> frozenset[str]:
    """Variables whose name says that their value is not for everybody's eyes."""
    return frozenset(name for name in workload.env if names_secret(name))


def _tolerations(fleet: Fleet, vendor: Vendor) -> list[Manifest]:
    """Each names its key, so a pod gets past the taints of its own fleet alone."""
    return [
        {
            "key": labels.WORKLOAD,
            "operator": "Equal",
            "value": fleet.workload,
            "effect": labels.NO_SCHEDULE,
        },
        {"key": labels.GPU_RESOURCE[vendor], "operator": "Exists", "effect": labels.NO_SCHEDULE},
        *(_toleration(toleration) for toleration in fleet.tolerations),
    ]


def _toleration(said: Toleration) -> Manifest:
    return said.model_dump(by_alias=True, exclude_none=True)


def _variables(plain: Mapping[str, str], secret: Mapping[str, SecretKey]) -> list[Manifest]:
    known: dict[str, Manifest] = {name: {"value": value} for name, value in plain.items()}
    for name, ref in secret.items():
        known[name] = {"valueFrom": {"secretKeyRef": {"name": ref.secret, "key": ref.key}}}
    return [{"name": name, **known[name]} for name in sorted(known)]


def _resources(workload: Workload, vendor: Vendor) -> Manifest:
    """Kubernetes takes an extended resource only where request and limit are equal."""
    gpus = {labels.GPU_RESOURCE[vendor]: str(workload.gpus)}
    said = workload.resources
    return {"requests": {**said.requests, **gpus}, "limits": {**said.limits, **gpus}}


def _mounts(workload: Workload) -> list[Manifest]:
    mounts = [
        _without_empty({"name": volume.name, "mountPath": volume.mount_path, "readOnly": volume.read_only or None})
        for volume in workload.volumes
    ]
    return mounts + ([{"name": SHARED_MEMORY, "mountPath": SHARED_MEMORY_PATH}] if workload.shared_memory else [])


def _volumes(workload: Workload) -> list[Manifest]:
    volumes = [{"name": volume.name, **_source(volume)} for volume in workload.volumes]
    if workload.shared_memory:
        memory = {"medium": "Memory", "sizeLimit": workload.shared_memory}
        volumes.append({"name": SHARED_MEMORY, "emptyDir": memory})
    return volumes


def _source(volume: Volume) -> Manifest:
    if volume.config_map:
        return {"configMap": {"name": volume.config_map}}
    if volume.secret:
        return {"secret": {"secretName": volume.secret}}
    if volume.claim:
        return {"persistentVolumeClaim": {"claimName": volume.claim}}
    limit = volume.empty_dir.size_limit if volume.empty_dir else None
    return {"emptyDir": {"sizeLimit": limit} if limit else {}}


def _without_empty(manifest: Manifest) -> Manifest:
    return {key: value for key, value in manifest.items() if value is not None and value not in ([], {}, ())}
