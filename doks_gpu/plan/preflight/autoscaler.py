"""Rules about what DOKS's cluster autoscaler will and will not do.

Its behaviour: cluster-autoscaler 1.36.1, seen on 2026-12-01; DOKS runs a build of its own.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from doks_gpu.plan.fallback import PROVISION_TIMEOUT, WHY_NEVER, fleet_fallback, never_words
from doks_gpu.plan.pools import PoolSpec, by_preference
from doks_gpu.plan.preflight.model import Finding, Rule, RuleBook, Subject
from doks_gpu.plan.pricing import cents

BOOK = RuleBook()

ROOM_WITHOUT_WARNING = 1
"""Nodes that an autoscaled Spot pool may have above its minimum: the least that there is, one timeout until
fallback."""


@BOOK.rule("fallback-at-zero", "warning", "A fallback at zero may never wake")
def _fallback_at_zero(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, fleet, pools in subject.fleets():
        asked = by_preference(pools)
        for place, pool in enumerate(asked):
            behind_spot = any(earlier.is_spot for earlier in asked[:place])
            if pool.is_spot or pool.min > 0 or not behind_spot:
                continue
            knocks = " and the pods of fallbackAfter cannot wake it either" if fleet.fallback_after else ""
            yield rule.found(
                subject.tier_path(pool, "min"),
                f"On-demand tier {pool.tier} of fleet {name} may be at zero when Spot fails: "
                f"{WHY_NEVER['at-zero']}{knocks}.",
                "Set min to 1.",
                "error" if fleet.fallback_after else None,
            )


@BOOK.rule("fallback-fixed", "warning", "No fallback can grow")
def _fallback_fixed(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, fleet, pools in subject.whole_fleets():
        found = fleet_fallback(name, pools, fleet.fallback_after)
        refused_already = fleet.fallback_after and not _on_demand_grows(pools)
        if found and found.why_never == "fixed" and not refused_already:
            yield rule.found(
                f"fleets.{name}.tiers",
                f"{never_words(found)} Waiting pods get only the room on nodes that already run.",
                "Set min below max on an on-demand tier after Spot, or accept the wait.",
            )


@BOOK.rule("fleet-may-sleep", "warning", "A whole fleet may be at zero")
def _fleet_may_sleep(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.whole_fleets():
        if _may_sleep(pools):
            yield rule.found(
                f"fleets.{name}.tiers",
                f"All {len(pools)} tier(s) may be at zero, and a GPU pool at zero may never wake: upstream "
                "the autoscaler does not know that its nodes have GPUs; what DOKS's build does is "
                "unproven.",
                "Set min to 1 on the tier that must always answer.",
            )


@BOOK.rule("service-may-sleep", "warning", "A service may find no node")
def _service_may_sleep(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.whole_fleets():
        for service, said in subject.services_of(name):
            if said.replicas.min > 0 and _may_sleep(pools):
                yield rule.found(
                    f"services.{service}.fleet",
                    f"Service {service} needs {said.replicas.min} replica(s) and every tier of fleet "
                    f"{name} may be at zero.",
                    f"Set min to 1 on an on-demand tier of fleet {name}.",
                )


@BOOK.rule("spot-ceiling-room", "warning", "Room under a Spot ceiling delays the fallback and can run away")
def _spot_ceiling_room(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for _, fleet, pools in subject.fleets():
        for pool in pools:
            room = pool.max - pool.min
            if not pool.is_spot or room <= ROOM_WITHOUT_WARNING:
                continue
            minutes = int(PROVISION_TIMEOUT.total_seconds() / 60) * room
            usd = pool.price.usd_per_hour
            runaway = "an unknown number of" if usd is None else cents(room * usd)
            bounded = " (fallbackAfter bounds that)" if fleet.fallback_after else ""
            yield rule.found(
                subject.tier_path(pool, "max"),
                f"{pool.name} may grow by {room} nodes. When Spot accepts nodes that never boot, one after "
                f"another is asked for, up to {minutes} minutes before the fallback{bounded}; when GPUs "
                f"show up late, one waiting pod can buy all of them, {runaway} $/hour.",
                f"Set max closer to min ({pool.min}), or min higher.",
            )


@BOOK.rule("fallback-parts", "error", "fallbackAfter needs monitoring and KEDA")
def _fallback_parts(subject: Subject, rule: Rule) -> Iterable[Finding]:
    parts = {"monitoring": subject.settings.monitoring.enabled, "keda": subject.settings.keda.enabled}
    missing = [name for name, enabled in parts.items() if not enabled]
    for name, fleet, _ in subject.fleets():
        if fleet.fallback_after and missing:
            yield rule.found(
                f"fleets.{name}.fallbackAfter",
                "The wait is counted by Prometheus and ended by KEDA, but "
                f"{' and '.join(f'{part}.enabled' for part in missing)} is false.",
                "Enable what is missing, or leave fallbackAfter out and live with the autoscaler's own times.",
            )


@BOOK.rule("fallback-cannot-grow", "error", "fallbackAfter has nothing to ask for")
def _fallback_cannot_grow(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, fleet, pools in subject.whole_fleets():
        if fleet.fallback_after and not _on_demand_grows(pools):
            yield rule.found(
                f"fleets.{name}.fallbackAfter",
                f"Fleet {name} has no on-demand tier that the autoscaler can raise (min below max).",
                "Add an on-demand tier with min below max, or leave fallbackAfter out.",
            )


@BOOK.rule("attached-expander", "error", "The attached cluster does not look at priorities")
def _attached_expander(subject: Subject, rule: Rule) -> Iterable[Finding]:
    live = subject.live_cluster
    if subject.attached and live and live.expanders[:1] != ("priority",):
        shown = ", ".join(live.expanders) or "DOKS's default (random)"
        yield rule.found(
            "cluster.id",
            f"The autoscaler of cluster {live.name} chooses by {shown}: `priority` must come first, else "
            "Spot is not preferred and a dear pool may be picked.",
            f"Run: doctl kubernetes cluster update {live.id} --expanders priority,random",
        )


@BOOK.rule("priority-order", "warning", "priority turns a fleet's order around")
def _priority_order(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.fleets():
        for earlier, later in pairwise(pools):
            if earlier.level > later.level:
                continue
            effect = "the choice between them is random" if earlier.level == later.level else f"{later.tier} goes first"
            yield rule.found(
                subject.tier_path(later, "priority"),
                f"In fleet {name}, {earlier.tier} is on level {earlier.level} and {later.tier} on level "
                f"{later.level}: {effect}, against the order of the tiers.",
                "Give the tiers levels that fall in their order, or leave priority out.",
            )


def _may_sleep(pools: Sequence[PoolSpec]) -> bool:
    return all(pool.min == 0 for pool in pools)


def _on_demand_grows(pools: Sequence[PoolSpec]) -> bool:
    return any(pool.autoscaled and not pool.is_spot for pool in pools)
