"""Preflight: what cannot work or would surprise, found before anything is made. One entry per rule in
docs/preflight.md."""

from doks_gpu.plan.preflight import autoscaler, cluster_and_pools, fit, money
from doks_gpu.plan.preflight.model import Finding, Rule, Severity, Subject

__all__ = ["RULES", "Finding", "Rule", "Severity", "Subject", "run"]

RULES: tuple[Rule, ...] = (
    *cluster_and_pools.BOOK.rules,
    *autoscaler.BOOK.rules,
    *fit.BOOK.rules,
    *money.BOOK.rules,
)

_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


def run(subject: Subject) -> tuple[Finding, ...]:
    """Every finding of every rule: errors first, then in the order of the rules."""
    found = [finding for rule in RULES for finding in rule.check(subject, rule)]
    return tuple(sorted(found, key=lambda finding: _ORDER[finding.severity]))
