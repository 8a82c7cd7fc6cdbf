"""The vault: values behind pseudonyms, for callers with the right, and the log of who saw them."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from api.auth import Caller
from api.container import Wired
from api.models import Limit, Offset
from api.vault_models import RevealBody, Revealed, RevealList


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
