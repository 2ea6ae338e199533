"""Stacks and accounts for the tests of catalogue and plan: small, complete, and changed by one thing at a time."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from doks_gpu.plan.facts import Facts, LiveCluster, LivePool, SizeFact
from doks_gpu.plan.preflight import Finding
from doks_gpu.plan.stack import StackPlan, make_plan
from doks_gpu.settings import load

SPOT: dict[str, Any] = {"name": "spot", "size": "gpu-b300x1-288gb-spot", "min": 1, "max": 2}
FALLBACK: dict[str, Any] = {"name": "fallback", "size": "gpu-h200x1-141gb", "min": 1, "max": 2}
AMD: dict[str, Any] = {"name": "amd", "size": "gpu-mi300x1-192gb", "min": 1, "max": 2}
JOB: dict[str, Any] = {"fleet": "batch", "image": "docker.io/me/train:1.0", "command": ["train"], "tasks": 8}
SERVICE: dict[str, Any] = {"fleet": "batch", "app": "gauge"}
CLUSTER_ID = "aaaaaaaa-0000-4000-8000-000000000001"

CPU_POOL: dict[str, Any] = {"size": "s-4vcpu-8gb", "min": 2, "max": 4}


def raw(*tiers: Mapping[str, Any], fleet: Mapping[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """A stack with one fleet `batch`; `keys` replace or add top-level keys."""
    said: dict[str, Any] = {
        "region": "atl1",
        "fleets": {"batch": {"tiers": list(tiers or (SPOT, FALLBACK)), **(fleet or {})}},
        "limits": {"usdPerHour": 1000},
    }
    return said | keys


def plan(said: Mapping[str, Any], facts: Facts | None = None, stack: str = "dev") -> StackPlan:
    """The plan of raw settings."""
    return make_plan(load(said), facts, project="doks-gpu", stack=stack)


def account(**changes: Any) -> Facts:
    """An account that sells what the stacks above ask for, in atl1."""
    prices = {
        "gpu-b300x1-288gb-spot": "8.00",
        "gpu-h200x1-141gb": "4.47",
        "gpu-mi300x1-192gb": "2.59",
        "s-4vcpu-8gb": "0.07143",
    }
    known: dict[str, Any] = {
        "read_on": date(2026, 12, 1),
        "sizes": {slug: size(usd, "atl1") for slug, usd in prices.items()},
        "doks_sizes": frozenset(prices),
        "doks_regions": frozenset({"atl1", "nyc2"}),
        "versions": ("1.36.3-do.0", "1.36.1-do.0", "1.35.4-do.1", "1.35.2-do.0", "1.34.9-do.0"),
        "droplet_limit": 100,
        "team_id": "11111111-2222-4333-8444-555555555555",
        "team_name": "research",
    }
    return Facts(**(known | changes))


def size(usd: str, *regions: str) -> SizeFact:
    return SizeFact(usd_per_hour=Decimal(usd), regions=frozenset(regions))


def cluster(**changes: Any) -> LiveCluster:
    """The running cluster of the stack."""
    known: dict[str, Any] = {
        "id": CLUSTER_ID,
        "name": "doks-gpu-dev",
        "region": "atl1",
        "version": "1.36.3-do.0",
        "expanders": ("priority", "random"),
    }
    return LiveCluster(**(known | changes))


def live_pool(number: int = 1, **changes: Any) -> LivePool:
    """The live pool of tier `spot`."""
    known: dict[str, Any] = {
        "id": uuid(number),
        "cluster_id": CLUSTER_ID,
        "name": "batch-spot-1a2b3c4",
        "size": "gpu-b300x1-288gb-spot",
        "fleet": "batch",
        "tier": "spot",
        "generation": 1,
        "count": 1,
        "usd_per_hour": Decimal("6.50"),
    }
    return LivePool(**(known | changes))


def uuid(number: int) -> str:
    return f"bbbbbbbb-0000-4000-8000-{number:012d}"


def found(rule: str, said: Mapping[str, Any], facts: Facts | None = None) -> list[Finding]:
    """What one rule finds."""
    return [finding for finding in plan(said, facts).findings if finding.rule == rule]
