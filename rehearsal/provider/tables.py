"""Every property of the resource types that the stand-in serves, as pulumi_digitalocean 4.84.1 has them.

A test holds these tables next to the SDK's own classes. What forces a replacement and what DigitalOcean
fills in is from the provider's source (terraform-provider-digitalocean 401992a1, 2026-08-06) and from the
SDK's output types.
"""

from typing import Final

from rehearsal.provider import rules
from rehearsal.provider.schema import (
    Fields,
    Property,
    boolean,
    integer,
    list_of,
    number,
    set_of,
    string,
    strings,
    structure,
)

PLUGINS: Final = {
    "amdGpuDeviceMetricsExporterPlugin": "amd_gpu_device_metrics_exporter_plugin",
    "amdGpuDevicePlugin": "amd_gpu_device_plugin",
    "amdGpuDraDriver": "amd_gpu_dra_driver",
    "corednsAutoscaler": "coredns_autoscaler",
    "nfsCsiPlugin": "nfs_csi_plugin",
    "nvidiaGpuDevicePlugin": "nvidia_gpu_device_plugin",
    "nvidiaGpuDraDriver": "nvidia_gpu_dra_driver",
    "p2pOciRegistryPlugin": "p2p_oci_registry_plugin",
    "rdmaSharedDevicePlugin": "rdma_shared_dev_plugin",
    "routingAgent": "routing_agent",
}
"""Blocks of one switch: Pulumi's name to the API's."""

EXCLUSIVE: Final = (
    ("nvidiaGpuDevicePlugin", "nvidiaGpuDraDriver"),
    ("amdGpuDevicePlugin", "amdGpuDraDriver"),
)
"""Blocks of which a cluster may have only one."""

_NODE: Final[Fields] = {
    name: string(settable=False) for name in ("createdAt", "dropletId", "id", "name", "status", "updatedAt")
}


def _tags() -> Property:
    return set_of(string(rule=rules.tag))


def _pool_fields() -> dict[str, Property]:
    return {
        "actualNodeCount": integer(settable=False),
        "autoScale": boolean(default=False),
        "gpuPartitionMode": string(replaces=True, rule=rules.partition_mode),
        "labels": strings(),
        "maxNodes": integer(),
        "minNodes": integer(),
        "nodeCount": integer(),
        "nodes": list_of(structure(_NODE), settable=False),
        "size": string(required=True, replaces=True, rule=rules.not_blank),
        "tags": _tags(),
        "taints": set_of(
            structure(
                {
                    "effect": string(required=True, rule=rules.effect),
                    "key": string(required=True),
                    "value": string(required=True),
                }
            )
        ),
    }


NODE_POOL: Final[Fields] = {
    **_pool_fields(),
    "clusterId": string(required=True, replaces=True, rule=rules.not_blank),
    "name": string(required=True, rule=rules.not_blank),
}

INLINE_POOL: Final[Fields] = {
    **_pool_fields(),
    "id": string(settable=False),
    "name": string(required=True, rule=rules.not_blank),
}

_AUTOSCALER: Final[Fields] = {
    "expanders": list_of(string()),
    "scaleDownUnneededTime": string(),
    "scaleDownUtilizationThreshold": number(),
}

_KUBE_CONFIG: Final[Fields] = {
    name: string(settable=False)
    for name in (
        "clientCertificate",
        "clientKey",
        "clusterCaCertificate",
        "expiresAt",
        "host",
        "rawConfig",
        "token",
    )
}

CLUSTER: Final[Fields] = {
    **{name: structure({"enabled": boolean(required=True)}, computed=True) for name in PLUGINS},
    "autoUpgrade": boolean(default=False),
    "clusterAutoscalerConfigurations": list_of(structure(_AUTOSCALER)),
    "clusterSubnet": string(computed=True, replaces=True, rule=rules.cidr),
    "clusterUrn": string(settable=False),
    "controlPlaneFirewall": structure(
        {"allowedAddresses": list_of(string(), required=True), "enabled": boolean(required=True)},
        computed=True,
    ),
    "createdAt": string(settable=False),
    "destroyAllAssociatedResources": boolean(default=False),
    "endpoint": string(settable=False),
    "ha": boolean(computed=True),
    "ipv4Address": string(settable=False),
    "isolatedWorkers": boolean(replaces=True),
    "kubeConfigs": list_of(structure(_KUBE_CONFIG), settable=False),
    "kubeconfigExpireSeconds": integer(rule=rules.not_negative),
    "maintenancePolicy": structure(
        {
            "day": string(computed=True, rule=rules.day),
            "duration": string(settable=False),
            "startTime": string(computed=True),
        },
        computed=True,
    ),
    "name": string(required=True, rule=rules.not_blank),
    "nodePool": structure(INLINE_POOL, required=True),
    "region": string(required=True, replaces=True, rule=rules.not_blank),
    "registryIntegration": boolean(default=False),
    "serviceSubnet": string(computed=True, replaces=True, rule=rules.cidr),
    "ssos": list_of(
        structure(
            {
                "clientId": string(),
                "enabled": boolean(required=True),
                "issuerUrl": string(),
                "required": boolean(),
            }
        ),
        computed=True,
    ),
    "status": string(settable=False),
    "surgeUpgrade": boolean(default=True),
    "tags": _tags(),
    "updatedAt": string(settable=False),
    "version": string(required=True, rule=rules.not_blank),
    "vpcUuid": string(computed=True, replaces=True),
    "workerSubnetUuid": string(computed=True, replaces=True),
}

SPACES_KEY: Final[Fields] = {
    "accessKey": string(settable=False),
    "createdAt": string(settable=False),
    "grants": list_of(
        structure({"bucket": string(required=True), "permission": string(required=True, rule=rules.not_blank)})
    ),
    "name": string(required=True, rule=rules.not_blank),
    "secretKey": string(settable=False),
}
