"""The one function of the provider that the stand-in serves: `getKubernetesVersions`."""

from typing import Final

from rehearsal.provider.api import Api
from rehearsal.provider.checking import type_words
from rehearsal.provider.errors import ApiError, ProviderError
from rehearsal.provider.marshal import Props

VERSIONS: Final = "digitalocean:index/getKubernetesVersions:getKubernetesVersions"


def invoke(api: Api, token: str, arguments: Props) -> Props:
    """The result of a function. Raises ProviderError for any other function, and for bad arguments."""
    if token != VERSIONS:
        raise ProviderError(f"the stand-in for the digitalocean provider does not serve {token}; it serves {VERSIONS}")
    unknown = sorted(arguments.keys() - {"versionPrefix"})
    if unknown:
        raise ProviderError(f"unknown argument {', '.join(unknown)}; known here: versionPrefix")
    prefix = arguments.get("versionPrefix", "")
    if not isinstance(prefix, str):
        raise ProviderError(f"versionPrefix: expected a string, got {type_words(prefix)}")
    return _versions(api, prefix)


def _versions(api: Api, prefix: str) -> Props:
    """The API lists the newest first; the latest is the first that has the prefix."""
    try:
        options = api.get("/v2/kubernetes/options")["options"]
    except ApiError as error:
        raise ProviderError(f"Error retrieving Kubernetes options: {error}") from error
    valid = [version["slug"] for version in options["versions"] if version["slug"].startswith(prefix)]
    return {
        "id": "kubernetes-versions",
        "latestVersion": valid[0] if valid else "",
        "validVersions": valid,
        "versionPrefix": prefix,
    }
