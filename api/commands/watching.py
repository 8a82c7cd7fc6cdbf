"""`attest ingest --watch`: a folder's new and changed files are taken in as they come."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]
from watchfiles._rust_notify import WatchfilesRustInternalError

from api.client import AttestClient, displayed
from api.commands.folders import FolderState, Look
from api.commands.intake import Outcome, ingest_files
from api.commands.session import err
from api.errors import STATUS

_SETTLE_MS = 1000
"""Files that stayed the same for so long are taken to be whole."""
_TRY_AGAIN_S = 30.0
_UNREACHABLE = "server_unreachable"
_PASSING = {_UNREACHABLE, "unreadable", "http"} | {code for code, status in STATUS.items() if status in {429, 503}}
"""What an upload failed for, that may be over when it is tried again."""


async def watch(
    client: AttestClient,
    folder: Path,
    fields: dict[str, Any],
    say: Callable[[Outcome], None],
    *,
    delete_missing: bool,
) -> None:
    """Take in what is in the folder and what comes, until SIGINT or SIGTERM.

    Args:
        client: the connection.
        folder: looked through at any depth.
        fields: what is said of all files.
        say: told what became of each file.
        delete_missing: delete the documents of files that are gone: those that the caller uploaded under a name
            that begins with the folder's. Nothing is deleted while the folder has no files at all.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows: the default, an exception, ends it
            loop.add_signal_handler(number, stop.set)
    watching = asyncio.create_task(_watch(client, folder, fields, say, delete_missing=delete_missing))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait([watching, stopping], return_when=asyncio.FIRST_COMPLETED)
    for task in (watching, stopping):
        task.cancel()
    await asyncio.wait([watching, stopping])
    if not watching.cancelled():
        watching.result()
    err.print("watching ended; what is not ready yet goes on at the next start", style="dim")


async def _watch(
    client: AttestClient, folder: Path, fields: dict[str, Any], say: Callable[[Outcome], None], *, delete_missing: bool
) -> None:
    state = FolderState(folder, settle_s=_SETTLE_MS / 1000)
    first = True
    gone: list[str] = []
    async for look in _looks(folder, state):
        for outcome in await _take_in(client, state, look.ready, fields) if look.ready else ():
            say(outcome)
        if not delete_missing:
            continue
        gone += look.gone
        if look.empty:
            gone.clear()
            continue
        try:
            if first:
                # Files that went while nobody was watching.
                gone += await _without_file(client, state.prefix, state.names())
                first = False
            for outcome in await _delete(client, await _left_behind(client, gone, state.names())):
                say(outcome)
            gone.clear()
        except httpx.TransportError as exc:
            err.print(f"deleting waits, the server cannot be reached: {exc}", style="dim", markup=False)


async def _take_in(
    client: AttestClient, state: FolderState, ready: Sequence[tuple[Path, str]], fields: dict[str, Any]
) -> list[Outcome]:
    """Upload files; what failed for a reason that passes is tried again after a while."""
    try:
        outcomes = await ingest_files(client, ready, fields, progress=False)
    except httpx.TransportError as exc:
        # Those that arrived will be found unchanged.
        outcomes = [
            Outcome(displayed(path), "failed", error_code=_UNREACHABLE, error=f"the server cannot be reached: {exc}")
            for path, _ in ready
        ]
    passing = {each.path for each in outcomes if each.document_id is None and each.error_code in _PASSING}
    for path, _ in ready:
        if displayed(path) in passing:
            state.try_again(path, _TRY_AGAIN_S)
    return outcomes


async def _looks(folder: Path, state: FolderState) -> AsyncIterator[Look]:
    look = state.look()
    yield look
    # The names of changed files are not used: looking misses nothing, whatever the system dropped of its events.
    async for changed in _stirs(folder):
        if changed or look.growing:
            look = await asyncio.to_thread(state.look)
            yield look


async def _stirs(folder: Path) -> AsyncIterator[bool]:
    """Yield True when something may have changed, False when nothing has for a second."""
    while True:
        try:
            async for changes in awatch(folder, watch_filter=None, rust_timeout=_SETTLE_MS, yield_on_timeout=True):
                yield bool(changes)
            return
        except* WatchfilesRustInternalError:
            pass  # it ends at the first event of a file whose name is no UTF-8
        await asyncio.sleep(_SETTLE_MS / 1000)
        yield True


async def _left_behind(client: AttestClient, gone: Sequence[str], names: set[str]) -> list[str]:
    """Return the names of uploads whose files are gone, as they are kept."""
    if not gone:
        return []
    present = set(await client.kept_names(sorted(names)))
    return [name for name in await client.kept_names(gone) if name not in present]


async def _without_file(client: AttestClient, prefix: str, names: set[str]) -> list[str]:
    documents = await client.every("/v1/documents", "documents", own="true")
    sources = {each["source"] for each in documents if each["parent_id"] is None}
    # The server may keep a name altered: secrets in it are pseudonyms there.
    (prefix, *kept) = await client.kept_names([prefix, *sorted(names)])
    return sorted(source for source in sources if source.startswith(prefix) and source not in kept)


async def _delete(client: AttestClient, sources: Sequence[str]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for source in sources:
        for document in await client.every("/v1/documents", "documents", own="true", source=source):
            if document["parent_id"] is not None:
                # Its name happens to be the file's; it goes with what it was found in.
                continue
            receipt = await client.delete(f"/v1/documents/{document['document_id']}")
            outcomes.append(
                Outcome(
                    source,
                    "deleted",
                    document_id=document["document_id"],
                    chunks=receipt["deleted_chunks"],
                    children=receipt["deleted_children"],
                )
            )
    return outcomes
