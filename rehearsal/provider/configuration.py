"""The provider's own settings, from its configuration or the environment.

Names, variables and defaults as the real provider declares them (pulumi_digitalocean 4.84.1; read on
2026-11-30).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.provider.errors import ProviderError
from rehearsal.provider.marshal import Props

NUMBERS: Final = frozenset({"httpRetryMax", "httpRetryWaitMin", "httpRetryWaitMax", "requestsPerSecond"})
TEXTS: Final = frozenset({"token", "apiEndpoint", "spacesAccessId", "spacesSecretKey", "spacesEndpoint"})
_ENGINE_KEYS: Final = frozenset({"version", "pluginDownloadURL"})


@dataclass(frozen=True)
class Configuration:
    token: str
    """Empty: requests go out without one, and the API refuses them."""
    endpoint: str
    """Bare origin, without a trailing slash."""
    retry_max: int
    """Further attempts after a 429 or 5xx."""
    retry_wait_min: float
    retry_wait_max: float
    """Seconds."""
    requests_per_second: float
    """0: no limit."""

    def __repr__(self) -> str:
        return f"Configuration(endpoint={self.endpoint!r})"


def failures(props: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Key and reason of everything in the provider's configuration that the provider refuses."""
    found = []
    for key, value in props.items():
        if key.startswith("__") or key in _ENGINE_KEYS:
            continue
        if key not in NUMBERS | TEXTS:
            found.append((key, "not a setting of the digitalocean provider"))
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            if key in NUMBERS and _number(value) is None:
                found.append((key, "expected a number of at least 0"))
            elif key in TEXTS and not isinstance(value, str):
                found.append((key, "expected a string, got a number"))
        elif isinstance(value, bool | list | dict):
            found.append((key, f"expected a {'number' if key in NUMBERS else 'string'}"))
    return found


def configuration(props: Props, environment: Mapping[str, str]) -> Configuration:
    """The settings in force: configuration, then environment. Raises ProviderError for an unusable number."""
    return Configuration(
        token=_text(props, "token", environment, "DIGITALOCEAN_TOKEN", "DIGITALOCEAN_ACCESS_TOKEN"),
        endpoint=(
            _text(props, "apiEndpoint", environment, "DIGITALOCEAN_API_URL") or "https://api.digitalocean.com"
        ).rstrip("/"),
        retry_max=int(_setting(props, "httpRetryMax", environment, "DIGITALOCEAN_HTTP_RETRY_MAX", 4)),
        retry_wait_min=_setting(props, "httpRetryWaitMin", environment, "DIGITALOCEAN_HTTP_RETRY_WAIT_MIN", 1),
        retry_wait_max=_setting(props, "httpRetryWaitMax", environment, "DIGITALOCEAN_HTTP_RETRY_WAIT_MAX", 30),
        requests_per_second=_setting(props, "requestsPerSecond", environment, "DIGITALOCEAN_REQUESTS_PER_SECOND", 0),
    )


def _text(props: Props, key: str, environment: Mapping[str, str], *variables: str) -> str:
    value = props.get(key)
    if isinstance(value, str) and value:
        return value
    return next((environment[name] for name in variables if environment.get(name)), "")


def _setting(props: Props, key: str, environment: Mapping[str, str], variable: str, default: float) -> float:
    value = props.get(key)
    if not isinstance(value, str | int | float) or value == "":
        value = environment.get(variable) or default
    number = _number(value)
    if number is None:
        raise ProviderError(f"{key} ({variable}) is {value!r}; it must be a number of at least 0")
    return number


def _number(value: str | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
