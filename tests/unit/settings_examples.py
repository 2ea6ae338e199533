"""Configurations that are right, for tests that make one thing wrong."""

import copy
from typing import Any

from doks_gpu.settings import SettingsError, load

MINIMAL: dict[str, Any] = {
    "region": "atl1",
    "fleets": {
        "batch": {
            "tiers": [
                {"name": "spot", "size": "gpu-b300x1-288gb-spot", "min": 1, "max": 2},
                {"name": "fallback", "size": "gpu-h200x1-141gb", "min": 1, "max": 2},
            ]
        }
    },
    "limits": {"usdPerHour": 60},
}

FULL: dict[str, Any] = MINIMAL | {
    "services": {
        "gauge": {
            "fleet": "batch",
            "app": "gauge",
            "replicas": {"min": 1, "max": 8},
            "scale": {"query": "sum(gauge_value)", "target": 80},
            "disruption": {"maxUnavailable": 1},
        },
        "own": {
            "fleet": "batch",
            "image": "registry.example.com:5000/team/serve:1.2.3",
            "command": ["serve"],
            "env": {"LEVEL": "info"},
            "secretEnv": {"HF_TOKEN": {"secret": "hf", "key": "token"}},
            "volumes": [{"name": "cache", "mountPath": "/cache", "emptyDir": {"sizeLimit": "10Gi"}}],
            "sharedMemory": "8Gi",
        },
    },
    "jobs": {
        "train": {
            "fleet": "batch",
            "image": f"docker.io/team/train@sha256:{'a' * 64}",
            "command": ["python3", "-m", "train"],
            "tasks": 8,
        }
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The full example with one value put at a dotted path; digits are list positions."""
    raw = copy.deepcopy(FULL)
    place: Any = raw
    *way, last = path.split(".")
    for step in way:
        place = place[int(step)] if step.isdigit() else place.setdefault(step, {})
    place[int(last) if last.isdigit() else last] = value
    return raw


def without(path: str) -> dict[str, Any]:
    """The full example without one key."""
    raw = copy.deepcopy(FULL)
    place: Any = raw
    *way, last = path.split(".")
    for step in way:
        place = place[int(step)] if step.isdigit() else place[step]
    del place[last]
    return raw


def refusal(raw: Any) -> SettingsError | None:
    """The error that `load` raises; None when it loads."""
    try:
        load(raw)
    except SettingsError as error:
        return error
    return None


def errors(raw: Any) -> list[str]:
    """What `load` says, one line per error; an empty list when it loads."""
    refused = refusal(raw)
    return [str(problem) for problem in refused.problems] if refused else []
