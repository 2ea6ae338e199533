"""The rest of the account: who it is, what is on offer, Spaces keys and private networks."""

import secrets
import uuid

from rehearsal.digitalocean import views
from rehearsal.digitalocean.bodies import Grant, SpacesKeyBody, SpacesKeyPatch, VpcCreate, VpcUpdate
from rehearsal.digitalocean.errors import ApiRefusedError, not_found, unprocessable
from rehearsal.digitalocean.model import SpacesKey, Vpc
from rehearsal.digitalocean.views import Json
from rehearsal.digitalocean.world import World

_PERMISSIONS = ("read", "readwrite", "fullaccess")


class Offer:
    """What can be read without owning anything."""

    def __init__(self, world: World) -> None:
        self._world = world

    def account(self) -> Json:
        """Limits and the team that the token belongs to."""
        settings = self._world.settings
        return {
            "droplet_limit": settings.droplet_limit,
            "floating_ip_limit": 3,
            "reserved_ip_limit": 3,
            "volume_limit": 100,
            "name": settings.team_name,
            "email": "rehearsal@example.com",
            "uuid": settings.team_id,
            "email_verified": True,
            "status": "active",
            "status_message": "",
            "team": {"uuid": settings.team_id, "name": settings.team_name},
        }

    def sizes(self) -> list[Json]:
        """The price list."""
        with self._world.at_now():
            return [views.size(self._world, size) for size in self._world.sizes.values()]

    def regions(self) -> list[Json]:
        """Every region, with the sizes that it sells."""
        settings = self._world.settings
        return [
            {
                "slug": region,
                "name": region.upper(),
                "available": True,
                "features": ["kubernetes"],
                "sizes": [slug for slug in self._world.sizes if region in settings.regions_of(slug)],
            }
            for region in settings.regions
        ]

    def kubernetes_options(self) -> Json:
        """DOKS's own lists: versions newest first, regions, sizes by slug and name."""
        settings = self._world.settings
        return {
            "versions": [
                {"slug": slug, "kubernetes_version": slug.partition("-")[0], "supported_features": []}
                for slug in settings.versions
            ],
            "regions": [{"slug": region, "name": region.upper()} for region in settings.regions],
            "sizes": [{"slug": slug, "name": slug} for slug in self._world.sizes if slug not in settings.not_in_doks],
        }


class SpacesKeys:
    """Access keys for buckets. Every method may raise `ApiRefusedError`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create(self, body: SpacesKeyBody) -> Json:
        """The new key, with its secret: the only time."""
        with self._world.at_now() as now:
            key = SpacesKey(
                access_key=f"DO00{secrets.token_hex(8).upper()}",
                secret_key=secrets.token_urlsafe(32),
                name=body.name,
                grants=_grants(body.grants),
                created_at=now,
            )
            self._world.spaces_keys[key.access_key] = key
            return views.spaces_key(key, with_secret=True)

    def all(self) -> list[Json]:
        """Every key."""
        with self._world.at_now():
            return [views.spaces_key(key) for key in self._world.spaces_keys.values()]

    def get(self, access_key: str) -> Json:
        """One key."""
        with self._world.at_now():
            return views.spaces_key(self._key(access_key))

    def update(self, access_key: str, body: SpacesKeyPatch) -> Json:
        """The key with another name or other grants."""
        with self._world.at_now():
            key = self._key(access_key)
            key.name = body.name or key.name
            if body.grants is not None:
                key.grants = _grants(body.grants)
            return views.spaces_key(key)

    def delete(self, access_key: str) -> None:
        """The key is worth nothing any more."""
        with self._world.at_now():
            self._key(access_key)
            del self._world.spaces_keys[access_key]

    def _key(self, access_key: str) -> SpacesKey:
        if access_key not in self._world.spaces_keys:
            raise not_found()
        return self._world.spaces_keys[access_key]


class Vpcs:
    """Private networks. Every method may raise `ApiRefusedError`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create(self, body: VpcCreate) -> Json:
        """The new network."""
        with self._world.at_now() as now:
            if body.region not in self._world.settings.regions:
                raise unprocessable(f"invalid region: {body.region}")
            vpc = Vpc(
                id=str(uuid.uuid4()),
                name=body.name,
                region=body.region,
                description=body.description,
                ip_range=body.ip_range or f"10.{len(self._world.vpcs) % 100}.0.0/20",
                default=False,
                created_at=now,
            )
            self._world.vpcs[vpc.id] = vpc
            return views.vpc(vpc)

    def all(self) -> list[Json]:
        """Every network, those that DigitalOcean made too."""
        with self._world.at_now():
            return [views.vpc(vpc) for vpc in self._world.vpcs.values()]

    def get(self, vpc_id: str) -> Json:
        """One network."""
        with self._world.at_now():
            return views.vpc(self._vpc(vpc_id))

    def update(self, vpc_id: str, body: VpcUpdate) -> Json:
        """The renamed or redescribed network, or the region's new default."""
        with self._world.at_now():
            vpc = self._vpc(vpc_id)
            vpc.name = body.name or vpc.name
            if body.description is not None:
                vpc.description = body.description
            if body.default:
                for other in self._world.vpcs.values():
                    other.default = other.default and other.region != vpc.region
                vpc.default = True
            return views.vpc(vpc)

    def delete(self, vpc_id: str) -> None:
        """Refused (403) while a cluster is in it, and for the default network."""
        with self._world.at_now():
            vpc = self._vpc(vpc_id)
            if vpc.default:
                raise ApiRefusedError(403, "Can not delete the default VPC")
            if any(cluster.vpc_uuid == vpc_id for cluster in self._world.clusters.values()):
                raise ApiRefusedError(403, "Can not delete VPC with members")
            del self._world.vpcs[vpc_id]

    def _vpc(self, vpc_id: str) -> Vpc:
        if vpc_id not in self._world.vpcs:
            raise not_found()
        return self._world.vpcs[vpc_id]


def _grants(grants: list[Grant] | None) -> list[dict[str, str]]:
    rows = [grant.model_dump() for grant in grants or []]
    known = [{**row, "permission": row["permission"] if row["permission"] in _PERMISSIONS else ""} for row in rows]
    full = [row for row in known if row["permission"] == "fullaccess"]
    if full and (len(known) > 1 or full[0]["bucket"]):
        raise unprocessable("fullaccess is for all buckets and cannot be mixed with other grants")
    return known
