"""The DigitalOcean account, read and changed through pydo.

It owns the token (taken from the environment alone), the endpoint and the wording of API failures. It decides nothing:
what an answer means is decided in `doks_gpu.plan`.
"""

import base64
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.plan.facts import AttachedEndpoint, Facts, LiveCluster, LivePool, SizeFact
from doks_gpu.plan.tags import PoolTags, parse_pool_tags, stack_of

TOKEN_VARIABLE = "DIGITALOCEAN_TOKEN"  # noqa: S105 - the name of the variable, not its value
ENDPOINT_VARIABLE = "DIGITALOCEAN_API_URL"
"""The provider reads the same variable (its schema, `apiEndpoint`), so a rehearsal redirects both at once."""

PAGE_SIZE = 200
"""The API's largest page (DigitalOcean API reference, "Pagination")."""

REQUEST_TIMEOUT_SECONDS = 30
READ_SECONDS = 60
"""Life of the credentials that are asked for only to learn an attached cluster's address and certificate."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class CloudError(DoksGpuError):
    """The API refused, failed or could not be reached."""


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Short-lived access to one cluster. `repr` hides the token."""

    server: str
    certificate_authority: str
    """Base64 of the PEM text, as the API sends it."""
    token: str
    expires_at: datetime

    @property
    def certificate_authority_pem(self) -> str:
        return base64.b64decode(self.certificate_authority).decode()

    def __repr__(self) -> str:
        return f"Credentials(server={self.server!r}, token=<hidden>, expires_at={self.expires_at.isoformat()})"


def token_from_environment(environment: Mapping[str, str] = os.environ) -> str | None:
    """The DigitalOcean token, or None where the variable is unset or empty.

    Raises `RefusedError`, without the token, for one that cannot go into a header: HTTP libraries would print it whole.
    """
    token = environment.get(TOKEN_VARIABLE) or None
    if token and not all(character.isascii() and character.isprintable() and character != " " for character in token):
        raise RefusedError(
            f"{TOKEN_VARIABLE} holds a space, a line break or another character that no token has. "
            "Often it is the end of a line of the file that it was read from: export it again."
        )
    return token


