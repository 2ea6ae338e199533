"""Request bodies as the API takes them: null means unchanged or unset, and an unknown field is ignored.

Taints may come with capital keys: DigitalOcean's Go client writes them so.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from rehearsal.digitalocean.model import Taint

_TAG = re.compile(r"[a-zA-Z0-9:\-_]{1,255}")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_DURATION = re.compile(r"(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+")

EXPANDERS = ("random", "priority", "least_waste", "least-waste")
"""The API's text and the documentation spell the third differently; both are taken."""

PLUGINS = (
    "nvidia_gpu_device_plugin",
    "amd_gpu_device_plugin",
    "amd_gpu_device_metrics_exporter_plugin",
    "rdma_shared_dev_plugin",
    "nvidia_gpu_dra_driver",
    "amd_gpu_dra_driver",
    "coredns_autoscaler",
    "routing_agent",
    "p2p_oci_registry_plugin",
    "nfs_csi_plugin",
    "gpu_operator_ready",
)


def _tag(text: str) -> str:
    if not _TAG.fullmatch(text):
        raise ValueError("a tag has 1 to 255 letters, digits, colons, dashes and underscores")
    return text


def _label_value(text: str) -> str:
    if not _LABEL_VALUE.fullmatch(text):
        raise ValueError("not a Kubernetes label value")
    return text


def _expander(text: str) -> str:
    if text not in EXPANDERS:
        raise ValueError(f"expander must be one of {', '.join(EXPANDERS[:3])}")
    return text


def _duration(text: str) -> str:
    if text and not _DURATION.fullmatch(text):
        raise ValueError("not a duration such as 10m0s")
    return text


def _lower_keys(value: object) -> object:
    return {str(key).lower(): item for key, item in value.items()} if isinstance(value, Mapping) else value


Tag = Annotated[str, AfterValidator(_tag)]
Name = Annotated[str, Field(min_length=1, max_length=255)]
Labels = dict[Annotated[str, Field(min_length=1)], Annotated[str, AfterValidator(_label_value)]]
Count = Annotated[int, Field(ge=0)]


class Body(BaseModel):
    """Any request body."""

    model_config = ConfigDict(frozen=True)


class TaintBody(Body):
    """One taint."""

    key: Annotated[str, Field(min_length=1)]
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

    def taint(self) -> Taint:
        """As the stand-in keeps it."""
        return Taint(key=self.key, value=self.value, effect=self.effect)


Taints = list[Annotated[TaintBody, BeforeValidator(_lower_keys)]]


class PoolCreate(Body):
    """A new pool, alone or within a new cluster."""

    name: Name
    size: Name
    count: Count | None = None
    tags: list[Tag] | None = None
    labels: Labels | None = None
    taints: Taints | None = None
    auto_scale: bool | None = None
    min_nodes: Count | None = None
    max_nodes: Count | None = None
    gpu_partition_mode: Literal["AMD_PARTITION_MODE_SPX_NPS1", "AMD_PARTITION_MODE_DPX_NPS2", ""] | None = None


class PoolUpdate(Body):
    """A changed pool: null and absent leave a field as it is."""

    name: Name | None = None
    count: Count | None = None
    tags: list[Tag] | None = None
    labels: Labels | None = None
    taints: Taints | None = None
    auto_scale: bool | None = None
    min_nodes: Count | None = None
    max_nodes: Count | None = None


class Autoscaler(Body):
    """0, "" and [] un-set a field; null leaves it as it is."""

    scale_down_utilization_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    scale_down_unneeded_time: Annotated[str, AfterValidator(_duration)] | None = None
    expanders: list[Annotated[str, AfterValidator(_expander)]] | None = None

    def over(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """What is set afterwards."""
        sent = {key: value for key, value in self.model_dump().items() if value is not None}
        return {key: value for key, value in {**before, **sent}.items() if value}


class Maintenance(Body):
    """When DOKS may upgrade."""

    day: Literal["any", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", ""] | None = None
    start_time: str | None = None

    def over(self, before: Mapping[str, str]) -> dict[str, str]:
        """The window after this request; DigitalOcean sets its length."""
        sent = {key: value for key, value in self.model_dump().items() if value}
        return {**before, **sent}


class Plugin(Body):
    """A switch; null leaves it to DOKS, or as it is."""

    enabled: bool | None = None


class ClusterSettings(Body):
    """What creation and update of a cluster share."""

    tags: list[Tag] | None = None
    ha: bool | None = None
    auto_upgrade: bool | None = None
    surge_upgrade: bool | None = None
    maintenance_policy: Maintenance | None = None
    cluster_autoscaler_configuration: Autoscaler | None = None
    control_plane_firewall: dict[str, Any] | None = None
    sso: dict[str, Any] | None = None
    nvidia_gpu_device_plugin: Plugin | None = None
    amd_gpu_device_plugin: Plugin | None = None
    amd_gpu_device_metrics_exporter_plugin: Plugin | None = None
    rdma_shared_dev_plugin: Plugin | None = None
    nvidia_gpu_dra_driver: Plugin | None = None
    amd_gpu_dra_driver: Plugin | None = None
    coredns_autoscaler: Plugin | None = None
    routing_agent: Plugin | None = None
    p2p_oci_registry_plugin: Plugin | None = None
    nfs_csi_plugin: Plugin | None = None
    gpu_operator_ready: Plugin | None = None

    def switched(self) -> dict[str, bool]:
        """The plugins that this request switches on or off."""
        asked = {name: getattr(self, name) for name in PLUGINS}
        return {name: plugin.enabled for name, plugin in asked.items() if plugin and plugin.enabled is not None}


class ClusterCreate(ClusterSettings):
    """A new cluster."""

    name: Name
    region: Name
    version: Name
    node_pools: Annotated[list[PoolCreate], Field(min_length=1)]
    vpc_uuid: str | None = None
    worker_subnet_uuid: str | None = None
    cluster_subnet: str | None = None
    service_subnet: str | None = None
    isolated_workers: bool | None = None


class ClusterUpdate(ClusterSettings):
    """A changed cluster."""

    name: Name | None = None


class Upgrade(Body):
    """The version to go to."""

    version: Name


class Recycle(Body):
    """Nodes to be made anew."""

    nodes: list[str]


class Registry(Body):
    """Clusters that may pull from the account's registry."""

    cluster_uuids: list[str]


class Grant(Body):
    """What a Spaces key may do. An unknown permission becomes an empty one, as with DigitalOcean."""

    bucket: str = ""
    permission: str = ""


class SpacesKeyBody(Body):
    """A new or changed Spaces key."""

    name: Name
    grants: list[Grant] | None = None


class SpacesKeyPatch(Body):
    """A Spaces key with another name or other grants."""

    name: Name | None = None
    grants: list[Grant] | None = None


class VpcCreate(Body):
    """A new private network."""

    name: Name
    region: Name
    description: str = ""
    ip_range: str | None = None


class VpcUpdate(Body):
    """A changed private network."""

    name: Name | None = None
    description: str | None = None
    default: bool | None = None
