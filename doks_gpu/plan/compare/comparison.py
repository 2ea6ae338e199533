"""The whole comparison: sentences by subject."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from doks_gpu.plan.compare.cluster import cluster_sentences, moves
from doks_gpu.plan.compare.jobs import job_sentences
from doks_gpu.plan.compare.pools import changed_names, fallback_sentences, pool_sentences
from doks_gpu.plan.compare.settings import changed_settings
from doks_gpu.plan.compare.words import Location, Sentence
from doks_gpu.plan.report import total

Answer = Mapping[str, Any]
Plan = Mapping[str, Any]
Finding = Mapping[str, str]
Rows = Mapping[str, Mapping[str, Any]]

CLUSTER = "KubernetesCluster"
POOL = "KubernetesNodePool"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Sentences by subject. Empty lists mean that nothing of that kind changes."""

    stack: str
    cluster: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    price: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Keys of the configuration that no other sentence speaks of."""
    new_findings: tuple[Finding, ...] = ()
    changed_findings: tuple[Finding, ...] = ()
    """As they are after the change: the same rule at the same place says something else."""
    gone_findings: tuple[Finding, ...] = ()
    manifests: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Nothing changes that this program can see."""
        return not any(getattr(self, field.name) for field in fields(self) if field.name != "stack")


def compare(before: Answer | None, after: Answer | None, stack: str) -> Comparison:
    """`before` is None for a stack that is new, `after` for one that is removed."""
    old, new = (before or {}).get("plan") or {}, (after or {}).get("plan") or {}
    if not new:
        return Comparison(stack=stack, cluster=_texts(cluster_sentences(old, new)))
    moved = moves(old, new)
    cluster, pools = cluster_sentences(old, new), pool_sentences(old, new, moved=moved)
    fallback, limits, jobs = fallback_sentences(old, new), _limits(old, new), job_sentences(old, new)
    told = [location for sentence in (*cluster, *pools, *fallback, *jobs, *limits) for location in sentence.told]
    fresh, changed, gone = _findings(old.get("findings", ()), new.get("findings", ()))
    return Comparison(
        stack=stack,
        cluster=_texts(cluster),
        pools=_texts(pools),
        fallback=_texts(fallback),
        jobs=_texts(jobs),
        limits=_texts(limits),
        price=tuple(_price(old, new)),
        settings=tuple(_settings(before, after, told)),
        new_findings=tuple(fresh),
        changed_findings=tuple(changed),
        gone_findings=tuple(gone),
        manifests=tuple(_manifests(before, after)),
        other=tuple(_others(before, after, cluster_told=bool(cluster), moved=moved)),
    )


def _texts(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in sentences)


def _limits(old: Plan, new: Plan) -> list[Sentence]:
    if not old:
        return []
    before, after = old["limits"], new["limits"]
    words = {
        "usdPerHour": "Price cap ($/h)",
        "droplets": "Droplet limit",
        "runningDroplets": "Droplets that run elsewhere",
    }
    sentences = [
        Sentence(_moved(text, before.get(key), after.get(key)), (("limits", key),))
        for key, text in words.items()
        if before.get(key) != after.get(key)
    ]
    models = sorted({*before["gpus"], *after["gpus"]})
    return sentences + [
        Sentence(
            _moved(f"GPU limit for {model}", before["gpus"].get(model), after["gpus"].get(model)),
            (("limits", "gpus", model),),
        )
        for model in models
        if before["gpus"].get(model) != after["gpus"].get(model)
    ]


def _moved(text: str, old: Any, new: Any) -> str:
    if old is None or new is None:
        return f"{text}: {'not limited' if old is None else old} → {'not limited' if new is None else new}."
    verb = "raised" if Decimal(str(new)) > Decimal(str(old)) else "lowered"
    return f"{text} **{verb}**: {old} → {new}."


def _price(old: Plan, new: Plan) -> list[str]:
    words = {"min": "At least", "max": "At most", "peak": "Peak during a replacement"}
    sums = {
        bound: (total(old["pricing"], bound) if old else "nothing", total(new["pricing"], bound)) for bound in words
    }
    return [f"{words[bound]}: {then} → {now} $/h." for bound, (then, now) in sums.items() if then != now]


