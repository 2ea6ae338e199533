"""Add-ons: monitoring, KEDA, and the bucket that keeps checkpoints.

Chart versions are exact and were chosen on 2026-11-30: they carry prometheus-operator 0.85 and KEDA 2.20,
the versions whose custom resources the rehearsal serves.
"""

import re
from typing import Annotated

from pydantic import field_validator

from doks_gpu.settings.types import (
    ChartVersion,
    Flag,
    Label,
    Positive,
    ReleaseName,
    Repository,
    Section,
    matching,
    refused,
)

SPACES_REGIONS = ("ams3", "atl1", "blr1", "fra1", "lon1", "nyc3", "sfo2", "sfo3", "sgp1", "syd1", "tor1")
"""The provider's own list for buckets (terraform-provider-digitalocean, read 2026-08-06); no Spot region."""

Retention = Annotated[
    str,
    matching(
        re.compile(r"[1-9][0-9]{0,5}(h|d|w|y)\Z"),
        "how long Prometheus keeps data: a number and h, d, w or y, as in 30d",
    ),
]
BucketName = Annotated[
    str,
    matching(
        re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]\Z"),
        "a bucket's name: 3 to 63 lower-case letters, digits and hyphens",
        63,
    ),
]


class Monitoring(Section):
    """kube-prometheus-stack, exporters, dashboards and rules."""

    enabled: Flag = True
    namespace: Label = "monitoring"
    release: ReleaseName = "prometheus"
    chart_version: ChartVersion = "77.12.0"
    repository: Repository = "https://prometheus-community.github.io/helm-charts"
    storage_gib: Positive = 20
    """Size of Prometheus's volume."""
    retention: Retention = "30d"
    keep_data: Flag = False
    """The volume outlives `destroy`, and bills."""


class Keda(Section):
    """KEDA, which scales services and knocks for capacity."""

    enabled: Flag = True
    namespace: Label = "keda"
    release: ReleaseName = "keda"
    chart_version: ChartVersion = "2.20.2"
    repository: Repository = "https://kedacore.github.io/charts"


class Checkpoints(Section):
    """A Spaces bucket for checkpoints and results."""

    enabled: Flag = False
    bucket: BucketName | None = None
    """None: a name made from project and stack."""
    region: str = "nyc3"

    @field_validator("region", mode="before")
    @classmethod
    def _sells_buckets(cls, region: object) -> object:
        if region not in SPACES_REGIONS:
            raise refused(f"a region with Spaces: {', '.join(SPACES_REGIONS)}")
        return region