class Cloud:
    """One account, as one token sees it."""

    def __init__(self, token: str, endpoint: str | None = None) -> None:
        import pydo

        self._token = token
        self._client = pydo.Client(
            token,
            retry_total=3,
            timeout=REQUEST_TIMEOUT_SECONDS,
            connection_timeout=REQUEST_TIMEOUT_SECONDS,
            read_timeout=REQUEST_TIMEOUT_SECONDS,
            retry_backoff_max=5,
            **(_elsewhere(token, endpoint) if endpoint else {}),
        )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Cloud":
        """Raises `RefusedError` when there is no token."""
        token = token_from_environment(environment)
        if token is None:
            raise RefusedError(
                f"{TOKEN_VARIABLE} is not set. Make a token in the control panel (API > Tokens) and run: "
                f"export {TOKEN_VARIABLE}=…"
            )
        return cls(token, environment.get(ENDPOINT_VARIABLE) or None)

    def facts(
        self, project: str, stack: str, cluster_id: str | None = None, *, own_clusters: Collection[str] = ()
    ) -> Facts:
        """Reads everything that the rules of the plan compare with. `cluster_id` is that of an attached cluster.

        In `own_clusters` every pool with tags of ours counts: a stack that was renamed left its old name there.
        """
        account = self._call("read the account", self._client.account.get)["account"]
        options = self._call("read DOKS's options", self._client.kubernetes.list_options)["options"]
        clusters = list(self._pages("list clusters", self._client.kubernetes.list_clusters, "kubernetes_clusters"))
        tagged = {c["id"] for c in clusters if stack_of(c.get("tags") or ()) == (project, stack)}
        team: Mapping[str, Any] = account.get("team") or {}
        return Facts(
            read_on=datetime.now(UTC).date(),
            sizes={row["slug"]: _size(row) for row in self._pages("list sizes", self._client.sizes.list, "sizes")},
            doks_sizes=frozenset(row["slug"] for row in options.get("sizes") or ()),
            doks_regions=frozenset(row["slug"] for row in options.get("regions") or ()),
            versions=tuple(row["slug"] for row in options.get("versions") or ()),
            droplet_limit=account.get("droplet_limit"),
            team_id=team.get("uuid"),
            team_name=team.get("name"),
            clusters=tuple(
                _cluster(row, ours=row["id"] in tagged) for row in clusters if row["id"] in {*tagged, cluster_id}
            ),
            attached=self._endpoint(cluster_id) if cluster_id else None,
            pools=tuple(_pools(clusters, (project, stack), own_clusters)),
        )

    def _endpoint(self, cluster_id: str) -> AttachedEndpoint:
        known = self.credentials(cluster_id, READ_SECONDS)
        return AttachedEndpoint(server=known.server, certificate_authority=known.certificate_authority)

    def credentials(self, cluster_id: str, expiry_seconds: int) -> Credentials:
        """Mints a token for a cluster; it is worth `expiry_seconds`, and the account lists it until then."""
        answer = self._call(
            f"get credentials of cluster {cluster_id}",
            lambda: self._client.kubernetes.get_credentials(cluster_id, expiry_seconds=expiry_seconds),
        )
        return Credentials(
            server=answer["server"],
            certificate_authority=answer["certificate_authority_data"],
            token=answer["token"],
            expires_at=datetime.fromisoformat(answer["expires_at"].replace("Z", "+00:00")),
        )

    def has_cluster(self, cluster_id: str) -> bool:
        """Whether the account still holds it: one that was deleted by hand is not there."""
        found = self._call(
            f"look for cluster {cluster_id}",
            lambda: self._client.kubernetes.get_cluster(cluster_id),
            gone_is_fine=True,
        )
        return "kubernetes_cluster" in found

    def associated_resources(self, cluster_id: str) -> list[str]:
        """Volumes, snapshots and load balancers that the cluster's workloads made: a destroy leaves them, billing."""
        answer = self._call(
            f"list what cluster {cluster_id} made",
            lambda: self._client.kubernetes.list_associated_resources(cluster_id),
            gone_is_fine=True,
        )
        kinds = {
            "volumes": "volume",
            "volume_snapshots": "volume snapshot",
            "load_balancers": "load balancer",
        }
        return [f"{kind} {row['name']} ({row['id']})" for key, kind in kinds.items() for row in answer.get(key) or ()]

    def delete_pool(self, cluster_id: str, pool_id: str) -> None:
        """Deletes a node pool with its nodes; one that is already gone is fine."""
        self._call(
            f"delete node pool {pool_id}",
            lambda: self._client.kubernetes.delete_node_pool(cluster_id, pool_id),
            gone_is_fine=True,
        )

    def delete_cluster(self, cluster_id: str) -> None:
        """Deletes a cluster with all its pools; one that is already gone is fine."""
        self._call(
            f"delete cluster {cluster_id}",
            lambda: self._client.kubernetes.delete_cluster(cluster_id),
            gone_is_fine=True,
        )

    def _pages(self, what: str, call: Callable[..., Any], key: str) -> Iterator[Mapping[str, Any]]:
        page, seen = 1, 0
        while True:
            answer = self._call(what, partial(call, page=page, per_page=PAGE_SIZE))
            rows = answer.get(key) or []
            yield from rows
            seen += len(rows)
            total = (answer.get("meta") or {}).get("total", 0)
            if not rows or seen >= total:
                return
            page += 1

    def _call(self, what: str, call: Callable[[], Any], *, gone_is_fine: bool = False) -> Any:
        from azure.core.exceptions import AzureError, HttpResponseError

        try:
            answer = call()
        except HttpResponseError as error:
            if gone_is_fine and error.status_code == 404:
                return {}
            raise self._error(_http_message(what, error.status_code, error.message)) from None
        except AzureError as error:
            raise self._error(f"DigitalOcean could not be reached to {what}: {_first_line(str(error))}") from None
        if isinstance(answer, Mapping) and "message" in answer and "request_id" in answer:
            if gone_is_fine and answer.get("id") == "not_found":
                return {}
            raise self._error(_http_message(what, None, f"{answer.get('id')}: {answer['message']}"))
        return answer

    def _error(self, message: str) -> CloudError:
        return CloudError(message.replace(self._token, "[hidden]"))


