"""What a change does to the GPU pools, to the order in which they are tried, and to the time until fallback."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from doks_gpu.plan.compare.cluster import nodes
from doks_gpu.plan.compare.words import Location, Sentence
from doks_gpu.plan.report import WAYS, fallback_words, usd, way_wait

Plan = Mapping[str, Any]
Pool = Mapping[str, Any]


def pool_sentences(old: Plan, new: Plan, *, moved: bool) -> list[Sentence]:
    """Pools that come, go or change. `moved`: the cluster is another one, so every pool is made anew anyway."""
    before, after = _by_name(old), _by_name(new)
    sentences = [
        Sentence(f"**Added**: {_pool(pool)}, at most {usd(pool['usdPerHour'], pool['max'])} $/h.", _whole(pool, old))
        for name, pool in after.items()
        if name not in before
    ]
    sentences += [
        Sentence(f"**Removed**: {_pool(pool)}. What runs on it is drained.", _whole(pool, new))
        for name, pool in before.items()
        if name not in after
    ]
    for name in before.keys() & after.keys():
        sentences += [] if moved else _change(before[name], after[name])
        sentences += _price(before[name], after[name])
    return sorted(sentences, key=lambda sentence: sentence.text) + _orders(before, after)


def changed_names(old: Plan, new: Plan) -> set[str]:
    """Names of the pools that the sentences above speak of."""
    before, after = _by_name(old), _by_name(new)
    both = before.keys() & after.keys()
    same = {name for name in both if not _change(before[name], after[name]) and not _price(before[name], after[name])}
    return (before.keys() | after.keys()) - same


def _by_name(plan: Plan) -> dict[str, Pool]:
    return {pool["name"]: pool for pool in plan.get("pools", ())}


def _at(pool: Pool, *below: str) -> Location:
    return ("fleets", pool["fleet"], "tiers", pool["tier"], *below)


def _whole(pool: Pool, other_side: Plan) -> tuple[Location, ...]:
    """The tier; the fleet too where the other side does not have it."""
    fleets = {other["fleet"] for other in other_side.get("pools", ())}
    return (_at(pool),) if pool["fleet"] in fleets else (_at(pool), ("fleets", pool["fleet"]))


def _named(pool: Pool) -> str:
    return f"tier `{pool['tier']}` of fleet `{pool['fleet']}`"


def _pool(pool: Pool) -> str:
    kind = "Spot" if pool["isSpot"] else "on-demand"
    return f"{_named(pool)} ({kind}, `{pool['size']}`, {pool['vendor'].upper()}, {nodes(pool)} nodes)"


def _change(old: Pool, new: Pool) -> list[Sentence]:
    name, why = _named(new), _reasons(old, new)
    sentences = []
    if why:
        sentences.append(Sentence(f"**Replaced**, new pool first: {name} ({', '.join(why.values())}).", tuple(why)))
    if old["vendor"] != new["vendor"]:
        sentences.append(
            Sentence(
                f"**Vendor changed**: {name} goes from {old['vendor'].upper()} to {new['vendor'].upper()}. "
                "Images, drivers and GPU resource names are not interchangeable."
            )
        )
    if not why and (old["min"], old["max"]) != (new["min"], new["max"]):
        told = (_at(new, "min"), _at(new, "max"))
        sentences.append(Sentence(f"**Resized**: {name}, {nodes(old)} → {nodes(new)} nodes.", told))
    if not why and (old["labels"], old["taints"]) != (new["labels"], new["taints"]):
        sentences.append(Sentence(f"**Relabelled**: {name}, in place{_label(old, new)}."))
    return sentences


def _label(old: Pool, new: Pool) -> str:
    before, after = old["labels"].get("workload"), new["labels"].get("workload")
    return "" if before == after else f": pods that ask for `{before}` no longer fit, those that ask for `{after}` do"


def _reasons(old: Pool, new: Pool) -> dict[Location, str]:
    why = {}
    if old["size"] != new["size"]:
        why[_at(new, "size")] = f"size `{old['size']}` → `{new['size']}`"
    if old["generation"] != new["generation"]:
        why[_at(new, "generation")] = f"generation {old['generation']} → {new['generation']}"
    if new["isSpot"] and old["max"] != new["max"] and old["size"] == new["size"]:
        why[_at(new, "max")] = f"maximum {old['max']} → {new['max']}, which a Spot pool fixes at creation"
    return why


def _price(old: Pool, new: Pool) -> list[Sentence]:
    before, after = old["usdPerHour"], new["usdPerHour"]
    if before == after:
        return []
    text = f"Price per node of {_named(new)}: {before or 'unknown'} → {after or 'unknown'} $/h."
    return [Sentence(text, (_at(new, "usdPerHour"),))]


def _orders(before: Mapping[str, Pool], after: Mapping[str, Pool]) -> list[Sentence]:
    common = [name for name in after if name in before]
    sentences = []
    for fleet in dict.fromkeys(after[name]["fleet"] for name in common):
        names = [name for name in common if after[name]["fleet"] == fleet]
        old, new = _order([before[name] for name in names]), _order([after[name] for name in names])
        if old != new:
            told = tuple(_at(after[name], "priority") for name in names)
            sentences.append(Sentence(f"**Order changed** in fleet `{fleet}`: {_words(old)} → {_words(new)}.", told))
    return sentences


def _order(pools: Sequence[Pool]) -> list[list[str]]:
    """Tiers by level, highest first. The autoscaler chooses among those of one level at random."""
    levels = sorted({pool["level"] for pool in pools}, reverse=True)
    return [sorted(pool["tier"] for pool in pools if pool["level"] == level) for level in levels]


def _words(order: Sequence[Sequence[str]]) -> str:
    return " then ".join(" or ".join(f"`{tier}`" for tier in level) for level in order)


def fallback_sentences(old: Plan, new: Plan) -> list[Sentence]:
    """When on-demand capacity is asked for: later, sooner, never again, or for the first time."""
    if not old or not new:
        return []
    before, after = ({row["fleet"]: row for row in plan.get("fallback", ())} for plan in (old, new))
    found = [_fallback(fleet, before.get(fleet), after.get(fleet)) for fleet in dict.fromkeys((*after, *before))]
    return [sentence for sentence in found if sentence]


def _fallback(fleet: str, before: Plan | None, after: Plan | None) -> Sentence | None:
    if after is None:
        return Sentence(
            f"**No fallback any more**: fleet `{fleet}` has no on-demand tier behind Spot that can be read."
        )
    words = fallback_words(after)
    if before is None or before["mayNeverCome"] or after["mayNeverCome"]:
        if before and fallback_words(before) == words:
            return None
        return Sentence(f"**{words}**" if after["mayNeverCome"] else words)
    return _moved(fleet, before, after)


def _moved(fleet: str, before: Plan, after: Plan) -> Sentence | None:
    then = {way["way"]: way_wait(way) for way in before["ways"]}
    moved = [
        f"{then.get(way['way'], 'not at all')} → {way_wait(way)} when {WAYS.get(way['way'], way['way'])}"
        for way in after["ways"]
        if then.get(way["way"]) != way_wait(way)
    ]
    if not moved:
        return None
    old, new = (max(Decimal(str(way["latest"])) for way in side["ways"]) for side in (before, after))
    when = "at another time" if old == new else f"**{'later' if new > old else 'sooner'}**"
    text = f"On-demand capacity for fleet `{fleet}` is asked for {when}: {', '.join(moved)}."
    return Sentence(text, (("fleets", fleet, "fallbackAfter"),))
