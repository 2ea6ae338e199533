"""How a pool gets and loses nodes. Each node's future is fixed when it is asked for or sent away."""

import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime

from rehearsal.digitalocean import capacity
from rehearsal.digitalocean.clock import after
from rehearsal.digitalocean.model import Node, Pool
from rehearsal.digitalocean.settings import NodeListing
from rehearsal.digitalocean.world import World

_LETTERS = "bcdfghjkmnpqrstvwxz23456789"


def grow(world: World, pool: Pool, region: str, more: int, now: datetime) -> None:
    """Asks for nodes. Those without hardware stay `provisioning` until stock comes back."""
    boots = capacity.bootable(world, pool.size, region, more)
    for position in range(more):
        node = _node(world, pool, now, boots=position < boots)
        if pool.reclaim:
            end = pool.reclaim.nodes_gone_at
            node.leave(end, end, end)
        pool.nodes.append(node)


def shrink(world: World, pool: Pool, fewer: int, now: datetime) -> None:
    """Sends nodes away: first those that do not run, then the newest. (Which ones DOKS takes is not known.)"""
    oldest_last = list(reversed(pool.staying()))
    waiting_first = sorted(oldest_last, key=lambda node: node.state(now) == "running")
    send_away(world, waiting_first[:fewer], now)


def send_away(world: World, nodes: Sequence[Node], now: datetime, *, skip_drain: bool = False) -> None:
    """Drains and deletes nodes, in the time that the settings give it."""
    deleting_at = after(now, 0 if skip_drain else world.settings.node_drain_seconds)
    for node in nodes:
        node.leave(now, deleting_at, after(deleting_at, world.settings.node_delete_seconds))


def _node(world: World, pool: Pool, now: datetime, *, boots: bool) -> Node:
    listing = world.settings.listing_of(pool.size)
    return Node(
        id=str(uuid.uuid4()),
        name=f"{pool.name}-{''.join(secrets.choice(_LETTERS) for _ in range(5))}",
        droplet_id=world.new_droplet_id(),
        created_at=now,
        listed_at=_listed_at(listing, now),
        droplet_id_at=after(now, listing.seconds if listing.mode == "without_droplet_id" else 0),
        runs_at=after(now, world.settings.boot_seconds(pool.size)) if boots else None,
    )


def _listed_at(listing: NodeListing, now: datetime) -> datetime | None:
    if listing.mode == "never":
        return None
    return after(now, listing.seconds if listing.mode == "after" else 0)
