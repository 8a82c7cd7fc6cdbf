"""A parser's progress by page, on its way to the job; and the job's end, on its way to the parser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

OnPage = Callable[[int, int | None], None]


async def followed(
    parse: Callable[[OnPage], Awaitable[T]], report: Callable[[int | None, int | None], None], every_s: float
) -> T:
    """Await `parse(on_page)` and tell `report` (pages done, pages in all) at intervals how far it is.

    `report` blocks and runs on a thread; it is called too while the parser tells nothing, as a
    sign of life, and is not running any more when this returns. What it raises (the job was
    cancelled, or lost) ends the parse.
    """
    pages: tuple[int | None, int | None] = (None, None)

    def on_page(pages_done: int, pages_total: int | None) -> None:
        # From any thread: one assignment, read by the loop below.
        nonlocal pages
        pages = (pages_done, pages_total)

    parsing = asyncio.ensure_future(parse(on_page))
    try:
        while True:
            await asyncio.wait([parsing], timeout=every_s)
            if parsing.done():
                return parsing.result()
            reporting = asyncio.create_task(asyncio.to_thread(report, *pages))
            try:
                await asyncio.shield(reporting)
            finally:
                await asyncio.wait([reporting])
    finally:
        if not parsing.done():
            parsing.cancel()
            await asyncio.wait([parsing])
