"""`/v2/kubernetes`, path by path. Status codes: DigitalOcean's OpenAPI text, 2026-08-07."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from rehearsal.digitalocean.bodies import (
    ClusterCreate,
    ClusterUpdate,
    PoolCreate,
    PoolUpdate,
    Recycle,
    Registry,
    Upgrade,
)
from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.paging import Paging, page_of
from rehearsal.digitalocean.views import Json

Expiry = Annotated[int, Query(ge=0)]


def kubernetes_routes(cloud: DigitalOcean) -> APIRouter:
    """Every path of DOKS that the provider, pydo, the autoscaler and our commands use."""
    router = APIRouter(prefix="/v2/kubernetes")
    _clusters(router, cloud)
    _access(router, cloud)
    _pools(router, cloud)
    return router


def _clusters(router: APIRouter, cloud: DigitalOcean) -> None:
    @router.get("/options")
    def options() -> Json:
        return {"options": cloud.offer.kubernetes_options()}

    @router.get("/clusters")
    def list_clusters(paging: Paging) -> Json:
        return page_of(paging, "kubernetes_clusters", cloud.clusters.all())

    @router.post("/clusters", status_code=201)
    def create_cluster(body: ClusterCreate) -> Json:
        return {"kubernetes_cluster": cloud.clusters.create(body)}

    @router.get("/clusters/{cluster_id}")
    def get_cluster(cluster_id: str) -> Json:
        return {"kubernetes_cluster": cloud.clusters.get(cluster_id)}

    @router.put("/clusters/{cluster_id}", status_code=202)
    def update_cluster(cluster_id: str, body: ClusterUpdate) -> Json:
        return {"kubernetes_cluster": cloud.clusters.update(cluster_id, body)}

    @router.delete("/clusters/{cluster_id}", status_code=204)
    def delete_cluster(cluster_id: str) -> None:
        cloud.clusters.delete(cluster_id)

    @router.get("/clusters/{cluster_id}/upgrades")
    def available_upgrades(cluster_id: str) -> Json:
        return {"available_upgrade_versions": cloud.clusters.available_upgrades(cluster_id)}

    @router.post("/clusters/{cluster_id}/upgrade", status_code=202)
    def upgrade(cluster_id: str, body: Upgrade) -> Response:
        cloud.clusters.upgrade(cluster_id, body.version)
        return Response(status_code=202)

    @router.get("/clusters/{cluster_id}/destroy_with_associated_resources")
    def associated(cluster_id: str) -> Json:
        return cloud.clusters.associated(cluster_id)

    @router.delete("/clusters/{cluster_id}/destroy_with_associated_resources/dangerous", status_code=204)
    def delete_with_associated(cluster_id: str) -> None:
        cloud.clusters.delete(cluster_id, with_associated=True)


def _access(router: APIRouter, cloud: DigitalOcean) -> None:
    @router.get("/clusters/{cluster_id}/credentials")
    def credentials(cluster_id: str, expiry_seconds: Expiry = 0) -> Json:
        return cloud.clusters.credentials(cluster_id, expiry_seconds)

    @router.get("/clusters/{cluster_id}/kubeconfig")
    def kubeconfig(cluster_id: str, expiry_seconds: Expiry = 0) -> Response:
        return Response(cloud.clusters.kubeconfig(cluster_id, expiry_seconds), media_type="application/yaml")

    @router.get("/clusters/{cluster_id}/status_messages")
    def status_messages(cluster_id: str) -> Json:
        return cloud.clusters.status_messages(cluster_id)

    @router.post("/registry", status_code=204)
    def add_registry(body: Registry) -> None:
        cloud.clusters.set_registry(body, enabled=True)

    @router.delete("/registry", status_code=204)
    def remove_registry(body: Registry) -> None:
        cloud.clusters.set_registry(body, enabled=False)


def _pools(router: APIRouter, cloud: DigitalOcean) -> None:
    pools, pool = "/clusters/{cluster_id}/node_pools", "/clusters/{cluster_id}/node_pools/{pool_id}"

    @router.get(pools)
    def list_pools(cluster_id: str) -> Json:
        return {"node_pools": cloud.pools.all(cluster_id)}

    @router.post(pools, status_code=201)
    def create_pool(cluster_id: str, body: PoolCreate) -> Json:
        return {"node_pool": cloud.pools.create(cluster_id, body)}

    @router.get("/clusters/{cluster_id}/node_pools_template/{pool_name}")
    def template(cluster_id: str, pool_name: str) -> Json:
        return {"template": cloud.pools.template(cluster_id, pool_name)}

    @router.get(pool)
    def get_pool(cluster_id: str, pool_id: str) -> Json:
        return {"node_pool": cloud.pools.get(cluster_id, pool_id)}

    @router.put(pool, status_code=202)
    def update_pool(cluster_id: str, pool_id: str, body: PoolUpdate) -> Json:
        return {"node_pool": cloud.pools.update(cluster_id, pool_id, body)}

    @router.delete(pool, status_code=204)
    def delete_pool(cluster_id: str, pool_id: str) -> None:
        cloud.pools.delete(cluster_id, pool_id)

    @router.delete(pool + "/nodes/{node_id}", status_code=202)
    def delete_node(cluster_id: str, pool_id: str, node_id: str, skip_drain: int = 0, replace: int = 0) -> Response:
        cloud.pools.delete_node(cluster_id, pool_id, node_id, skip_drain=skip_drain == 1, replace=replace == 1)
        return Response(status_code=202)

    @router.post(pool + "/recycle", status_code=202)
    def recycle(cluster_id: str, pool_id: str, body: Recycle) -> Response:
        cloud.pools.recycle(cluster_id, pool_id, body.nodes)
        return Response(status_code=202)
