"""Lists in pages, with `links` and `meta` as DigitalOcean writes them (pages of 20, at most 200; read 2026-08-07)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request

from rehearsal.digitalocean.views import Json


@dataclass(frozen=True)
class PageAsked:
    """Which page, how long, and the address that the links repeat."""

    page: int
    per_page: int
    address: str


def _asked(
    request: Request, page: Annotated[int, Query(ge=1)] = 1, per_page: Annotated[int, Query(ge=1, le=200)] = 20
) -> PageAsked:
    return PageAsked(page, per_page, str(request.url.replace(query="")))


Paging = Annotated[PageAsked, Depends(_asked)]


def page_of(asked: PageAsked, key: str, rows: Sequence[Json]) -> Json:
    """The rows of that page under `key`; a page past the end is empty."""
    last = max(1, -(-len(rows) // asked.per_page))
    start = (asked.page - 1) * asked.per_page
    numbers: dict[str, int] = {}
    if asked.page > 1:
        numbers |= {"first": 1, "prev": asked.page - 1}
    if asked.page < last:
        numbers |= {"next": asked.page + 1, "last": last}
    pages = {name: f"{asked.address}?page={number}&per_page={asked.per_page}" for name, number in numbers.items()}
    return {
        key: list(rows[start : start + asked.per_page]),
        "links": {"pages": pages} if pages else {},
        "meta": {"total": len(rows)},
    }
