"""`/v2` besides DOKS: account, sizes, regions, Spaces keys, private networks."""

from fastapi import APIRouter

from rehearsal.digitalocean.bodies import SpacesKeyBody, SpacesKeyPatch, VpcCreate, VpcUpdate
from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.paging import Paging, page_of
from rehearsal.digitalocean.views import Json


def other_routes(cloud: DigitalOcean) -> APIRouter:
    """What the provider, pydo and our commands ask for besides clusters."""
    router = APIRouter(prefix="/v2")
    _offer(router, cloud)
    _spaces_keys(router, cloud)
    _vpcs(router, cloud)
    return router


def _offer(router: APIRouter, cloud: DigitalOcean) -> None:
    @router.get("/account")
    def account() -> Json:
        return {"account": cloud.offer.account()}

    @router.get("/sizes")
    def sizes(paging: Paging) -> Json:
        return page_of(paging, "sizes", cloud.offer.sizes())

    @router.get("/regions")
    def regions(paging: Paging) -> Json:
        return page_of(paging, "regions", cloud.offer.regions())


def _spaces_keys(router: APIRouter, cloud: DigitalOcean) -> None:
    key = "/spaces/keys/{access_key}"

    @router.get("/spaces/keys")
    def list_keys(paging: Paging) -> Json:
        return page_of(paging, "keys", cloud.spaces_keys.all())

    @router.post("/spaces/keys", status_code=201)
    def create_key(body: SpacesKeyBody) -> Json:
        return {"key": cloud.spaces_keys.create(body)}

    @router.get(key)
    def get_key(access_key: str) -> Json:
        return {"key": cloud.spaces_keys.get(access_key)}

    @router.put(key)
    @router.patch(key)
    def update_key(access_key: str, body: SpacesKeyPatch) -> Json:
        return {"key": cloud.spaces_keys.update(access_key, body)}

    @router.delete(key, status_code=204)
    def delete_key(access_key: str) -> None:
        cloud.spaces_keys.delete(access_key)


def _vpcs(router: APIRouter, cloud: DigitalOcean) -> None:
    vpc = "/vpcs/{vpc_id}"

    @router.get("/vpcs")
    def list_vpcs(paging: Paging) -> Json:
        return page_of(paging, "vpcs", cloud.vpcs.all())

    @router.post("/vpcs", status_code=201)
    def create_vpc(body: VpcCreate) -> Json:
        return {"vpc": cloud.vpcs.create(body)}

    @router.get(vpc)
    def get_vpc(vpc_id: str) -> Json:
        return {"vpc": cloud.vpcs.get(vpc_id)}

    @router.put(vpc)
    @router.patch(vpc)
    def update_vpc(vpc_id: str, body: VpcUpdate) -> Json:
        return {"vpc": cloud.vpcs.update(vpc_id, body)}

    @router.delete(vpc, status_code=204)
    def delete_vpc(vpc_id: str) -> None:
        cloud.vpcs.delete(vpc_id)
