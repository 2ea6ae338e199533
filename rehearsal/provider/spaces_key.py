"""`SpacesKey`: an access key for Spaces; its secret exists once, in the answer to its creation."""

from typing import Any

from rehearsal.provider import diffing
from rehearsal.provider.api import Api, Body
from rehearsal.provider.checking import Failure
from rehearsal.provider.diffing import Changes
from rehearsal.provider.errors import ApiError, GoneError, PartialUpdateError, ProviderError
from rehearsal.provider.marshal import Props, Secret
from rehearsal.provider.resources import DIGITALOCEAN, Found
from rehearsal.provider.schema import Fields
from rehearsal.provider.tables import SPACES_KEY

_KEYS = "/v2/spaces/keys"


class SpacesKey:
    token = f"{DIGITALOCEAN}/spacesKey:SpacesKey"
    fields: Fields = SPACES_KEY

    def __init__(self, api: Api) -> None:
        self._api = api

    def extra_failures(self, _inputs: Props) -> list[Failure]:
        return []

    def diff(self, state: Props, inputs: Props) -> Changes:
        return diffing.changes(self.fields, state, inputs)

    def planned(self, state: Props | None, inputs: Props) -> Props:
        outputs = diffing.planned(self.fields, state, inputs)
        return {**outputs, "secretKey": Secret(outputs.get("secretKey"))}

    def create(self, inputs: Props, _limit: float) -> Found:
        try:
            key = self._api.call("POST", _KEYS, _body(inputs))["key"]
        except ApiError as error:
            raise ProviderError(f"Error creating Spaces key: {error}") from error
        return Found(str(key["access_key"]), _outputs(key, str(key["secret_key"])))

    def read(self, resource_id: str, state: Props) -> Props | None:
        answer = self._api.exists(f"{_KEYS}/{resource_id}")
        return None if answer is None else _outputs(answer["key"], state.get("secretKey"))

    def import_(self, resource_id: str) -> Props | None:
        raise ProviderError(f"Spaces keys cannot be imported: the secret of {resource_id} is told only once")

    def update(self, resource_id: str, state: Props, inputs: Props, _limit: float) -> Props:
        try:
            self._api.call("PUT", f"{_KEYS}/{resource_id}", _body(inputs))
        except ApiError as error:
            raise PartialUpdateError(self.planned(state, inputs), f"Error updating Spaces key: {error}") from error
        outputs = self.read(resource_id, state)
        if outputs is None:
            raise GoneError(f"Spaces key {resource_id} was gone after its update")
        return outputs

    def delete(self, resource_id: str, _state: Props, _limit: float) -> None:
        try:
            self._api.call("DELETE", f"{_KEYS}/{resource_id}")
        except ApiError as error:
            raise ProviderError(f"Error deleting Spaces key: {error}") from error


def _body(inputs: Props) -> Body:
    grants = [{"bucket": grant["bucket"], "permission": grant["permission"]} for grant in inputs.get("grants", [])]
    return {"name": inputs["name"], "grants": grants}


def _outputs(key: dict[str, Any], secret: object) -> Props:
    return {
        "accessKey": key["access_key"],
        "createdAt": key.get("created_at"),
        "grants": [
            {"bucket": grant.get("bucket", ""), "permission": grant.get("permission", "")}
            for grant in key.get("grants") or []
        ],
        "name": key["name"],
        "secretKey": Secret(secret),
    }
