"""What the engine's state says, as far as the commands ask: resources, outputs, and creations that never ended."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

POOL_TYPE = "digitalocean:index/kubernetesNodePool:KubernetesNodePool"
CLUSTER_TYPE = "digitalocean:index/kubernetesCluster:KubernetesCluster"
STACK_TYPE = "pulumi:pulumi:Stack"
TEAM_OUTPUT = "teamId"


@dataclass(frozen=True)
class StateResource:
    """One resource of the engine's state."""

    urn: str
    type: str
    id: str
    outputs: Mapping[str, Any]
    external: bool
    protect: bool = False

    @property
    def name(self) -> str:
        return self.urn.rsplit("::", 1)[-1]


@dataclass(frozen=True)
class State:
    """The state of one stack; empty for a stack that was never deployed."""

    resources: tuple[StateResource, ...] = ()
    unfinished: tuple[str, ...] = ()
    """Names of resources that an `up` is making now, or was making when it was killed: the engine notes each creation
    before it begins."""
    saved_at: str = ""
    """When the engine last wrote it."""

    def of_type(self, type_: str) -> list[StateResource]:
        return [row for row in self.resources if row.type == type_]

    @property
    def pools(self) -> list[StateResource]:
        """GPU pools: the CPU pool is part of its cluster."""
        return self.of_type(POOL_TYPE)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(row.id for row in self.resources if row.id)

    @property
    def made_clusters(self) -> list[StateResource]:
        """Clusters that this stack made; not the one that it is attached to."""
        return [row for row in self.of_type(CLUSTER_TYPE) if not row.external]

    @property
    def cluster_ids(self) -> frozenset[str]:
        """Made and attached."""
        known = {row.id for row in self.of_type(CLUSTER_TYPE) if row.id}
        return frozenset(known | {str(row.outputs["clusterIdentifier"]) for row in self.resources if _names(row)})

    @property
    def team_id(self) -> str | None:
        """The team whose token deployed the stack last; None before the first `up`."""
        for row in self.of_type(STACK_TYPE):
            team = row.outputs.get(TEAM_OUTPUT)
            return team if isinstance(team, str) else None
        return None


def parse_state(text: str) -> State:
    """Reads what `pulumi stack export` prints."""
    deployment = json.loads(text).get("deployment") or {}
    rows = deployment.get("resources") or []
    operations = deployment.get("pending_operations") or []
    return State(
        resources=tuple(_resource(row) for row in rows),
        unfinished=tuple(
            operation["resource"]["urn"].rsplit("::", 1)[-1]
            for operation in operations
            if operation["type"] == "creating"
        ),
        saved_at=(deployment.get("manifest") or {}).get("time", ""),
    )


def _resource(row: Mapping[str, Any]) -> StateResource:
    return StateResource(
        urn=row["urn"],
        type=row["type"],
        id=row.get("id", ""),
        outputs=row.get("outputs") or {},
        external=bool(row.get("external")),
        protect=bool(row.get("protect")),
    )


def _names(row: StateResource) -> bool:
    return bool(row.outputs.get("clusterIdentifier"))
