"""What a change does to a stack, in words: two previews in, sentences out.

Both sides are answers of `offline.py` (its JSON), so that one side can come from another checkout of the program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Answer = Mapping[str, Any]
Pool = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Sentences by subject. Empty lists mean that nothing of that kind changes."""

    stack: str
    cluster: tuple[str, ...]
    pools: tuple[str, ...]
    limits: tuple[str, ...]
    price: tuple[str, ...]
    new_findings: tuple[Mapping[str, str], ...]
    gone_findings: tuple[Mapping[str, str], ...]
    manifests: tuple[str, ...]
    other: tuple[str, ...]

    @property
    def refused(self) -> bool:
        """The change would be refused: at least one new finding is an error."""
        return any(finding["severity"] == "error" for finding in self.new_findings)

    @property
    def empty(self) -> bool:
        return not any(
            (
                self.cluster,
                self.pools,
                self.limits,
                self.price,
                self.new_findings,
                self.gone_findings,
                self.manifests,
                self.other,
            )
        )


def compare(before: Answer | None, after: Answer | None, stack: str) -> Comparison:
    """`before` is None for a stack that is new, `after` for one that is removed."""
    old, new = (before or {}).get("plan") or {}, (after or {}).get("plan") or {}
    moved = _replaces_cluster(old, new)
    return Comparison(
        stack=stack,
        cluster=tuple(_cluster(old, new)),
        pools=tuple(_pools(old, new, moved=moved)),
        limits=tuple(_limits(old, new)),
        price=tuple(_price(old, new)),
        new_findings=tuple(_findings(new, old)),
        gone_findings=tuple(_findings(old, new)),
        manifests=tuple(_manifests(before, after)),
        other=tuple(_others(before, after)),
    )


