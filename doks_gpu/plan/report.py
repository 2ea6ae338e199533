"""The estimate in plain text, for `pulumi preview` itself and for logs."""

from datetime import timedelta

from doks_gpu.plan.fallback import FleetFallback
from doks_gpu.plan.pricing import Charge, StackPricing, cents
from doks_gpu.plan.stack import StackPlan

WAYS = {
    "refused": "Spot refuses",
    "at-ceiling": "Spot is at its ceiling",
    "never-booted": "Spot accepts, but no node boots",
}


def estimate(plan: StackPlan) -> str:
    """One line per charge, then the sums and the times to fallback."""
    lines = [f"Estimate for stack {plan.stack} in {plan.region}, US dollars per hour:"]
    lines += [_charge(charge) for charge in plan.pricing.charges]
    lines.append(_sums(plan.pricing))
    lines += [fallback_words(fleet) for fleet in plan.fallback]
    return "\n".join(lines)


def _charge(charge: Charge) -> str:
    each = "unknown" if charge.price.usd_per_hour is None else f"{charge.price.usd_per_hour:.4f}"
    units = f"{charge.min} to {charge.max}" if charge.min != charge.max else f"{charge.min}"
    when = f", {charge.price.read_on}" if charge.price.read_on else ""
    return (
        f"  {charge.name}: {units} × {each} = {cents(charge.usd_min)} to {cents(charge.usd_max)} "
        f"({charge.price.origin}{when})"
    )


def _sums(pricing: StackPricing) -> str:
    hourly = pricing.hourly
    peak = f", {cents(hourly.peak)} while {pricing.dearest_pool} is replaced" if pricing.dearest_pool else ""
    return f"  total: {cents(hourly.min)} to {cents(hourly.max)}{peak}; idle {cents(pricing.idle_per_month)} a month"


def fallback_words(fleet: FleetFallback) -> str:
    """When on-demand capacity is asked for, counted from the pod's creation; the node's boot comes on top."""
    ways = "; ".join(f"{WAYS[way.way]}: {_range(way.soonest, way.latest)}" for way in fleet.ways)
    never = " It may never come: every on-demand tier may be at zero." if fleet.may_never_come else ""
    return f"  fleet {fleet.fleet} asks for on-demand capacity after: {ways}.{never}"


def _range(soonest: timedelta, latest: timedelta) -> str:
    return wait_words(soonest) if soonest == latest else f"{wait_words(soonest)} to {wait_words(latest)}"


def wait_words(wait: timedelta) -> str:
    """`40 s`, `4 min 40 s`, `15 min`."""
    minutes, seconds = divmod(round(wait.total_seconds()), 60)
    return (
        " ".join(part for part in (f"{minutes} min" * bool(minutes), f"{seconds} s" * bool(seconds)) if part) or "0 s"
    )
