"""Refusals of the API, in its own shape: `{id, message, request_id}`.

Codes: DigitalOcean's OpenAPI text, 2026-08-07. The texts of a stock-out and of a size that a region does not
sell were seen by others; the other texts are ours, in the same style.
"""

from doks_gpu.errors import DoksGpuError

_IDS = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "precondition_failed",
    422: "unprocessable_entity",
    429: "too_many_requests",
    500: "server_error",
    503: "service_unavailable",
}

_MESSAGES = {
    401: "Unable to authenticate you",
    404: "The resource you requested could not be found.",
    405: "The method is not allowed here.",
    422: "This size is unavailable.",
    429: "API Rate limit exceeded.",
    500: "Unexpected server-side error",
    503: "Service unavailable",
}

UNAVAILABLE = "This size is unavailable."
NOT_IN_REGION = "Size is not available in this region"


class ApiRefusedError(DoksGpuError):
    """A request is answered with an error status; nothing was changed."""

    def __init__(self, status: int, message: str = "") -> None:
        self.status = status
        self.message = message or default_message(status)
        super().__init__(f"{status}: {self.message}")


def not_found() -> ApiRefusedError:
    """The thing is not there, or not any more."""
    return ApiRefusedError(404)


def unprocessable(message: str) -> ApiRefusedError:
    """The request is understood and refused."""
    return ApiRefusedError(422, message)


def error_id(status: int) -> str:
    """The `id` of an error body."""
    return _IDS.get(status, "error")


def default_message(status: int) -> str:
    """What DigitalOcean says when there is no more to say."""
    return _MESSAGES.get(status, error_id(status).replace("_", " "))
