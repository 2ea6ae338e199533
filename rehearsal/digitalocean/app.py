"""The HTTP side: who may ask, what fails on purpose, what is remembered, and errors in DigitalOcean's shape."""

import asyncio
import hmac
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.errors import ApiRefusedError, default_message, error_id
from rehearsal.digitalocean.routes_admin import admin_routes
from rehearsal.digitalocean.routes_kubernetes import kubernetes_routes
from rehearsal.digitalocean.routes_other import other_routes
from rehearsal.digitalocean.traffic import Failure

Next = Callable[[Request], Awaitable[Response]]


def create_app(cloud: DigitalOcean, token: str) -> FastAPI:
    """`/v2` for those who send the token, `/admin` for whoever reaches the port: serve it on loopback alone."""
    app = FastAPI(title="DigitalOcean stand-in", openapi_url="/openapi.json", docs_url="/docs", redoc_url=None)
    app.include_router(kubernetes_routes(cloud))
    app.include_router(other_routes(cloud))
    app.include_router(admin_routes(cloud))
    _word_errors(app)

    @app.middleware("http")
    async def gate(request: Request, call_next: Next) -> Response:
        if not request.url.path.startswith("/v2/"):
            return await call_next(request)
        body = await request.body()
        response = await _answer(cloud, token, request, call_next)
        cloud.requests.add(
            at=cloud.world.clock.now(),
            method=request.method,
            path=request.url.path,
            query=dict(request.query_params),
            body=_parsed(body),
            status=response.status_code,
            user_agent=request.headers.get("user-agent", ""),
        )
        return response

    return app


def _word_errors(app: FastAPI) -> None:
    @app.exception_handler(ApiRefusedError)
    async def refused(_: Request, error: ApiRefusedError) -> Response:
        return error_response(error.status, error.message)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        problems = error.errors()
        if any(problem["type"] == "json_invalid" for problem in problems):
            return error_response(400, "the body is not JSON")
        return error_response(422, "; ".join(f"{_place(problem['loc'])}: {problem['msg']}" for problem in problems))

    @app.exception_handler(HTTPException)
    async def no_route(_: Request, error: HTTPException) -> Response:
        return error_response(error.status_code)


async def _answer(cloud: DigitalOcean, token: str, request: Request, call_next: Next) -> Response:
    failure = cloud.failures.take(request.method, request.url.path)
    if failure and failure.slow_seconds:
        await asyncio.sleep(failure.slow_seconds)
    if failure and failure.status and not failure.applied:
        return _failed(failure)
    if not _authorized(request, token):
        return error_response(401)
    response = await call_next(request)
    return _failed(failure) if failure and failure.status else response


def _authorized(request: Request, token: str) -> bool:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(sent.encode(), token.encode())


def error_response(status: int, message: str = "") -> JSONResponse:
    """An error as DigitalOcean words it."""
    request_id = str(uuid.uuid4())
    content = {"id": error_id(status), "message": message or default_message(status), "request_id": request_id}
    return JSONResponse(content, status_code=status, headers={"x-request-id": request_id})


def _failed(failure: Failure) -> Response:
    response = error_response(failure.status or 500, failure.message)
    if failure.retry_after is not None:
        response.headers["retry-after"] = str(failure.retry_after)
    return response


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location[1:]) or str(location[0])


def _parsed(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