def _settings(before: Answer | None, after: Answer | None, told: Sequence[Location]) -> list[str]:
    if not before or not after:
        return []
    if ("settings" in before) != ("settings" in after):
        return ["One of the two programs does not tell its settings: changes of single keys are not listed."]
    return changed_settings(before.get("settings"), after.get("settings"), told)


def _findings(old: Sequence[Finding], new: Sequence[Finding]) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """New, changed and gone. The same words at another place (a tier was put in front) are no change."""
    before = [finding for finding in old if finding["severity"] != "info"]
    after = [finding for finding in new if finding["severity"] != "info"]
    after, before, _ = _paired(after, before, lambda finding: tuple(sorted(finding.items())))
    after, before, _ = _paired(
        after, before, lambda finding: (finding["rule"], finding["severity"], finding["message"])
    )
    after, before, changed = _paired(after, before, lambda finding: (finding["rule"], finding["path"]))
    return after, changed, before


def _paired(
    after: Sequence[Finding], before: Sequence[Finding], key: Callable[[Finding], tuple[Any, ...]]
) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """What is left of both sides, and those of `after` that have a partner with the same key before."""
    rest, unpaired, paired = list(before), [], []
    for finding in after:
        partner = next((one for one in rest if key(one) == key(finding)), None)
        if partner is None:
            unpaired.append(finding)
        else:
            rest.remove(partner)
            paired.append(finding)
    return unpaired, rest, paired


def _manifests(before: Answer | None, after: Answer | None) -> list[str]:
    if _refused(before) or _refused(after):
        return []
    old, new = _by_name(before, kubernetes=True), _by_name(after, kubernetes=True)
    lines = [f"Added: {name}." for name in new if name not in old]
    lines += [f"Removed: {name}." for name in old if name not in new]
    lines += [
        f"Changed: {name}."
        for name in old.keys() & new.keys()
        if (old[name]["inputs"], old[name]["options"]) != (new[name]["inputs"], new[name]["options"])
    ]
    return sorted(lines)


def _refused(answer: Answer | None) -> bool:
    """A refused program registers nothing: there is nothing to compare with."""
    return bool(answer and answer.get("refused"))


def _others(before: Answer | None, after: Answer | None, *, cluster_told: bool, moved: bool) -> list[str]:
    """Resource options, and inputs that the plan does not tell: a lost `protect` must not pass unseen."""
    if not before or not after or _refused(before) or _refused(after):
        return []
    old, new = _by_name(before, kubernetes=False), _by_name(after, kubernetes=False)
    known = changed_names(before["plan"], after["plan"])
    lines = [f"Added: {name}." for name in sorted(new.keys() - old.keys()) if not _told_elsewhere(new[name])]
    lines += [f"Removed: {name}." for name in sorted(old.keys() - new.keys()) if not _told_elsewhere(old[name])]
    for name in sorted(old.keys() & new.keys()):
        if old[name]["options"] != new[name]["options"]:
            lines.append(f"Engine options of {name} change.")
        told = moved or new[name]["name"] in known or (cluster_told and _kind(new[name]) == CLUSTER)
        if not told and (keys := _changed_inputs(old[name], new[name])):
            lines.append(f"Inputs of {name} change: {', '.join(keys)}.")
    return lines


def _told_elsewhere(row: Mapping[str, Any]) -> bool:
    return row["type"].startswith("doks-gpu:") or _kind(row) in (CLUSTER, POOL)


def _changed_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    before, after = old["inputs"], new["inputs"]
    return [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]


def _kind(row: Mapping[str, Any]) -> str:
    return str(row["type"].rsplit(":", 1)[-1])


def _by_name(answer: Answer | None, *, kubernetes: bool) -> Rows:
    rows: Sequence[Any] = (answer or {}).get("resources") or ()
    return {f"{_kind(row)} {row['name']}": row for row in rows if row["type"].startswith("kubernetes:") is kubernetes}
