"""The vault: values behind pseudonyms, for callers with the right, and the log of who saw them."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse

from api.auth import Caller
from api.container import Wired
from api.models import Limit, Offset
from api.vault_export import as_json
from api.vault_models import EraseBody, PersonBody, RevealBody, Revealed, RevealList
from ingest.erasure import ErasureReceipt
from ingest.persons import Search


def no_store(response: Response) -> None:
    """Keep values in the clear out of every cache between us and the caller."""
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(prefix="/v1/vault", tags=["vault"], dependencies=[Depends(no_store)])


@router.post("/reveal")
async def reveal(body: RevealBody, caller: Caller, wired: Wired) -> Revealed:
    """Show the value behind a pseudonym. Needs the right `reveal`; logged, also where it is refused."""
    value = await asyncio.to_thread(wired.vault.reveal, caller, body.pseudonym, body.reason)
    return Revealed(pseudonym=body.pseudonym, value=value)


@router.get("/reveals")
async def reveals(
    caller: Caller,
    wired: Wired,
    user: Annotated[str | None, Query(description="Only what this user asked for.")] = None,
    pseudonym: Annotated[str | None, Query(description="Only entries about this pseudonym.")] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> RevealList:
    """List who revealed or tried to reveal what, newest first. Needs the right `admin`."""
    found = await asyncio.to_thread(
        wired.reveals.page, caller, user=user, pseudonym=pseudonym, limit=limit, offset=offset
    )
    return RevealList(reveals=tuple(found))


@router.post("/search")
async def search(body: PersonBody, caller: Caller, wired: Wired) -> Search:
    """Tell of each value its kind, its pseudonym and the documents that carry it and that the caller may see.

    Needs the right `reveal` or `admin`; logged.
    """
    async with wired.rotation.names():
        return await asyncio.to_thread(wired.persons.search, caller, body.values, body.reason)


@router.post(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/json": {}}, "description": "All that is kept of the person."}},
)
async def export(body: PersonBody, caller: Caller, wired: Wired) -> StreamingResponse:
    """Hand over all that is kept of a person, in one JSON: values, documents and their chunks, runs, reveals.

    This person's values are in the clear, other people's stay pseudonyms. Needs `reveal` and `admin`; logged.
    """
    async with wired.rotation.names():
        parts = await wired.persons.export(caller, body.values, body.reason)
    return StreamingResponse(as_json(parts), media_type="application/json", headers={"Cache-Control": "no-store"})


@router.post("/erase")
async def erase(body: EraseBody, caller: Caller, wired: Wired) -> ErasureReceipt:
    """Forget values for good; the receipt says what a look at every place found left. Repeatable.

    Needs the right `admin`, and `delete` where documents are to be deleted; logged.
    """
    async with wired.rotation.names():
        return await wired.erasure.erase(caller, body.values, body.reason, documents=body.documents)
