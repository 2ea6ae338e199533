"""What a rule and a finding are, and what rules look at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from doks_gpu import catalog
from doks_gpu.plan.facts import Facts, LiveCluster
from doks_gpu.plan.pools import PoolSpec, UnreadableTier
from doks_gpu.plan.pricing import StackPricing
from doks_gpu.settings import Fleet, Service, Settings

Severity = Literal["error", "warning", "info"]
"""error: refused, nothing is registered; warning: it will be made, and somebody should know; info: said once,
no fault."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a rule found."""

    rule: str
    severity: Severity
    path: str
    """Key of the configuration that it is about, `fleets.batch.tiers[0].size`."""
    message: str
    """What is wrong or worth knowing, with the values."""
    way_out: str
    """What to change or do."""


@dataclass(frozen=True)
class Subject:
    """Everything that a rule may look at. Facts are None without an account."""

    settings: Settings
    facts: Facts | None
    pools: tuple[PoolSpec, ...]
    unreadable: tuple[UnreadableTier, ...]
    pricing: StackPricing

    @cached_property
    def by_fleet(self) -> Mapping[str, tuple[PoolSpec, ...]]:
        """Pools of each fleet in the order of the settings; a fleet without a pool has none."""
        return {name: tuple(pool for pool in self.pools if pool.fleet == name) for name in self.settings.fleets}

    @property
    def attached(self) -> bool:
        """The cluster is somebody else's: its own pools are neither ours nor counted."""
        return self.settings.cluster.id is not None

    @property
    def live_cluster(self) -> LiveCluster | None:
        """The cluster of this stack as the account shows it: the attached one, else the one with our tag."""
        wanted = self.settings.cluster.id
        clusters = self.facts.clusters if self.facts else ()
        found = (cluster for cluster in clusters if (cluster.id == wanted if wanted else cluster.ours))
        return next(found, None)

    def fleets(self) -> Iterable[tuple[str, Fleet, tuple[PoolSpec, ...]]]:
        """Name, settings and pools of each fleet that has a pool."""
        for name, fleet in self.settings.fleets.items():
            if self.by_fleet[name]:
                yield name, fleet, self.by_fleet[name]

    def whole_fleets(self) -> Iterable[tuple[str, Fleet, tuple[PoolSpec, ...]]]:
        """As `fleets`, without those that have a tier whose size cannot be read.

        For rules that conclude from what a fleet does not have: the unread tier may have it.
        """
        unread = {tier.fleet for tier in self.unreadable}
        return ((name, fleet, pools) for name, fleet, pools in self.fleets() if name not in unread)

    def services_of(self, fleet: str) -> Iterable[tuple[str, Service]]:
        """Name and settings of the services on a fleet."""
        return ((name, service) for name, service in self.settings.services.items() if service.fleet == fleet)

    def tier_path(self, pool: PoolSpec, key: str = "") -> str:
        """Path of a pool's tier, or of one of its keys."""
        path = f"fleets.{pool.fleet}.tiers[{pool.rank}]"
        return f"{path}.{key}" if key else path

    def regions_of(self, slug: str) -> frozenset[str]:
        """Regions that sell a size: what the account says, else what the catalogue has seen. Empty means
        unknown."""
        said = self.facts.sizes.get(slug) if self.facts else None
        return (said.regions if said else frozenset()) or catalog.regions_of(slug)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One trap. Its entry in docs/preflight.md has the same id."""

    id: str
    title: str
    severity: Severity
    """Of its findings, unless the check says otherwise for a harder case."""
    check: Callable[[Subject, "Rule"], Iterable[Finding]]

    def found(self, path: str, message: str, way_out: str, severity: Severity | None = None) -> Finding:
        """A finding of this rule."""
        return Finding(rule=self.id, severity=severity or self.severity, path=path, message=message, way_out=way_out)


Check = Callable[[Subject, Rule], Iterable[Finding]]


class RuleBook:
    """Collects the rules of one module in the order of their definition."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self._rules)

    def rule(self, id_: str, severity: Severity, title: str) -> Callable[[Check], Check]:
        """Registers a check as the rule `id_`."""

        def register(check: Check) -> Check:
            self._rules.append(Rule(id=id_, title=title, severity=severity, check=check))
            return check

        return register
