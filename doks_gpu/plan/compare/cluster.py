"""What a change does to the cluster: nothing, in place, a replacement, or another cluster altogether."""

import re
from collections.abc import Mapping
from typing import Any

from doks_gpu.plan import versions
from doks_gpu.plan.compare.words import Location, Sentence, code

Plan = Mapping[str, Any]
Cluster = Mapping[str, Any]

REPLACING: Mapping[str, Location] = {
    "region": ("region",),
    "vpc": ("cluster", "vpc"),
    "clusterSubnet": ("cluster", "clusterSubnet"),
    "serviceSubnet": ("cluster", "serviceSubnet"),
}
"""Fixed at a cluster's creation (DigitalOcean's API reference and the provider's schema, read 2026-11-30)."""

IN_PLACE: Mapping[str, tuple[str, Location]] = {
    "name": ("Cluster name", ("cluster", "name")),
    "version": ("Kubernetes version", ("cluster", "version")),
    "autoUpgrade": ("Automatic upgrades", ("cluster", "autoUpgrade")),
    "highAvailability": ("High availability", ("cluster", "highAvailability")),
    "protect": ("Protection against destroy and replacement", ("cluster", "protect")),
    "maintenance": ("Maintenance window", ("cluster", "maintenance")),
    "autoscaler": ("Autoscaler settings", ("cluster", "scaleDown")),
    "destroyAssociatedResources": ("Destroying associated resources", ("cluster", "destroyAssociatedResources")),
}
CPU_NODES: tuple[Location, ...] = (("cluster", "cpuPool", "min"), ("cluster", "cpuPool", "max"))
PROTECTED = " The cluster is protected: the engine will refuse."


def moves(old: Plan, new: Plan) -> bool:
    """Every pool is made anew, because the cluster is another one afterwards."""
    if not old or not new:
        return False
    before, after = old["cluster"], new["cluster"]
    return before["attachedId"] != after["attachedId"] or bool(_reasons(before, after))


def cluster_sentences(old: Plan, new: Plan) -> list[Sentence]:
    """A stack that is new or removed has one sentence; so has another cluster."""
    if not old and not new:
        return []
    if not old:
        return [Sentence(_new(new))]
    if not new:
        return [Sentence(_removed(old))]
    before, after = old["cluster"], new["cluster"]
    if before["attachedId"] != after["attachedId"]:
        return [Sentence(_attachment(before, after), (("cluster", "id"), ("cluster", "name")))]
    if after["attachedId"]:
        return []
    return [*_replacement(before, after), *_in_place(before, after)]


def _new(new: Plan) -> str:
    cluster = new["cluster"]
    if cluster["attachedId"]:
        return f"New stack: pools in existing cluster {code(cluster['attachedId'])} in {new['region']}."
    return f"New stack: cluster {cluster['name']} in {new['region']}."


def _removed(old: Plan) -> str:
    cluster, pools = old["cluster"], len(old["pools"])
    if attached := cluster["attachedId"]:
        what = f"its {pools} GPU pool(s) in existing cluster {code(attached)}"
    else:
        what = f"cluster {cluster['name']} and its {pools} GPU pool(s)"
    return (
        f"The stack's file is removed; {what} live on, and bill, until they are destroyed: "
        "run `doks-gpu destroy` before the file goes."
    )


def _attachment(before: Cluster, after: Cluster) -> str:
    old, new = before["attachedId"], after["attachedId"]
    if old and new:
        return f"**Every pool moves** from existing cluster {code(old)} to {code(new)}; both clusters stay."
    if old:
        return (
            f"**Leaves existing cluster** {code(old)}, which stays: the stack makes cluster {after['name']} of its "
            "own, and every pool is made anew there."
        )
    guard = PROTECTED if before["protect"] else ""
    return (
        f"**Moves into existing cluster** {code(new)}: every pool is made anew there, and the stack's own cluster "
        f"{before['name']} is destroyed with all that is in it.{guard}"
    )


def _replacement(before: Cluster, after: Cluster) -> list[Sentence]:
    reasons = _reasons(before, after)
    if not reasons:
        return []
    guard = PROTECTED if before.get("protect") else ""
    return [
        Sentence(f"**Replaces the cluster and every pool** ({', '.join(reasons.values())}).{guard}", tuple(reasons)),
    ]


def _reasons(before: Cluster, after: Cluster) -> dict[Location, str]:
    """Why the cluster is replaced, by the setting that asks for it. An attached cluster never is."""
    if before["attachedId"] or after["attachedId"]:
        return {}
    reasons = {
        location: f"{key} {_word(before.get(key))} → {_word(after.get(key))}"
        for key, location in REPLACING.items()
        if before.get(key) != after.get(key)
    }
    old, new = before["cpuPool"]["size"], after["cpuPool"]["size"]
    if old != new:
        reasons["cluster", "cpuPool", "size"] = f"size of the CPU pool {old} → {new}"
    if _is_downgrade(before, after):
        reasons["cluster", "version"] = f"version {before['version']} → {after['version']}, a downgrade"
    return reasons


def _is_downgrade(before: Cluster, after: Cluster) -> bool:
    """The program sends a version below the one that runs: the provider then replaces the cluster."""
    new = versions.parse(after["version"])
    if after.get("ignoreVersion", True) or new is None:
        return False
    least = tuple(int(number) for number in re.findall(r"\d+", before["version"]))
    return new[: len(least)] < least


def _in_place(before: Cluster, after: Cluster) -> list[Sentence]:
    replaced = _reasons(before, after)
    sentences = [
        Sentence(f"{text}: {_word(before.get(key))} → {_word(after.get(key))}.", (location,))
        for key, (text, location) in IN_PLACE.items()
        if before.get(key) != after.get(key) and location not in replaced
    ]
    if before.get("ignoreVersion") and not after.get("ignoreVersion", True) and ("cluster", "version") not in replaced:
        sentences.append(
            Sentence(
                f"**The version is managed from now on** ({after['version']}). "
                "If the cluster already runs a later one, it is replaced, with every pool."
            )
        )
    old, new = nodes(before["cpuPool"]), nodes(after["cpuPool"])
    if old != new:
        sentences.append(Sentence(f"CPU pool: {old} → {new} nodes.", CPU_NODES))
    return sentences


def _word(one: Any) -> str:
    if isinstance(one, Mapping):
        return ", ".join(f"{key} {_word(item)}" for key, item in one.items())
    if isinstance(one, list):
        return " then ".join(str(item) for item in one)
    return {None: "DOKS's default", True: "on", False: "off"}.get(one, str(one))


def nodes(pool: Mapping[str, Any]) -> str:
    """`1–2`, or `2` for a fixed size."""
    return str(pool["max"]) if pool["min"] == pool["max"] else f"{pool['min']}–{pool['max']}"
