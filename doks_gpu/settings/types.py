"""What the values of the configuration look like: numbers, money, waits, names, images, quantities.

Each type checks a value completely and says what is allowed in one sentence, so every error reads the same.
Limits come from Kubernetes (names of 63 characters, int32 counts, quantities) and from DigitalOcean
(slugs), as noted where used.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, StrictBool, ValidationInfo
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

INT32_MAX = 2**31 - 1
"""Kubernetes keeps counts and seconds in 32 bits."""
LABEL_LIMIT = 63
"""Longest DNS label, and longest value of a Kubernetes label."""
USD_LIMIT = 1_000_000
QUOTE_IT = "YAML reads this as a boolean or a number: write it in quotes"

_DIGITS = re.compile(r"[0-9]{1,19}\Z")
_NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?\Z")
_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?\Z")
_LABEL_KEY = re.compile(rf"({_DNS_SUBDOMAIN.pattern[:-2]}/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
_DURATION_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|h|m|s)")
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?\Z")
_IMAGE = re.compile(
    r"([A-Za-z0-9.-]+(:[0-9]{1,5})?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?P<digest>@sha256:[0-9a-f]{64})?\Z"
)
_FLOATING_TAG = re.compile(r"(^|[-._])latest([-._]|\Z)|\A(stable|main|master|nightly|edge|dev)\Z", re.IGNORECASE)
_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3}(-do\.[0-9]{1,3})?)?\Z")
_CHART_VERSION = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z")

UNIT_SECONDS = {"ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600)}
QUANTITY_FACTORS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), start=1)},
    **{unit: Decimal(1024) ** power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)},
}


class Section(BaseModel):
    """A mapping of the configuration: unknown keys are errors, keys are camelCase, nothing changes later."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True
    )


def refused(allowed: str) -> PydanticCustomError:
    """The error of a value; `allowed` finishes the sentence "allowed: …"."""
    return PydanticCustomError("refused", "{allowed}", {"allowed": allowed})


def refused_together(allowed: str) -> PydanticCustomError:
    """The error of a whole section, raised by the last of the keys that do not go together."""
    return PydanticCustomError("refused_together", "{allowed}", {"allowed": allowed})


def refused_inside(key: str, allowed: str) -> PydanticCustomError:
    """The error of one key of a section, found by what is around the section."""
    return PydanticCustomError("refused_inside", "{allowed}", {"allowed": allowed, "key": key})


def repeated(values: Iterable[str]) -> list[str]:
    """What is there more than once, sorted."""
    return sorted(value for value, times in Counter(values).items() if times > 1)


def whole(low: int, high: int = INT32_MAX) -> BeforeValidator:
    """A count: an integer, or the string of digits that `pulumi config set` may store; no bool, no float."""
    allowed = f"a whole number, {low} or more" if high == INT32_MAX else f"a whole number from {low} to {high}"

    def check(value: Any) -> int:
        if isinstance(value, str) and _DIGITS.match(value):
            value = int(value)
        if type(value) is not int:
            raise refused(allowed)
        if not low <= value <= high:
            raise refused(allowed if value < low or high != INT32_MAX else f"a whole number up to {high}")
        return value

    return BeforeValidator(check)


