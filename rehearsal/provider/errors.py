"""What goes wrong in the provider stand-in, with the wording of the real provider where it is known."""

from doks_gpu.errors import DoksGpuError


class ProviderError(DoksGpuError):
    """A refused or failed operation; the text reaches the user through the engine."""


class ApiError(ProviderError):
    """The API answered with an error status, written as the provider's HTTP client writes it."""

    def __init__(self, method: str, url: str, status: int, message: str, attempts: int = 0) -> None:
        tried = f"; giving up after {attempts} attempt(s)" if attempts else ""
        super().__init__(f"{method} {url}: {status} {message}{tried}")
        self.status = status


class ApiUnreachableError(ProviderError):
    """No answer from the API."""


class WaitTimeoutError(ProviderError):
    """A wait ran into its limit; what was waited for may still arrive."""


class CancelledError(ProviderError):
    """The engine cancelled the run."""


class GoneError(ProviderError):
    """The resource vanished while it was being updated."""


class PartialUpdateError(ProviderError):
    """An update was sent but did not finish: the engine keeps `outputs` and tries again next time."""

    def __init__(self, outputs: dict[str, object], reason: str) -> None:
        super().__init__(reason)
        self.outputs = outputs
