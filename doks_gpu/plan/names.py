"""Names that the plan makes up, and how long they may be."""

import hashlib
import re

NAME_LIMIT = 63
"""A DNS label (RFC 1123). DigitalOcean publishes no limit for clusters; nodes carry the pool's name as host
name."""

CPU_POOL = "cpu"
"""Name of the cluster's own pool. It is fixed: the pool is part of the cluster and never replaced alone."""

GIVEN_NAMESPACES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
"""They are in every cluster."""


def pool_name(fleet: str, tier: str) -> str:
    """The program's name of a pool; DigitalOcean sees it with Pulumi's suffix."""
    return f"{fleet}-{tier}"


def job_name(job: str) -> str:
    """The program's name of a job: a fleet may be called the same."""
    return f"{job}-job"


def cluster_name(project: str, stack: str) -> str:
    """Default name of a cluster: `<project>-<stack>`, as a DNS label. A name that had to be cut ends in a
    hash."""
    wanted = f"{project}-{stack}"
    label = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")
    if not label or not label[0].isalpha():
        label = f"k8s-{label}".rstrip("-")
    if len(label) <= NAME_LIMIT:
        return label
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:7]
    return f"{label[: NAME_LIMIT - 8].rstrip('-')}-{digest}"