def _decimal(value: Any) -> Decimal | None:
    """The number as written, None for everything that is not a plain finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    text = str(value)
    if isinstance(value, str) and not _NUMBER.match(text):
        return None
    if isinstance(value, int) and abs(value) > INT32_MAX:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _dollars(value: Any) -> Decimal:
    number = _decimal(value)
    if number is None or not 0 < number <= USD_LIMIT:
        raise refused(f"US dollars per hour, above 0 and at most {USD_LIMIT}")
    return number


def fraction(low: float, high: float, *, low_is_allowed: bool, high_is_allowed: bool) -> BeforeValidator:
    """A number between two limits, as YAML or `pulumi config set` writes it."""
    words = f"a number from {low:g}{'' if low_is_allowed else ' (excluded)'}"
    words += f" to {high:g}{'' if high_is_allowed else ' (excluded)'}"

    def check(value: Any) -> float:
        number = _decimal(value)
        if number is None:
            raise refused(words)
        above = number >= Decimal(str(low)) if low_is_allowed else number > Decimal(str(low))
        below = number <= Decimal(str(high)) if high_is_allowed else number < Decimal(str(high))
        if not (above and below):
            raise refused(words)
        return float(number)

    return BeforeValidator(check)


def _text(value: Any, allowed: str) -> str:
    if isinstance(value, bool | int | float):
        raise refused(f"{allowed}; {QUOTE_IT}")
    if not isinstance(value, str):
        raise refused(allowed)
    return value


def matching(pattern: re.Pattern[str], allowed: str, limit: int = 253) -> BeforeValidator:
    """A string of one shape, at most `limit` characters long."""

    def check(value: Any) -> str:
        text = _text(value, allowed)
        if len(text) > limit:
            raise refused(f"{allowed}; this one has {len(text)} characters")
        if not pattern.match(text):
            raise refused(allowed)
        return text

    return BeforeValidator(check)


def is_dns_label(text: str) -> bool:
    """The shape of a name in DNS, whatever its length."""
    return _DNS_LABEL.match(text) is not None


def dns_label(limit: int = LABEL_LIMIT) -> BeforeValidator:
    """A name that Kubernetes and DigitalOcean accept, short enough for the names that are made from it."""
    return matching(
        _DNS_LABEL,
        "lower-case ASCII letters, digits and hyphens, a letter first, a letter or digit last, "
        f"at most {limit} characters",
        limit,
    )


def _text_or_nothing(value: Any) -> str | None:
    """An empty string is what Pulumi.yaml gives as the default of a string that may be left out."""
    return None if value is None or value == "" else _filled_string(value)


def _any_string(value: Any) -> str:
    return _text(value, "a string")


def _filled_string(value: Any) -> str:
    text = _text(value, "a string that is not empty")
    if not text.strip():
        raise refused("a string that is not empty")
    return text


def parse_duration(text: str) -> timedelta:
    """Reads a wait as Go writes it (`90s`, `3m`, `1h30m`). Raises ValueError for anything else."""
    seconds, end = Decimal(0), 0
    for part in _DURATION_PART.finditer(text):
        if part.start() != end:
            break
        seconds, end = seconds + Decimal(part[1]) * UNIT_SECONDS[part[2]], part.end()
    if not text or end != len(text) or seconds > INT32_MAX:
        raise ValueError(text)
    return timedelta(milliseconds=int(seconds * 1000))


def go_duration(wait: timedelta) -> str:
    """Writes a wait as Go's `Duration.String` does (`10m0s`), which is how DigitalOcean's API shows it."""
    milliseconds = round(wait.total_seconds() * 1000)
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    tail = f"{seconds + rest / 1000:g}s"
    if hours:
        return f"{hours}h{minutes}m{tail}"
    return f"{minutes}m{tail}" if minutes else tail


def _wait(value: Any) -> timedelta:
    allowed = "a wait with its unit, longer than zero, as Go writes it: 90s, 3m, 1h30m"
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise refused(allowed)
    try:
        wait = parse_duration(value)
    except ValueError:
        raise refused(allowed) from None
    if not wait:
        raise refused(allowed)
    return wait


def parse_quantity(text: str) -> Decimal:
    """The number behind a Kubernetes quantity (`500m`, `2Gi`). Raises ValueError for anything else."""
    found = _QUANTITY.match(text)
    if not found:
        raise ValueError(text)
    return Decimal(found[1]) * QUANTITY_FACTORS[found[2] or ""]


def _quantity(value: Any) -> str:
    allowed = 'a quantity above zero as Kubernetes writes it: "1", 500m, 8Gi'
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise refused(allowed)
    try:
        number = parse_quantity(str(value))
    except ValueError:
        raise refused(allowed) from None
    if not number:
        raise refused(allowed)
    return str(value)


def _image(value: Any) -> str:
    allowed = "an image with an exact tag or a digest (registry/name:1.2.3 or registry/name@sha256:…)"
    found = _IMAGE.match(_text(value, allowed)) if not isinstance(value, str) or len(value) <= 512 else None
    if not found:
        raise refused(allowed)
    if found["digest"]:
        return str(value)
    if not found["tag"]:
        raise refused(f"{allowed}; without a tag, Kubernetes takes `latest`")
    if _FLOATING_TAG.search(found["tag"]):
        raise refused(f"{allowed}; the tag `{found['tag']}` names another image tomorrow")
    return str(value)


def _cidr(value: Any) -> str:
    allowed = "an IPv4 network as address/prefix with no host bits set, for example 10.244.0.0/16"
    try:
        return str(ipaddress.IPv4Network(_text(value, allowed)))
    except ValueError:
        raise refused(allowed) from None


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)

Flag = StrictBool
Count = Annotated[int, whole(0)]
Positive = Annotated[int, whole(1)]
Usd = Annotated[Decimal, BeforeValidator(_dollars)]
"""US dollars per hour."""
Share = Annotated[float, fraction(0, 1, low_is_allowed=True, high_is_allowed=False)]
Speed = Annotated[float, fraction(0, 1000, low_is_allowed=False, high_is_allowed=True)]
Wait = Annotated[timedelta, BeforeValidator(_wait), PlainSerializer(go_duration, when_used="json")]
Text = Annotated[str, BeforeValidator(_any_string)]
FilledText = Annotated[str, BeforeValidator(_filled_string)]
TextOrNothing = Annotated[str | None, BeforeValidator(_text_or_nothing)]
Label = Annotated[str, dns_label()]
WorkloadName = Annotated[str, dns_label(40)]
"""Service or job: leaves room for a template hash, a task's index and KEDA's prefix within 63 characters."""
ReleaseName = Annotated[str, dns_label(53)]
"""Helm's own limit."""
ObjectName = Annotated[
    str, matching(_DNS_SUBDOMAIN, "the name of a Kubernetes object: lower-case letters, digits, `-` and `.`")
]
LabelValue = Annotated[
    str,
    matching(
        _LABEL_VALUE,
        "a label value: at most 63 ASCII letters, digits, `-`, `_`, `.`; a letter or digit first and last",
        LABEL_LIMIT,
    ),
]
LabelKey = Annotated[str, matching(_LABEL_KEY, "a taint's key, as in example.com/dedicated", 253 + 1 + 63)]
Region = Annotated[str, matching(re.compile(r"[a-z]{3}[0-9]{1,2}\Z"), "a region of DigitalOcean, for example atl1")]
Uuid = Annotated[str, matching(_UUID, "an id: 8-4-4-4-12 hexadecimal digits (a name will not do)")]
GpuSize = Annotated[
    str,
    matching(
        re.compile(r"gpu-[a-z0-9]+(-[a-z0-9]+)*\Z"),
        "the slug of a GPU size, for example gpu-h200x1-141gb",
        100,
    ),
]
Version = Annotated[
    str,
    matching(
        _VERSION,
        'a prefix as in "1.36" (the newest patch when the cluster is made) or a full slug as in 1.36.3-do.0; '
        "never `latest`, which shows an upgrade at each run",
    ),
]
ChartVersion = Annotated[str, matching(_CHART_VERSION, "one exact chart version, for example 1.2.3; never a range")]
Repository = Annotated[
    str,
    matching(re.compile(r"(https|oci)://[^\s/]+(/\S*)?\Z"), "the https:// or oci:// address of a repository"),
]
Cidr = Annotated[str, BeforeValidator(_cidr)]
Quantity = Annotated[str, BeforeValidator(_quantity)]
Image = Annotated[str, BeforeValidator(_image)]
EnvName = Annotated[
    str,
    matching(re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z"), "the name of an environment variable: letters, digits, `_`"),
]
Placement = Literal["spot", "onDemand"]


def at_least_one(what: str) -> Callable[[Any], Any]:
    """Refuses an empty mapping or list."""

    def check(value: Any) -> Any:
        if not value:
            raise refused(f"at least one {what}")
        return value

    return check


def not_below_min(value: int, info: ValidationInfo) -> int:
    """A `max` that is at least the `min` before it in the same section."""
    low = info.data.get("min")
    if low is not None and value < low:
        raise refused(f"a whole number from min ({low}) up")
    return value
