"""Placeholder."""

from doks_gpu.plan.preflight.model import RuleBook

BOOK = RuleBook()
