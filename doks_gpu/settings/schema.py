"""The whole configuration of a stack, in one tree."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from doks_gpu.settings.addons import Checkpoints, Keda, Monitoring
from doks_gpu.settings.cluster import Cluster
from doks_gpu.settings.fleets import NAME_LIMIT, Fleet, FleetName, Limits
from doks_gpu.settings.types import (
    Label,
    Region,
    Section,
    TextOrNothing,
    WorkloadName,
    at_least_one,
    is_dns_label,
)
from doks_gpu.settings.workloads import Checks, Job, Service


class Settings(Section):
    """Everything under `doks-gpu:`; made by `doks_gpu.settings.load` alone."""

    region: Region
    team: TextOrNothing = None
    """Name or id that the token's team must have; None: not compared."""
    namespace: Label = "gpu"
    """Where services, jobs and checks go."""
    cluster: Cluster = Cluster()
    fleets: Annotated[dict[FleetName, Fleet], AfterValidator(at_least_one("fleet"))]
    limits: Limits
    monitoring: Monitoring = Monitoring()
    keda: Keda = Keda()
    services: dict[WorkloadName, Service] = Field(default_factory=dict)
    jobs: dict[WorkloadName, Job] = Field(default_factory=dict)
    checks: Checks = Checks()
    checkpoints: Checkpoints = Checkpoints()

    @field_validator("fleets", mode="before")
    @classmethod
    def _workload_is_named_after_the_fleet(cls, fleets: Any) -> Any:
        if not isinstance(fleets, dict):
            return fleets
        return {name: _with_workload(name, fleet) for name, fleet in fleets.items()}


def _with_workload(name: Any, fleet: Any) -> Any:
    """A name that is no name gets a label that is one: it has an error of its own already."""
    if not isinstance(fleet, dict) or fleet.get("workload") is not None:
        return fleet
    usable = is_dns_label(name) and len(name) <= NAME_LIMIT
    return fleet | {"workload": f"gpu-{name}" if usable else "gpu"}
