"""The kubeconfig that the provider renders from a cluster's credentials, and when it asks for new ones."""

from datetime import datetime
from typing import Any

import yaml

from rehearsal.provider.api import Body
from rehearsal.provider.marshal import Props


def still_valid(stored: list[Props], now: datetime) -> bool:
    """Whether the stored credentials need no renewal: there are some, and they have not expired."""
    if not stored:
        return False
    try:
        return datetime.fromisoformat(str(stored[0].get("expiresAt"))) > now
    except ValueError:
        return False


def outputs(name: str, region: str, credentials: Body) -> Props:
    """One element of `kubeConfigs`."""
    config: Props = {
        "clusterCaCertificate": credentials["certificate_authority_data"],
        "expiresAt": credentials["expires_at"],
        "host": credentials["server"],
        "rawConfig": _render(name, region, credentials),
    }
    optional = {
        "clientCertificate": credentials.get("client_certificate_data"),
        "clientKey": credentials.get("client_key_data"),
        "token": credentials.get("token"),
    }
    return config | {key: value for key, value in optional.items() if value}


def _render(name: str, region: str, credentials: Body) -> str:
    context = f"do-{region}-{name}"
    user = f"{context}-admin"
    identity: dict[str, Any] = {
        "client-certificate-data": credentials.get("client_certificate_data"),
        "client-key-data": credentials.get("client_key_data"),
        "token": credentials.get("token"),
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": context,
                "cluster": {
                    "certificate-authority-data": credentials["certificate_authority_data"],
                    "server": credentials["server"],
                },
            }
        ],
        "contexts": [{"name": context, "context": {"cluster": context, "user": user}}],
        "current-context": context,
        "users": [{"name": user, "user": {key: value for key, value in identity.items() if value}}],
    }
    return yaml.safe_dump(document, sort_keys=False)
