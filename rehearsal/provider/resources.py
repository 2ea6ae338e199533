"""What the protocol needs from a resource type."""

from dataclasses import dataclass
from typing import Final, Protocol

from rehearsal.provider.checking import Failure
from rehearsal.provider.diffing import Changes
from rehearsal.provider.marshal import Props
from rehearsal.provider.schema import Fields

DIGITALOCEAN: Final = "digitalocean:index"


@dataclass(frozen=True)
class Found:
    """A resource that exists: its outputs and, where the import had to look it up, nothing else."""

    id: str
    outputs: Props


class ResourceType(Protocol):
    """One type token. Every method that calls the API may raise ProviderError."""

    @property
    def token(self) -> str: ...

    @property
    def fields(self) -> Fields: ...

    def extra_failures(self, inputs: Props, /) -> list[Failure]:
        """What the property table cannot say about the inputs."""

    def diff(self, state: Props, inputs: Props, /) -> Changes: ...

    def planned(self, state: Props | None, inputs: Props, /) -> Props:
        """The outputs that a preview shows; `state` is None for a creation."""

    def create(self, inputs: Props, limit: float, /) -> Found:
        """`limit` in seconds. Whatever was made before an error stays alive and unknown to the state."""

    def read(self, resource_id: str, state: Props, /) -> Props | None:
        """The outputs now, or None when it is gone."""

    def import_(self, resource_id: str, /) -> Props | None:
        """The outputs of a resource of which only the id is known, or None when there is none."""

    def update(self, resource_id: str, state: Props, inputs: Props, limit: float, /) -> Props:
        """Raises GoneError when the resource is not there, PartialUpdateError when it did not finish."""

    def delete(self, resource_id: str, state: Props, limit: float, /) -> None: ...
