"""Rules about prices and limits."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from doks_gpu import catalog
from doks_gpu.plan.pools import by_preference
from doks_gpu.plan.preflight.model import Finding, Rule, RuleBook, Subject
from doks_gpu.plan.pricing import cents, has_high_availability, told_apart, usd_per_work
from doks_gpu.settings.problems import meant

BOOK = RuleBook()


@BOOK.rule("price-unknown", "error", "A price is unknown")
def _price_unknown(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for pool in subject.pools:
        if pool.price.usd_per_hour is None:
            yield _unknown(rule, subject.tier_path(pool, "usdPerHour"), pool.size)
    cpu = subject.settings.cluster.cpu_pool
    for charge in subject.pricing.charges:
        if charge.kind == "cpu-pool" and charge.price.usd_per_hour is None:
            yield _unknown(rule, "cluster.cpuPool.usdPerHour", cpu.size)


@BOOK.rule("price-cap", "error", "The stack could cost more than its cap")
def _price_cap(subject: Subject, rule: Rule) -> Iterable[Finding]:
    cap, most = subject.settings.limits.usd_per_hour, subject.pricing.hourly.max
    if most > cap:
        yield rule.found(
            "limits.usdPerHour",
            f"With every pool at its maximum the stack costs {_above(subject, most, cap)} $/hour; the cap is {cap:f}.",
            "Lower max of a tier, or raise the cap.",
        )


@BOOK.rule("droplet-limit", "error", "More Droplets than the account allows")
def _droplet_limit(subject: Subject, rule: Rule) -> Iterable[Finding]:
    limit = _droplets_allowed(subject)
    if limit and _droplets(subject) > limit[0]:
        yield rule.found(
            "limits.droplets",
            f"With every pool at its maximum there are {_droplets(subject)} Droplets "
            f"({_droplets_shown(subject)}); {limit[1]} allows {limit[0]}.",
            "Lower max of a pool, or ask DigitalOcean for a higher limit and enter it here.",
        )


@BOOK.rule("gpu-limit", "error", "More GPUs of a model than the quota")
def _gpu_limit(subject: Subject, rule: Rule) -> Iterable[Finding]:
    most = _gpus_by_model(subject)
    for key, quota in subject.settings.limits.gpus.items():
        model = catalog.model_name(key)
        if most[model] > quota:
            where = ", ".join(f"{p.name}: {p.most_gpus}" for p in subject.pools if p.model == model)
            yield rule.found(
                f"limits.gpus.{key}",
                f"With every pool at its maximum there are {most[model]} {model.upper()} GPUs ({where}); "
                f"the quota is {quota}.",
                "Lower max of a tier, or ask DigitalOcean for a higher quota and enter it here.",
            )


@BOOK.rule("limit-without-pool", "warning", "A GPU limit limits nothing")
def _limit_without_pool(subject: Subject, rule: Rule) -> Iterable[Finding]:
    if subject.unreadable:
        return
    pooled = {pool.model for pool in subject.pools}
    models = sorted(pooled | {size.hardware.model for size in catalog.GPU_SIZES})
    for key in subject.settings.limits.gpus:
        if (model := catalog.model_name(key)) not in models:
            yield rule.found(
                f"limits.gpus.{key}",
                f"No pool of this stack and no size of the catalogue has a GPU called {key}, so this limits nothing.",
                f"Write a model's name; {meant(model, models)}",
            )


@BOOK.rule("replacement-peak", "warning", "A replacement passes a limit for a while")
def _replacement_peak(subject: Subject, rule: Rule) -> Iterable[Finding]:
    """A replacement makes the new pool first, so both are there at once."""
    yield from _price_peak(subject, rule)
    yield from _droplet_peak(subject, rule)
    yield from _gpu_peak(subject, rule)


@BOOK.rule("spot-dearer", "warning", "Spot costs more per unit of work than a later tier")
def _spot_dearer(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.fleets():
        asked = by_preference(pools)
        for place, pool in enumerate(asked):
            usd = usd_per_work(pool)
            later = [(price, tier) for tier in asked[place + 1 :] if (price := usd_per_work(tier)) is not None]
            if not pool.is_spot or usd is None or not later:
                continue
            cheapest, tier = min(later, key=lambda pair: pair[0])
            if usd > cheapest:
                here, there = told_apart(usd, cheapest)
                yield rule.found(
                    subject.tier_path(pool, "size"),
                    f"In fleet {name}, a GPU-hour of work costs {here} $ on Spot tier {pool.tier} "
                    f"and {there} $ on tier {tier.tier} (price per GPU, divided by "
                    "relativeSpeed).",
                    "Set relativeSpeed if the Spot GPU is faster, or put the cheaper tier first.",
                )


@BOOK.rule("spot-price-dated", "info", "A Spot price is the catalogue's")
def _spot_price_dated(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for pool in subject.pools:
        if pool.is_spot and pool.price.origin == "catalogue":
            yield rule.found(
                subject.tier_path(pool, "usdPerHour"),
                f"{pool.price.usd_per_hour} $/hour for {pool.size} was read on {pool.price.read_on}. Spot "
                "prices may change daily until the pool is made, and hold for its life.",
                "Export DIGITALOCEAN_TOKEN to read today's price, or set usdPerHour to what the account shows.",
            )


@BOOK.rule("high-availability-default", "info", "DOKS turns high availability on by itself")
def _high_availability_default(subject: Subject, rule: Rule) -> Iterable[Finding]:
    if subject.settings.cluster.high_availability is None and has_high_availability(subject.settings):
        yield rule.found(
            "cluster.highAvailability",
            "From 1.36 DOKS makes the control plane highly available unless told otherwise; it is priced "
            f"({cents(catalog.HIGH_AVAILABILITY.usd_per_hour * catalog.HOURS_PER_MONTH)} $/month).",
            "Set it to true or false to decide.",
        )


@BOOK.rule("limits-not-checked", "info", "Some limits are not checked")
def _limits_not_checked(subject: Subject, rule: Rule) -> Iterable[Finding]:
    limited = {catalog.model_name(key) for key in subject.settings.limits.gpus}
    open_models = sorted({pool.model for pool in subject.pools} - limited)
    missing = [] if _droplets_allowed(subject) else ["limits.droplets"]
    missing += [f"limits.gpus.{model}" for model in open_models]
    if missing:
        yield rule.found(
            "limits",
            f"Not checked: {', '.join(missing)}.",
            "Enter what the control panel shows to have it checked.",
        )


def _unknown(rule: Rule, path: str, size: str) -> Finding:
    return rule.found(
        path,
        f"Neither the configuration nor the account nor the catalogue has a price for {size}.",
        "Set usdPerHour to what the account shows for one node, or export DIGITALOCEAN_TOKEN.",
    )


def _above(subject: Subject, usd: Decimal, cap: Decimal) -> str:
    """An amount that passes the cap, so that one can see that it does."""
    words = told_apart(usd, cap)[0]
    return words if subject.pricing.complete else f"at least {words}"


def _price_peak(subject: Subject, rule: Rule) -> Iterator[Finding]:
    cap, hourly = subject.settings.limits.usd_per_hour, subject.pricing.hourly
    if hourly.max <= cap < hourly.peak:
        yield rule.found(
            "limits.usdPerHour",
            f"While {subject.pricing.dearest_pool} is replaced, old and new pool together can cost "
            f"{_above(subject, hourly.peak, cap)} $/hour; the cap is {cap:f}.",
            "Replace at a quiet time, or lower max before.",
        )


def _droplet_peak(subject: Subject, rule: Rule) -> Iterator[Finding]:
    limit = _droplets_allowed(subject)
    largest = max(subject.pools, key=lambda pool: pool.max, default=None)
    if limit and largest and _droplets(subject) <= limit[0] < _droplets(subject) + largest.max:
        yield rule.found(
            "limits.droplets",
            f"While {largest.name} is replaced there can be {_droplets(subject) + largest.max} Droplets; "
            f"{limit[1]} allows {limit[0]}, and the new pool would not come up whole.",
            "Replace at a quiet time, or lower max before.",
        )


def _gpu_peak(subject: Subject, rule: Rule) -> Iterator[Finding]:
    most = _gpus_by_model(subject)
    for key, quota in subject.settings.limits.gpus.items():
        model = catalog.model_name(key)
        largest = max((p for p in subject.pools if p.model == model), key=lambda p: p.most_gpus, default=None)
        if largest and most[model] <= quota < most[model] + largest.most_gpus:
            yield rule.found(
                f"limits.gpus.{key}",
                f"While {largest.name} is replaced there can be {most[model] + largest.most_gpus} "
                f"{model.upper()} GPUs; the quota is {quota}, and the new pool would not come up whole.",
                "Replace at a quiet time, or lower max before.",
            )


def _droplets(subject: Subject) -> int:
    return sum(_droplet_parts(subject).values())


def _droplets_shown(subject: Subject) -> str:
    return ", ".join(f"{name} {count}" for name, count in _droplet_parts(subject).items() if count)


def _droplet_parts(subject: Subject) -> Mapping[str, int]:
    parts = {pool.name: pool.max for pool in subject.pools}
    if not subject.attached:
        parts["CPU pool"] = subject.settings.cluster.cpu_pool.max
    parts["elsewhere"] = subject.settings.limits.running_droplets
    return parts


def _droplets_allowed(subject: Subject) -> tuple[int, str] | None:
    """The lower of the configured limit and the account's own, and whose it is."""
    said = [
        (subject.settings.limits.droplets, "limits.droplets"),
        (subject.facts.droplet_limit if subject.facts else None, "the account"),
    ]
    known = [(limit, whose) for limit, whose in said if limit is not None]
    return min(known) if known else None


def _gpus_by_model(subject: Subject) -> Counter[str]:
    most: Counter[str] = Counter()
    for pool in subject.pools:
        most[pool.model] += pool.most_gpus
    return most
