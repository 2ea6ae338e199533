"""The whole plan of a stack: settings and facts in, everything that the program registers out. No input or
output."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from doks_gpu.errors import RefusedError
from doks_gpu.plan import names, preflight
from doks_gpu.plan.cluster import ClusterSpec, cluster_spec
from doks_gpu.plan.facts import Facts
from doks_gpu.plan.fallback import FleetFallback, fleet_fallback
from doks_gpu.plan.jobs import JobSpec, job_specs
from doks_gpu.plan.pools import PoolSpec, derive_pools
from doks_gpu.plan.preflight import Finding
from doks_gpu.plan.pricing import StackPricing, cents, stack_pricing
from doks_gpu.settings import Settings


@dataclass(frozen=True, kw_only=True)
class LimitsSpec:
    """The limits that the plan was checked against. None, or a model that is not named: not checked."""

    droplets: int | None
    running_droplets: int
    gpus: Mapping[str, int]
    usd_per_hour: Decimal


@dataclass(frozen=True, kw_only=True)
class StackPlan:
    """What a stack consists of, what it costs, and what is wrong with it."""

    project: str
    stack: str
    region: str
    cluster: ClusterSpec
    pools: tuple[PoolSpec, ...]
    """In the order of the settings; a tier that is disabled or whose size cannot be read has none."""
    namespace: str
    """Where the jobs go."""
    jobs: tuple[JobSpec, ...]
    limits: LimitsSpec
    pricing: StackPricing
    fallback: tuple[FleetFallback, ...]
    """Fleets with on-demand tiers behind Spot; none for a fleet with a tier that cannot be read."""
    findings: tuple[Finding, ...]
    """Errors first."""
    previous_ids: Mapping[str, str]
    """Pool name to the id of its live pool, as far as the account knows it."""
    team_id: str | None
    """The team of the token; an output, so that a later run with another team's token is refused. None offline."""

    @property
    def levels(self) -> Mapping[str, int]:
        """Pool name to its level in the autoscaler's priority map."""
        return {pool.name: pool.level for pool in self.pools}

    @property
    def makes_namespace(self) -> bool:
        """Whether the namespace is a resource of the stack."""
        return bool(self.jobs) and self.namespace not in names.GIVEN_NAMESPACES

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def pools_by_fleet(self) -> Mapping[str, tuple[PoolSpec, ...]]:
        """Pools of each fleet that has any, in the order of the settings."""
        fleets = dict.fromkeys(pool.fleet for pool in self.pools)
        return {fleet: tuple(pool for pool in self.pools if pool.fleet == fleet) for fleet in fleets}

    def refuse_errors(self) -> None:
        """Raises `RefusedError` with every error in one message."""
        if not self.errors:
            return
        lines = [f"- {e.path}: {e.message} {e.way_out} [{e.rule}]" for e in self.errors]
        raise RefusedError(
            f"Stack {self.stack} was refused; nothing was made. {len(lines)} error(s):\n" + "\n".join(lines)
        )


def make_plan(settings: Settings, facts: Facts | None, *, project: str, stack: str) -> StackPlan:
    """Derives the plan. `facts` is None without an account.

    Raises `RefusedError` only when project and stack do not fit into a tag; everything else is a finding.
    """
    pools, unreadable = derive_pools(settings, facts, project=project, stack=stack)
    pricing = stack_pricing(settings, pools, unreadable, facts)
    subject = preflight.Subject(settings, facts, pools, unreadable, pricing)
    fallbacks = (
        fleet_fallback(name, fleet_pools, fleet.fallback_after) for name, fleet, fleet_pools in subject.whole_fleets()
    )
    return StackPlan(
        project=project,
        stack=stack,
        region=settings.region,
        cluster=cluster_spec(settings, facts, project=project, stack=stack),
        pools=pools,
        namespace=settings.namespace,
        jobs=job_specs(settings, pools),
        limits=LimitsSpec(
            droplets=settings.limits.droplets,
            running_droplets=settings.limits.running_droplets,
            gpus=settings.limits.gpus,
            usd_per_hour=settings.limits.usd_per_hour,
        ),
        pricing=pricing,
        fallback=tuple(fallback for fallback in fallbacks if fallback),
        findings=preflight.run(subject),
        previous_ids=_previous_ids(subject),
        team_id=facts.team_id if facts else None,
    )


def as_dict(plan: StackPlan) -> dict[str, Any]:
    """The plan as JSON values: camelCase keys, money as text, waits in seconds, dates in ISO form.

    A pool has its price as `usdPerHour` too, None when unknown; a fleet's fallback says `mayNeverCome`. A job's
    manifest is left to the resources, where values that nobody should read are hidden.
    """
    told: dict[str, Any] = _json(plan)
    told["levels"] = dict(plan.levels)
    told["pricing"] |= {"hourly": plan.pricing.output(), "idlePerMonth": cents(plan.pricing.idle_per_month)}
    for fallback, spec in zip(told["fallback"], plan.fallback, strict=True):
        fallback["mayNeverCome"] = spec.may_never_come
    for pool in told["pools"]:
        pool["usdPerHour"] = pool["price"]["usdPerHour"]
    for job in told["jobs"]:
        del job["manifest"], job["hidden"]
    return told


def _previous_ids(subject: preflight.Subject) -> Mapping[str, str]:
    """Of two live pools of one tier (one is an orphan) the higher generation counts, then the lower id."""
    cluster = subject.live_cluster
    if subject.facts is None or cluster is None:
        return {}
    here = (pool for pool in subject.facts.pools if pool.cluster_id == cluster.id)
    live: dict[tuple[str, str], str] = {}
    for pool in sorted(here, key=lambda pool: (-pool.generation, pool.id)):
        live.setdefault((pool.fleet, pool.tier), pool.id)
    return {spec.name: live[spec.fleet, spec.tier] for spec in subject.pools if (spec.fleet, spec.tier) in live}


def _json(value: Any) -> Any:
    if is_dataclass(value):
        return {_camel(field.name): _json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_json(item) for item in value]
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.isoformat() if isinstance(value, date) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