def _replaces_cluster(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if not old or not new:
        return False
    return bool(_replacing(old["cluster"], new["cluster"]))


REPLACING = ("region", "vpc", "clusterSubnet", "serviceSubnet", "attachedId")
"""Fixed at a cluster's creation (doks-facts, section 6b)."""


def _replacing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    changed = [f"{key} {old[key]} → {new[key]}" for key in REPLACING if old.get(key) != new.get(key)]
    if old["cpuPool"]["size"] != new["cpuPool"]["size"]:
        changed.append(f"size of the CPU pool {old['cpuPool']['size']} → {new['cpuPool']['size']}")
    return changed


def _cluster(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    if not old and not new:
        return []
    if not old:
        return [f"New stack: cluster {new['cluster']['name']} in {new['region']}."]
    if not new:
        return [f"The stack's file is removed; cluster {old['cluster']['name']} lives on until `doks-gpu destroy`."]
    before, after = old["cluster"], new["cluster"]
    if reasons := _replacing(before, after):
        guard = " The cluster is protected: the engine will refuse." if before.get("protect") else ""
        return [f"**Replaces the cluster and every pool** ({', '.join(reasons)}).{guard}"]
    words = {
        "name": "Cluster name",
        "version": "Kubernetes version",
        "autoUpgrade": "Automatic upgrades",
        "highAvailability": "High availability",
        "protect": "Protection against destroy and replacement",
        "maintenance": "Maintenance window",
        "autoscaler": "Autoscaler settings",
        "destroyAssociatedResources": "Destroying associated resources",
    }
    lines = [
        f"{text}: {_word(before.get(key))} → {_word(after.get(key))}."
        for key, text in words.items()
        if before.get(key) != after.get(key)
    ]
    cpu_before, cpu_after = _nodes(before["cpuPool"]), _nodes(after["cpuPool"])
    if cpu_before != cpu_after:
        lines.append(f"CPU pool: {cpu_before} → {cpu_after} nodes.")
    return lines


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_word(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " then ".join(str(item) for item in value)
    return {None: "DOKS's default", True: "on", False: "off"}.get(value, str(value))


def _nodes(pool: Pool) -> str:
    return str(pool["max"]) if pool["min"] == pool["max"] else f"{pool['min']}–{pool['max']}"


def _pools(old: Mapping[str, Any], new: Mapping[str, Any], *, moved: bool) -> list[str]:
    before = {pool["name"]: pool for pool in old.get("pools", ())}
    after = {pool["name"]: pool for pool in new.get("pools", ())}
    lines = [
        f"**Added**: {_pool(pool)}, at most {_usd(pool, 'max')} $/h."
        for name, pool in after.items()
        if name not in before
    ]
    lines += [
        f"**Removed**: {_pool(pool)}. What runs on it is drained." for name, pool in before.items() if name not in after
    ]
    for name in before.keys() & after.keys() if not moved else ():
        lines += _pool_change(before[name], after[name])
    return sorted(lines)


def _pool(pool: Pool) -> str:
    kind = "Spot" if pool["isSpot"] else "on-demand"
    return (
        f"tier `{pool['tier']}` of fleet `{pool['fleet']}` ({kind}, `{pool['size']}`, {pool['vendor'].upper()}, "
        f"{_nodes(pool)} nodes)"
    )


def _pool_change(old: Pool, new: Pool) -> list[str]:
    name = f"tier `{new['tier']}` of fleet `{new['fleet']}`"
    why = []
    if old["size"] != new["size"]:
        why.append(f"size `{old['size']}` → `{new['size']}`")
    if old["generation"] != new["generation"]:
        why.append(f"generation {old['generation']} → {new['generation']}")
    if new["isSpot"] and old["max"] != new["max"] and old["size"] == new["size"]:
        why.append(f"maximum {old['max']} → {new['max']}, which a Spot pool fixes at creation")
    lines = [f"**Replaced**, new pool first: {name} ({', '.join(why)})."] if why else []
    if old["vendor"] != new["vendor"]:
        lines.append(
            f"**Vendor changed**: {name} goes from {old['vendor'].upper()} to {new['vendor'].upper()}. "
            "Images, drivers and GPU resource names are not interchangeable."
        )
    if not why and (old["min"], old["max"]) != (new["min"], new["max"]):
        lines.append(f"**Resized**: {name}, {_nodes(old)} → {_nodes(new)} nodes.")
    if not why and (old["labels"], old["taints"]) != (new["labels"], new["taints"]):
        lines.append(f"**Relabelled**: {name}, in place.")
    if old["usdPerHour"] != new["usdPerHour"]:
        lines.append(f"Price per node of {name}: {old['usdPerHour']} → {new['usdPerHour']} $/h.")
    return lines


def _usd(pool: Pool, bound: str) -> str:
    return "unknown" if pool["usdPerHour"] is None else f"{Decimal(pool['usdPerHour']) * pool[bound]:.2f}"


def _limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    if not old or not new:
        return []
    before, after = old["limits"], new["limits"]
    words = {
        "usdPerHour": "Price cap ($/h)",
        "droplets": "Droplet limit",
        "runningDroplets": "Droplets that run elsewhere",
    }
    lines = [
        _moved(text, before.get(key), after.get(key))
        for key, text in words.items()
        if before.get(key) != after.get(key)
    ]
    models = sorted({*before["gpus"], *after["gpus"]})
    lines += [
        _moved(f"GPU limit for {model}", before["gpus"].get(model), after["gpus"].get(model))
        for model in models
        if before["gpus"].get(model) != after["gpus"].get(model)
    ]
    return lines


def _moved(text: str, old: Any, new: Any) -> str:
    if old is None or new is None:
        return f"{text}: {'not limited' if old is None else old} → {'not limited' if new is None else new}."
    verb = "raised" if Decimal(str(new)) > Decimal(str(old)) else "lowered"
    return f"{text} **{verb}**: {old} → {new}."


def _price(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    words = {"min": "At least", "max": "At most", "peak": "Peak during a replacement"}
    before = (old.get("pricing") or {}).get("hourly") or {}
    after = (new.get("pricing") or {}).get("hourly") or {}
    return [
        f"{text}: {_money(before.get(key))} → {_money(after.get(key))} $/h."
        for key, text in words.items()
        if before.get(key) != after.get(key)
    ]


def _money(value: str | None) -> str:
    return "nothing" if value is None else f"{Decimal(value):.2f}"


def _findings(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[Mapping[str, str]]:
    known = {(f["rule"], f["path"], f["message"]) for f in there.get("findings", ())}
    return [
        finding
        for finding in here.get("findings", ())
        if finding["severity"] != "info" and (finding["rule"], finding["path"], finding["message"]) not in known
    ]


def _manifests(before: Answer | None, after: Answer | None) -> list[str]:
    if _refused(before) or _refused(after):
        return []
    return _differences(_by_name(before, kubernetes=True), _by_name(after, kubernetes=True))


def _refused(answer: Answer | None) -> bool:
    """A refused program registers nothing: there is nothing to compare with."""
    return bool(answer and answer.get("refused"))


def _others(before: Answer | None, after: Answer | None) -> list[str]:
    """Resource options are not in the plan: a lost `protect` must not pass unseen."""
    old, new = _by_name(before, kubernetes=False), _by_name(after, kubernetes=False)
    return [
        f"Engine options of {name} change."
        for name in sorted(old.keys() & new.keys())
        if old[name]["options"] != new[name]["options"]
    ]


def _by_name(answer: Answer | None, *, kubernetes: bool) -> dict[str, Any]:
    rows: Sequence[Any] = (answer or {}).get("resources") or ()
    return {
        f"{row['type'].rsplit(':', 1)[-1]} {row['name']}": row
        for row in rows
        if row["type"].startswith("kubernetes:") is kubernetes
    }


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = [f"Added: {name}." for name in new if name not in old]
    lines += [f"Removed: {name}." for name in old if name not in new]
    lines += [
        f"Changed: {name}."
        for name in old.keys() & new.keys()
        if (old[name]["inputs"], old[name]["options"]) != (new[name]["inputs"], new[name]["options"])
    ]
    return sorted(lines)
