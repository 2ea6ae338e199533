"""`/admin`: the owner's side of the stand-in. Callers in the same process may use `DigitalOcean` itself."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from rehearsal.digitalocean.clock import rfc3339
from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.control import AssociatedThing, Bill, ReclaimOrder
from rehearsal.digitalocean.settings import StandInSettings, Strict
from rehearsal.digitalocean.traffic import Failure, LoggedRequest
from rehearsal.digitalocean.views import Json


class Advance(Strict):
    """By how much the clock moves."""

    seconds: Annotated[float, Field(ge=0)]


class ClockChange(Strict):
    """How fast it runs from now on: 1 is real time, 0 stands still."""

    scale: Annotated[float, Field(ge=0)]


def admin_routes(cloud: DigitalOcean) -> APIRouter:
    """Time, settings, reclaims, failures, the request log, the bill, the state, token reviews."""
    router = APIRouter(prefix="/admin")
    _time_and_settings(router, cloud)
    _events(router, cloud)
    _traffic(router, cloud)
    _views(router, cloud)
    return router


def _time_and_settings(router: APIRouter, cloud: DigitalOcean) -> None:
    clock = cloud.world.clock

    def told() -> Json:
        return {"now": rfc3339(clock.now()), "scale": clock.scale}

    @router.get("/clock")
    def get_clock() -> Json:
        return told()

    @router.put("/clock")
    def set_clock(body: ClockChange) -> Json:
        clock.rescale(body.scale)
        return told()

    @router.post("/clock/advance")
    def advance(body: Advance) -> Json:
        clock.advance(body.seconds)
        return told()

    @router.get("/settings")
    def get_settings() -> StandInSettings:
        return cloud.world.settings

    @router.patch("/settings")
    def change_settings(body: dict[str, Any]) -> StandInSettings:
        try:
            return cloud.world.change(**body)
        except ValidationError as error:
            raise RequestValidationError(
                [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors(include_context=False)]
            ) from error


def _events(router: APIRouter, cloud: DigitalOcean) -> None:
    @router.post("/reclaims", status_code=201)
    def reclaim(body: ReclaimOrder) -> Json:
        return cloud.control.reclaim(body)

    @router.post("/clusters/{cluster_id}/associated", status_code=201)
    def associate(cluster_id: str, body: AssociatedThing) -> Json:
        return cloud.control.associate(cluster_id, body)

    @router.post("/tokenreview")
    def token_review(body: dict[str, Any]) -> Json:
        return cloud.control.token_review(body)

    @router.post("/tokenreview/{cluster_id}")
    def token_review_of_cluster(cluster_id: str, body: dict[str, Any]) -> Json:
        return cloud.control.token_review(body, cluster_id)


def _traffic(router: APIRouter, cloud: DigitalOcean) -> None:
    @router.get("/failures")
    def list_failures() -> list[Json]:
        waiting = cloud.failures.waiting()
        return [{"number": n, "left": left, **failure.model_dump()} for n, (failure, left) in waiting.items()]

    @router.post("/failures", status_code=201)
    def add_failure(body: Failure) -> Json:
        return {"number": cloud.failures.add(body)}

    @router.delete("/failures", status_code=204)
    def remove_failures() -> None:
        cloud.failures.remove()

    @router.delete("/failures/{number}", status_code=204)
    def remove_failure(number: int) -> None:
        cloud.failures.remove(number)

    @router.get("/requests")
    def requests(
        method: str | None = None, path: str = ".*", since: Annotated[int, Query(ge=0)] = 0
    ) -> list[LoggedRequest]:
        return cloud.requests.rows(method, path, since)

    @router.delete("/requests", status_code=204)
    def forget_requests() -> None:
        cloud.requests.clear()


def _views(router: APIRouter, cloud: DigitalOcean) -> None:
    @router.get("/bill")
    def bill() -> Bill:
        return cloud.control.bill()

    @router.get("/state")
    def state() -> Json:
        return cloud.control.state()
