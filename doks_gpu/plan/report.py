"""What a plan costs and when fallback comes, in words: for `pulumi preview`, for `doks-gpu preview`, and for logs.

Everything here reads the plan's JSON form, which is also what another checkout of the program answers.
"""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from doks_gpu.plan.fallback import FleetFallback, never_words
from doks_gpu.plan.pricing import told_apart
from doks_gpu.plan.stack import StackPlan, as_dict

Told = Mapping[str, Any]
"""A plan or a part of one, as `stack.as_dict` writes it."""

WAYS = {
    "refused": "Spot refuses",
    "at-ceiling": "Spot is at its ceiling",
    "never-booted": "Spot accepts but no node boots",
}


def estimate(plan: StackPlan) -> str:
    """One line per charge, then the sums and the times to fallback."""
    told = as_dict(plan)
    lines = [f"Estimate for stack {plan.stack} in {plan.region}, US dollars per hour:"]
    lines += [f"  {charge_words(charge)}" for charge in told["pricing"]["charges"]]
    lines.append(f"  {_sums(told['pricing'])}")
    lines += [f"  {fallback_words(fleet)}" for fleet in told["fallback"]]
    return "\n".join(lines)


def charge_words(charge: Told) -> str:
    """`batch-spot: 1 to 2 × 8.00 = 8.00 to 16.00 (catalogue, 2026-10-08)`."""
    price = charge["price"]
    each, origin = price["usdPerHour"], ", ".join(filter(None, (price["origin"], price["readOn"])))
    bounds = _between(charge["min"], charge["max"])
    sums = _between(usd(each, charge["min"]), usd(each, charge["max"]))
    return f"{charge['name']}: {bounds} × {usd(each)} = {sums} ({origin})"


def usd(amount: str | None, units: int = 1) -> str:
    """Dollars with two decimals, below one dollar with four; `unknown` for a price that nobody knows."""
    if amount is None:
        return "unknown"
    dollars = Decimal(amount) * units
    return f"{dollars:,.4f}" if 0 < dollars < 1 else f"{dollars:,.2f}"


def total(pricing: Told, bound: str) -> str:
    """A sum per hour (`min`, `max`, `peak`); where a price is unknown, only what it is at least."""
    return _sum(pricing, pricing["hourly"][bound])


def idle(pricing: Told) -> str:
    """The price of a month with everything at its minimum."""
    return _sum(pricing, pricing["idlePerMonth"])


def is_complete(pricing: Told) -> bool:
    """Whether every price is known, so that the sums are whole."""
    return bool(pricing.get("complete", not pricing["unknown"]))


def most_words(plan: Told) -> str:
    """The most that an hour can cost, against the cap, with as many decimals as tell the two apart."""
    pricing, cap = plan["pricing"], Decimal(plan["limits"]["usdPerHour"])
    if not is_complete(pricing):
        return f"At most {total(pricing, 'max')} of {cap:,.2f} $/h allowed."
    most, allowed = (Decimal(amount) for amount in told_apart(_exact_most(pricing), cap))
    return f"At most {most:,} of {allowed:,} $/h allowed."


def _exact_most(pricing: Told) -> Decimal:
    known = (charge for charge in pricing["charges"] if charge["price"]["usdPerHour"] is not None)
    return sum((Decimal(charge["price"]["usdPerHour"]) * charge["max"] for charge in known), Decimal(0))


def _sum(pricing: Told, cents: str) -> str:
    return _with_commas(cents) if is_complete(pricing) else f"unknown (at least {_with_commas(cents)})"


def _with_commas(cents: str) -> str:
    return f"{Decimal(cents):,.2f}"


def _sums(pricing: Told) -> str:
    dearest = pricing["dearestPool"]
    peak = f", {total(pricing, 'peak')} while {dearest} is replaced" if dearest else ""
    return f"total: {total(pricing, 'min')} to {total(pricing, 'max')}{peak}; idle {idle(pricing)} a month"


def fallback_words(fleet: Told) -> str:
    """When on-demand capacity is asked for, counted from the pod's creation, or why it may never come.

    The node's boot comes on top.
    """
    ways = ", ".join(f"{way_wait(way)} when {WAYS.get(way['way'], way['way'])}" for way in fleet["ways"])
    never = never_words(_fallback(fleet))
    if never is None:
        return f"On-demand capacity for fleet {fleet['fleet']} is asked for after {ways}."
    return f"{never} If it does come, it is asked for after {ways}." if ways else never


def _fallback(fleet: Told) -> FleetFallback:
    """As much of it as words need. Programs from before `whyNever` knew one reason."""
    return FleetFallback(
        fleet=fleet["fleet"],
        spot_pools=tuple(fleet["spotPools"]),
        on_demand_pools=tuple(fleet["onDemandPools"]),
        ways=(),
        bound=None,
        why_never=fleet.get("whyNever", "at-zero" if fleet["mayNeverCome"] else None),
    )


def way_wait(way: Told) -> str:
    """How long one way of failing takes: `40 s`, or `15 min 30 s to 30 min 30 s`."""
    soonest, latest = (wait_words(timedelta(seconds=way[bound])) for bound in ("soonest", "latest"))
    return _between(soonest, latest)


def _between(low: object, high: object) -> str:
    return str(low) if low == high else f"{low} to {high}"


def wait_words(wait: timedelta) -> str:
    """`40 s`, `4 min 40 s`, `15 min`."""
    minutes, seconds = divmod(round(wait.total_seconds()), 60)
    return (
        " ".join(part for part in (f"{minutes} min" * bool(minutes), f"{seconds} s" * bool(seconds)) if part) or "0 s"
    )
