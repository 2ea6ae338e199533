"""What happens to the jobs of a stack. Which key did it is told by the settings."""

from collections.abc import Mapping
from typing import Any

from doks_gpu.plan.compare.words import Sentence

Plan = Mapping[str, Any]


def job_sentences(old: Plan, new: Plan) -> list[Sentence]:
    """One per job that is made, replaced or removed. A program from before jobs were deployed has none."""
    before, after = (_by_name(plan) for plan in (old, new))
    sentences = [Sentence(_new(job)) for name, job in after.items() if name not in before]
    elsewhere = old.get("namespace") != new["namespace"]
    sentences += [
        Sentence(f"Job **{name}** is **replaced**: what runs of it is stopped, and all its tasks run again.")
        for name, job in after.items()
        if name in before and (elsewhere or before[name]["objectName"] != job["objectName"])
    ]
    return sentences + [
        Sentence(f"Job **{name}** is **removed**, finished or not.", (("jobs", name),))
        for name in before
        if name not in after
    ]


def _new(job: Mapping[str, Any]) -> str:
    return (
        f"Job **{job['name']}** is **made**: {job['tasks']} task(s), {job['parallelism']} at once, "
        f"on fleet {job['fleet']}."
    )


def _by_name(plan: Plan) -> dict[str, Mapping[str, Any]]:
    return {job["name"]: job for job in plan.get("jobs", ())}
