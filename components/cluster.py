"""The DOKS cluster: made by this stack, or attached by id. Only the small CPU pool is inline (see `fleet`)."""

from dataclasses import dataclass

import pulumi
import pulumi_digitalocean as do
import pulumi_kubernetes as k8s

from doks_gpu.plan.cluster import ClusterSpec
from doks_gpu.plan.kubeconfig import exec_kubeconfig


@dataclass(frozen=True, kw_only=True)
class GpuClusterArgs:
    spec: ClusterSpec
    """Derived by `doks_gpu.plan.cluster`."""
    vendors: frozenset[str]
    """Vendors of the GPU pools, `nvidia` and `amd`: their device plugins are switched on."""


class GpuCluster(pulumi.ComponentResource):
    """Cluster and the provider for what goes into it. An attached cluster is known by its id and never touched."""

    cluster_id: pulumi.Output[str]
    cluster_name: pulumi.Output[str]
    kubernetes: k8s.Provider

    def __init__(self, name: str, args: GpuClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("doks-gpu:index:GpuCluster", name, None, opts)
        if args.spec.attached_id:
            self.cluster_id = pulumi.Output.from_input(args.spec.attached_id)
            self.cluster_name = pulumi.Output.from_input(args.spec.name)
            kubeconfig = pulumi.Output.from_input(_attached_kubeconfig(args.spec))
        else:
            cluster = self._made(name, args)
            self.cluster_id, self.cluster_name, kubeconfig = cluster.id, cluster.name, _kubeconfig(cluster)
        self.kubernetes = k8s.Provider(
            f"{name}-kubernetes",
            kubeconfig=kubeconfig,
            cluster_identifier=self.cluster_id,
            enable_server_side_apply=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"clusterId": self.cluster_id, "clusterName": self.cluster_name})

    def _made(self, name: str, args: GpuClusterArgs) -> do.KubernetesCluster:
        spec, pool, autoscaler = args.spec, args.spec.cpu_pool, args.spec.autoscaler
        return do.KubernetesCluster(
            name,
            name=spec.name,
            region=spec.region,
            version=spec.version,
            auto_upgrade=spec.auto_upgrade,
            ha=spec.high_availability,
            vpc_uuid=spec.vpc,
            cluster_subnet=spec.cluster_subnet,
            service_subnet=spec.service_subnet,
            destroy_all_associated_resources=spec.destroy_associated_resources,
            maintenance_policy=_maintenance(spec),
            cluster_autoscaler_configurations=[
                do.KubernetesClusterClusterAutoscalerConfigurationArgs(
                    expanders=list(autoscaler.expanders),
                    scale_down_utilization_threshold=autoscaler.scale_down_utilization,
                    scale_down_unneeded_time=autoscaler.scale_down_unneeded,
                )
            ],
            node_pool=do.KubernetesClusterNodePoolArgs(
                name=pool.name,
                size=pool.size,
                auto_scale=pool.autoscaled,
                min_nodes=pool.min if pool.autoscaled else None,
                max_nodes=pool.max if pool.autoscaled else None,
                node_count=pool.count,
            ),
            nvidia_gpu_device_plugin=do.KubernetesClusterNvidiaGpuDevicePluginArgs(enabled=True)
            if "nvidia" in args.vendors
            else None,
            amd_gpu_device_plugin=do.KubernetesClusterAmdGpuDevicePluginArgs(enabled=True)
            if "amd" in args.vendors
            else None,
            tags=list(spec.tags),
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=spec.protect,
                # Tags mark what this stack made; DigitalOcean upgrades the version by itself.
                ignore_changes=["tags", *(["version"] if spec.ignore_version else [])],
                custom_timeouts=pulumi.CustomTimeouts(create=spec.create_timeout),
            ),
        )


def _maintenance(spec: ClusterSpec) -> do.KubernetesClusterMaintenancePolicyArgs | None:
    if spec.maintenance is None:
        return None
    return do.KubernetesClusterMaintenancePolicyArgs(day=spec.maintenance.day, start_time=spec.maintenance.start)


def _attached_kubeconfig(spec: ClusterSpec) -> str:
    """Without an account (the offline preview) the address stays empty."""
    endpoint = spec.attached_endpoint
    server, certificate = (endpoint.server, endpoint.certificate_authority) if endpoint else ("", "")
    return exec_kubeconfig(str(spec.attached_id), server, certificate)


def _kubeconfig(cluster: do.KubernetesCluster) -> pulumi.Output[str]:
    """Of what the cluster resource stores about access, only the public certificate is used."""
    certificate = pulumi.Output.unsecret(cluster.kube_configs).apply(
        lambda configs: str(configs[0].cluster_ca_certificate or "") if configs else ""
    )
    return pulumi.Output.all(cluster.id, cluster.endpoint, certificate).apply(
        lambda parts: exec_kubeconfig(parts[0], parts[1], parts[2])
    )
