"""The autoscaler's priority map as DOKS first makes it (DigitalOcean's autoscaling page, 2025 edition)."""

import httpx

NAMESPACE = "kube-system"
NAME = "cluster-autoscaler-priority-expander"
MANAGED_LABELS = {
    "c3.doks.digitalocean.com/component": "cluster-autoscaler",
    "c3.doks.digitalocean.com/plane": "data",
    "doks.digitalocean.com/managed": "true",
}
STARTER_TEXT = "1:\n  - .*            # starter content"


def create_starter_map(api: httpx.Client) -> bool:
    """Makes the map unless it is there; says whether it did. Raises `httpx.HTTPError`."""
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "labels": MANAGED_LABELS},
        "data": {"priorities": STARTER_TEXT},
    }
    answer = api.post(f"/api/v1/namespaces/{NAMESPACE}/configmaps", params={"fieldManager": "doks"}, json=body)
    if answer.status_code == httpx.codes.CONFLICT:
        return False
    answer.raise_for_status()
    return True
