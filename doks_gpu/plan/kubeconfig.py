"""The kubeconfig that the Kubernetes provider gets: no token in it, only the command that asks for one.

DOKS tokens die after days and a refresh runs with what the state holds, so a token in the state would break a stack
that was left alone (docs/adr/0004-kubeconfig-credentials.md).
"""

import json

TOKEN_COMMAND = "doks-gpu"  # noqa: S105 - the command's name
INSTALL_HINT = (
    "doks-gpu kube-token asks DigitalOcean for a short-lived token. Put doks-gpu on PATH "
    "(activate the virtual environment, or use `doks-gpu up`) and export DIGITALOCEAN_TOKEN."
)


def exec_kubeconfig(cluster_id: str, server: str, certificate_authority: str) -> str:
    """A kubeconfig as JSON (which is YAML). `certificate_authority` is base64 of the PEM text.

    The same cluster always gives the same text: a renewed token changes nothing in the state.
    """
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": TOKEN_COMMAND,
            "args": ["kube-token", cluster_id],
            "interactiveMode": "Never",
            "installHint": INSTALL_HINT,
        }
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster_id,
                    "cluster": {"server": server, "certificate-authority-data": certificate_authority},
                }
            ],
            "users": [{"name": TOKEN_COMMAND, "user": user}],
            "contexts": [{"name": cluster_id, "context": {"cluster": cluster_id, "user": TOKEN_COMMAND}}],
            "current-context": cluster_id,
        },
        sort_keys=True,
    )
