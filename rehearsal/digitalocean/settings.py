"""Everything about the stand-in that a test or a drill may want different. Admin API: `PATCH /admin/settings`.

What nobody outside DigitalOcean knows is a setting here, and says so.
"""

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from doks_gpu.plan import labels
from rehearsal.digitalocean.sizes import REGIONS

Seconds = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Usd = Annotated[Decimal, Field(ge=0)]

WEEK_SECONDS = 7 * 24 * 3600


class Strict(BaseModel):
    """Frozen, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StockOut(Strict):
    """DigitalOcean has no more nodes of a size. Ends when it is taken out of the settings."""

    size: str
    region: str | None = None
    """None: in every region."""
    left: Count = 0
    """Nodes of this size that can live in the region at once before the stock is out."""
    kind: Literal["refused", "never_boots"] = "refused"
    """refused: 422. never_boots: the request is accepted, and nodes beyond `left` stay `provisioning`. They boot
    when the stock is back."""


class NodeListing(Strict):
    """How soon a new node appears in its pool's `nodes`. What DOKS does is unknown, and the autoscaler's way out of a
    stock-out depends on it."""

    mode: Literal["at_once", "after", "without_droplet_id", "never"] = "at_once"
    """after: nothing for `seconds`; without_droplet_id: listed at once, its droplet id empty for `seconds`."""
    seconds: Seconds = 0

    @model_validator(mode="after")
    def _seconds_belong_to_a_mode(self) -> Self:
        if self.seconds and self.mode in ("at_once", "never"):
            raise ValueError(f"mode {self.mode} takes no seconds")
        return self


class NewSize(Strict):
    """A size that the catalogue does not have yet; its GPUs are read from the slug."""

    slug: str
    vcpus: Annotated[int, Field(ge=1)]
    memory_gib: Annotated[int, Field(ge=1)]
    usd_per_hour: Usd


class StandInSettings(Strict):
    """Times are seconds on the stand-in's clock."""

    # Time
    cluster_boot_seconds: Seconds = 1.0
    """At least; a control plane that takes longer to start decides."""
    node_boot_seconds: Seconds = 1.0
    node_boot_seconds_by_size: dict[str, Seconds] = {}
    node_drain_seconds: Seconds = 0.0
    """How long a node that is taken away is listed as `draining`; not for a deletion with `skip_drain`."""
    node_delete_seconds: Seconds = 0.0
    """After that, how long it is listed as `deleting`."""
    pool_delete_seconds: Seconds = 0.0
    """How long a deleted pool is still found, its nodes `deleting`."""
    upgrade_seconds: Seconds = 0.0
    listing: NodeListing = NodeListing()
    listing_by_size: dict[str, NodeListing] = {}
    token_seconds_cap: Annotated[int, Field(ge=1)] = WEEK_SECONDS
    """No cluster token lives longer, whatever the request asks for."""
    cluster_failure: str = ""
    """Not empty: clusters that are made from now on end in state `error` with this message."""

    # What is sold
    regions: tuple[str, ...] = REGIONS
    versions: tuple[str, ...] = ("1.36.3-do.0", "1.35.6-do.1", "1.34.9-do.2")
    """Newest first, as the API lists them."""
    new_sizes: tuple[NewSize, ...] = ()
    """On sale besides those of the catalogue."""
    sold_in: dict[str, tuple[str, ...]] = {}
    """Regions that sell a size; a size without an entry is sold everywhere."""
    not_in_doks: frozenset[str] = frozenset()
    """Sizes on the price list that DOKS does not take."""
    prices: dict[str, Usd] = {}
    """US dollars per hour, over the list price. Spot pools keep the price of the day they were made."""
    stock_outs: tuple[StockOut, ...] = ()

    # What the account may have
    droplet_limit: Count = 25
    other_droplets: Count = 0
    """Droplets outside Kubernetes; they count against the limit."""
    gpu_quota: dict[str, Count] = {}
    """GPUs per model, as `h200: 4`. A model without an entry is not limited."""
    team_id: str = "5f6c1d3e-0c5b-4b0a-9d8a-6f0e2a7c9b11"
    team_name: str = "rehearsal"

    # What is not known of DOKS
    spot_ceiling: bool = True
    """max_nodes of a Spot pool, or its fixed count, cannot be raised after its creation."""
    unique_pool_names: bool = True
    """A cluster refuses a second pool of the same name."""
    spot_node_labels: dict[str, str] = {labels.DOKS_CAPACITY_TYPE: labels.SPOT}
    spot_node_taints: tuple[str, ...] = ()
    """As `key=value:Effect`, on nodes of Spot sizes, besides those of the pool."""

    def boot_seconds(self, size: str) -> float:
        """From the request to a running node."""
        return self.node_boot_seconds_by_size.get(size, self.node_boot_seconds)

    def listing_of(self, size: str) -> NodeListing:
        """How nodes of this size appear."""
        return self.listing_by_size.get(size, self.listing)

    def stock_out(self, size: str, region: str) -> StockOut | None:
        """The first one that concerns this size there."""
        return next((s for s in self.stock_outs if s.size == size and s.region in (None, region)), None)

    def named_sizes(self) -> frozenset[str]:
        """Every size that some setting is about."""
        by_size = (self.node_boot_seconds_by_size, self.listing_by_size, self.sold_in, self.prices)
        names = [
            *self.not_in_doks,
            *(rule.size for rule in self.stock_outs),
            *(name for one in by_size for name in one),
        ]
        return frozenset(names)

    def regions_of(self, size: str) -> tuple[str, ...]:
        """Where this size is sold."""
        return self.sold_in.get(size, self.regions)
