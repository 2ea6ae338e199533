"""Rules about the cluster, its version and region, and which pools there will be."""

from collections.abc import Iterable

from doks_gpu import catalog
from doks_gpu.plan import versions
from doks_gpu.plan.facts import LiveCluster
from doks_gpu.plan.preflight.model import Finding, Rule, RuleBook, Subject

BOOK = RuleBook()

FEWEST_CPU_NODES = 2
"""Recommended next to GPU pools (DOKS release notes of 2025-01-07): one node is nowhere to drain to."""


@BOOK.rule("no-pools", "error", "No GPU pool is left")
def _no_pools(subject: Subject, rule: Rule) -> Iterable[Finding]:
    if not subject.pools and not subject.unreadable:
        yield rule.found(
            "fleets",
            "No tier of any fleet is enabled, so there is no GPU pool and no priority map to write.",
            "Enable at least one tier, or run `doks-gpu destroy`.",
        )


@BOOK.rule("fleet-disabled", "warning", "Every tier of a fleet is disabled")
def _fleet_disabled(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, fleet in subject.settings.fleets.items():
        if any(tier.enabled for tier in fleet.tiers):
            continue
        users = sorted(
            f"{kind}.{workload}"
            for kind, workloads in (("services", subject.settings.services), ("jobs", subject.settings.jobs))
            for workload, said in workloads.items()
            if said.fleet == name
        )
        if users:
            yield rule.found(
                f"fleets.{name}.tiers",
                f"Every tier is disabled, and {', '.join(users)} would wait for ever.",
                "Enable a tier, or remove what runs on this fleet.",
                "error",
            )
        else:
            yield rule.found(
                f"fleets.{name}.tiers",
                "Every tier is disabled: the fleet has no pool and costs nothing.",
                "Enable a tier, or remove the fleet.",
            )


@BOOK.rule("size-unreadable", "error", "Nobody knows what a size is")
def _size_unreadable(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for tier in subject.unreadable:
        yield rule.found(
            f"fleets.{tier.fleet}.tiers[{tier.rank}].size",
            f"Neither the catalogue nor the account knows {tier.size}, and its name does not say which GPUs it has.",
            "Check the slug (`doctl compute size list`); the shape is gpu-<model>x<GPUs>-<memory of all GPUs>gb.",
        )


@BOOK.rule("size-not-in-doks", "error", "DOKS does not offer a size")
def _size_not_in_doks(subject: Subject, rule: Rule) -> Iterable[Finding]:
    if not subject.facts or not subject.facts.doks_sizes:
        return
    sizes = [(subject.tier_path(pool, "size"), pool.size) for pool in subject.pools]
    if not subject.attached:
        sizes.append(("cluster.cpuPool.size", subject.settings.cluster.cpu_pool.size))
    for path, size in sizes:
        if size not in subject.facts.doks_sizes:
            yield rule.found(
                path,
                f"DOKS does not offer {size} to this account (its own list of sizes, {subject.facts.read_on}).",
                "Choose a size of `doctl kubernetes options sizes`, or ask DigitalOcean for access to this one.",
            )


@BOOK.rule("region-refuses-size", "error", "The account cannot buy a size in the region")
def _region_refuses_size(subject: Subject, rule: Rule) -> Iterable[Finding]:
    region = subject.settings.region
    for pool in subject.pools:
        said = _regions_said(subject, pool.size)
        if said and region not in said:
            yield rule.found(
                subject.tier_path(pool, "size"),
                f"The account can buy {pool.size} in {_listed(said)}, not in {region}.",
                _where_all_are_sold(subject, pool.fleet),
            )
    cpu = subject.settings.cluster.cpu_pool.size
    said = _regions_said(subject, cpu)
    if said and region not in said and not subject.attached:
        yield rule.found(
            "cluster.cpuPool.size",
            f"The account can buy {cpu} in {_listed(said)}, not in {region}.",
            f"Choose a CPU size that {region} sells (`doctl compute size list`): it is fixed once the cluster is made.",
        )


@BOOK.rule("region-unproven", "warning", "Nobody has seen a size sold in the region")
def _region_unproven(subject: Subject, rule: Rule) -> Iterable[Finding]:
    region = subject.settings.region
    for name, _, pools in subject.fleets():
        unproven = sorted(
            {
                pool.size
                for pool in pools
                if not _regions_said(subject, pool.size) and region not in catalog.regions_of(pool.size)
            }
        )
        if unproven:
            seen = "; ".join(f"{size} was seen in {_listed(catalog.regions_of(size))}" for size in unproven)
            yield rule.found(
                f"fleets.{name}.tiers",
                f"The catalogue does not know {' and '.join(unproven)} to be sold in {region}: {seen}.",
                _where_all_are_sold(subject, name) + " The list is dated and never complete: the account decides.",
            )


@BOOK.rule("region-not-in-doks", "error", "DOKS is not in the region")
def _region_not_in_doks(subject: Subject, rule: Rule) -> Iterable[Finding]:
    facts, region = subject.facts, subject.settings.region
    if facts and facts.doks_regions and region not in facts.doks_regions and not subject.attached:
        yield rule.found(
            "region",
            f"DOKS makes no cluster in {region}. It does in {_listed(facts.doks_regions)}.",
            "Choose one of these regions.",
        )


@BOOK.rule("attached-cluster", "error", "The cluster to attach to is not there")
def _attached_cluster(subject: Subject, rule: Rule) -> Iterable[Finding]:
    if not subject.facts or not subject.attached:
        return
    live, region = subject.live_cluster, subject.settings.region
    if live is None:
        yield rule.found(
            "cluster.id",
            f"The account has no cluster {subject.settings.cluster.id}.",
            "Check the id with `doctl kubernetes cluster list`, and that the token belongs to the right team.",
        )
    elif live.region != region:
        yield rule.found(
            "region",
            f"The attached cluster {live.name} is in {live.region}, not in {region}, and its pools can be "
            "nowhere else.",
            f"Set region to {live.region}.",
        )


@BOOK.rule("team-mismatch", "error", "The token belongs to another team")
def _team_mismatch(subject: Subject, rule: Rule) -> Iterable[Finding]:
    wanted, facts = subject.settings.team, subject.facts
    if wanted is None or facts is None or wanted in (facts.team_id, facts.team_name):
        return
    said = f"{facts.team_name or 'without a name'} ({facts.team_id or 'without an id'})"
    yield rule.found(
        "team",
        f"The stack belongs to team {wanted}, the token to team {said}.",
        "Export the DIGITALOCEAN_TOKEN of the stack's team.",
    )


@BOOK.rule("version-not-offered", "error", "DOKS does not offer the version")
def _version_not_offered(subject: Subject, rule: Rule) -> Iterable[Finding]:
    wanted, facts, live = subject.settings.cluster, subject.facts, subject.live_cluster
    if subject.attached or not facts or not facts.versions or versions.newest(wanted.version, facts.versions):
        return
    if live and (_version_is_left_alone(subject) or live.version == wanted.version):
        return
    yield rule.found(
        "cluster.version",
        f"DOKS does not offer {wanted.version}. It offers {', '.join(facts.versions)}.",
        "Choose one of these, or a prefix such as the first two numbers.",
    )


@BOOK.rule("version-downgrade", "error", "The version is below the running one")
def _version_downgrade(subject: Subject, rule: Rule) -> Iterable[Finding]:
    live, wanted = _managed_version(subject)
    here, there = versions.parse(live.version) if live else None, versions.parse(wanted)
    if live and here and there and there < here:
        yield rule.found(
            "cluster.version",
            f"The cluster runs {live.version}; going down to {wanted} would replace it and every pool in it.",
            f'Set version to "{live.version}", or to a prefix to leave it to DOKS.',
        )


@BOOK.rule("version-step", "error", "An upgrade needs a step before it")
def _version_step(subject: Subject, rule: Rule) -> Iterable[Finding]:
    live, wanted = _managed_version(subject)
    if live is None or subject.facts is None or (versions.parse(wanted) or ()) < (versions.parse(live.version) or ()):
        return
    step = versions.step_before(live.version, wanted, subject.facts.versions)
    if step:
        yield rule.found(
            "cluster.version",
            f"DOKS does not upgrade from {live.version} straight to {wanted}.",
            f'Set version to "{step}" first, run `doks-gpu up`, then go on to {wanted}.',
        )


@BOOK.rule("version-ignored", "warning", "A full version has no effect next to automatic upgrades")
def _version_ignored(subject: Subject, rule: Rule) -> Iterable[Finding]:
    wanted = subject.settings.cluster
    if not subject.attached and wanted.auto_upgrade and not wanted.version_is_prefix:
        yield rule.found(
            "cluster.version",
            f"{wanted.version} holds when the cluster is made; after that autoUpgrade moves it on, and a "
            "later change of this key does nothing.",
            "Set autoUpgrade to false to manage the version here, or give a prefix.",
        )


@BOOK.rule("cpu-pool-small", "warning", "One CPU node is nowhere to drain to")
def _cpu_pool_small(subject: Subject, rule: Rule) -> Iterable[Finding]:
    least = subject.settings.cluster.cpu_pool.min
    if not subject.attached and least < FEWEST_CPU_NODES:
        yield rule.found(
            "cluster.cpuPool.min",
            f"With {least} CPU node, an upgrade or a lost node stops DNS, monitoring and KEDA at once.",
            f"Set it to {FEWEST_CPU_NODES} or more.",
        )


@BOOK.rule("fixed-pool", "info", "The autoscaler does not see a fixed pool")
def _fixed_pool(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for pool in subject.pools:
        if not pool.autoscaled:
            yield rule.found(
                subject.tier_path(pool),
                f"{pool.name} has a fixed size of {pool.max}: it is never scaled, up or down, and bills "
                "around the clock.",
                "Set min below max to let the autoscaler use it.",
            )


@BOOK.rule("account-not-read", "info", "Nothing was compared with the account")
def _account_not_read(subject: Subject, rule: Rule) -> Iterable[Finding]:
    if subject.facts is None:
        team = ", team" if subject.settings.team else ""
        yield rule.found(
            "",
            "No account was read: prices and regions are the catalogue's; versions, sizes and "
            f"limits{team} were not compared.",
            "Export DIGITALOCEAN_TOKEN to compare with the account (nothing is made by a preview).",
        )


def _regions_said(subject: Subject, slug: str) -> frozenset[str]:
    said = subject.facts.sizes.get(slug) if subject.facts else None
    return said.regions if said else frozenset()


def _where_all_are_sold(subject: Subject, fleet: str) -> str:
    pools = subject.by_fleet[fleet]
    common = frozenset.intersection(*(subject.regions_of(pool.size) for pool in pools))
    if common:
        return f"Regions known to sell every size of fleet {fleet}: {_listed(common)}."
    return f"No region is known to sell every size of fleet {fleet}: choose other sizes, or a stack per region."


def _listed(regions: frozenset[str]) -> str:
    return ", ".join(sorted(regions)) or "none"


def _version_is_left_alone(subject: Subject) -> bool:
    wanted = subject.settings.cluster
    return wanted.auto_upgrade or wanted.version_is_prefix


def _managed_version(subject: Subject) -> tuple[LiveCluster | None, str]:
    """Our running cluster, when its version is managed here, and the version that is wanted."""
    managed = not subject.attached and not _version_is_left_alone(subject)
    return (subject.live_cluster if managed else None), subject.settings.cluster.version