def _elsewhere(token: str, endpoint: str) -> dict[str, Any]:
    """Options for another endpoint. Raises `RefusedError` where the token would travel unencrypted.

    Without TLS (a rehearsal on this machine) azure-core's own bearer policy refuses to send anything.
    """
    from azure.core.credentials import AzureKeyCredential
    from azure.core.pipeline.policies import AzureKeyCredentialPolicy

    address = urlsplit(endpoint)
    if address.scheme == "https":
        return {"endpoint": endpoint}
    if address.scheme != "http" or address.hostname not in LOOPBACK:
        raise RefusedError(
            f"{ENDPOINT_VARIABLE} is {endpoint}: allowed is https://…, or http:// on this machine alone."
        )
    policy = AzureKeyCredentialPolicy(AzureKeyCredential(token), "Authorization", prefix="Bearer")
    return {"endpoint": endpoint, "authentication_policy": policy}


def _http_message(what: str, status: int | None, message: str) -> str:
    hint = {
        401: f" Is {TOKEN_VARIABLE} set to a token that is still valid?",
        403: f" The token in {TOKEN_VARIABLE} lacks a scope for this.",
        429: " The account's rate limit is used up: wait a few minutes and run the same command again.",
    }.get(status or (401 if message.lower().startswith("unauthorized") else 0), "")
    code = f" (HTTP {status})" if status else ""
    return f"DigitalOcean refused to {what}{code}: {_first_line(message)}.{hint}"


def _first_line(text: str) -> str:
    """azure-core prefixes `(None)` to an answer without a code of its own."""
    line = (text.strip().splitlines() or ["no reason given"])[0]
    return line.removeprefix("(None) ").rstrip(".")


def _size(row: Mapping[str, Any]) -> SizeFact:
    gpu: Mapping[str, Any] = row.get("gpu_info") or {}
    memory, count = (gpu.get("vram") or {}).get("amount"), gpu.get("count")
    return SizeFact(
        usd_per_hour=Decimal(str(row["price_hourly"])),
        regions=frozenset(row.get("regions") or ()),
        gpu_count=count,
        gpu_model=gpu.get("model"),
        # The API tells the memory of all GPUs together: 640 for gpu-h100x8-640gb.
        gpu_memory_gib=memory // count if memory and count else None,
    )


def _cluster(row: Mapping[str, Any], *, ours: bool) -> LiveCluster:
    autoscaler: Mapping[str, Any] = row.get("cluster_autoscaler_configuration") or {}
    return LiveCluster(
        id=row["id"],
        name=row["name"],
        region=row["region"],
        version=row["version"],
        expanders=tuple(autoscaler.get("expanders") or ()),
        ours=ours,
        state=(row.get("status") or {}).get("state", ""),
        highly_available=bool(row.get("ha")),
        other_nodes=_untagged_nodes(row),
    )


def _untagged_nodes(cluster: Mapping[str, Any]) -> Mapping[str, int]:
    nodes: Counter[str] = Counter()
    for pool in cluster.get("node_pools") or ():
        if parse_pool_tags(pool.get("tags") or ()) is None:
            nodes[pool["size"]] += pool["count"]
    return nodes


def _pools(
    clusters: list[Mapping[str, Any]], owner: tuple[str, str], own_clusters: Collection[str]
) -> Iterator[LivePool]:
    for cluster in clusters:
        for row in cluster.get("node_pools") or ():
            tags = parse_pool_tags(row.get("tags") or ())
            if tags is not None and ((tags.project, tags.stack) == owner or cluster["id"] in own_clusters):
                yield _pool(cluster["id"], row, tags)


def _pool(cluster_id: str, row: Mapping[str, Any], tags: PoolTags) -> LivePool:
    return LivePool(
        id=row["id"],
        cluster_id=cluster_id,
        name=row["name"],
        size=row["size"],
        fleet=tags.fleet,
        tier=tags.tier,
        generation=tags.generation,
        count=row["count"],
        ceiling=row["max_nodes"] if row.get("auto_scale") else row["count"],
        usd_per_hour=tags.usd_per_hour,
    )
