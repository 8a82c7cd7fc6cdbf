"""The symbol language over HTTP: what a text gives under the caller's rules."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.models import SymbolCheckBody, SymbolsFound
from retrieval.errors import ForbiddenError

router = APIRouter(prefix="/v1/symbols", tags=["symbols"])


@router.post("/check")
async def check(body: SymbolCheckBody, caller: Caller, wired: Wired) -> SymbolsFound:
    """Read a text as a document of the caller's tenant would be read; nothing is stored. Needs the right `search`."""
    if not caller.may("search"):
        raise ForbiddenError(f"user {caller.user!r} does not hold the right `search`")
    read = await asyncio.to_thread(wired.language.symbolise, body.text, tenant=caller.tenant, base_date=body.base_date)
    return SymbolsFound(text=read.text, index_text=read.index_text, symbols=read.symbols)
