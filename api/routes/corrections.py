"""Rules that change: corrections of symbols, and documents that are read again."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.symbol_models import (
    CorrectionAnswer,
    CorrectionList,
    OutdatedAnswer,
    ResymboliseAnswer,
    ResymboliseBody,
)
from ingest.corrections import NewCorrection

router = APIRouter(prefix="/v1", tags=["symbols"])


@router.post("/symbols/resymbolise", status_code=202)
async def resymbolise(body: ResymboliseBody, caller: Caller, wired: Wired) -> ResymboliseAnswer:
    """Read documents again under the rules of now. Needs `admin`; for one document `ingest` and access to it."""
    queued = await wired.resymbolisation.queue(caller, body.document_id, every=body.every)
    return ResymboliseAnswer(documents=queued.count, jobs=queued.jobs)


@router.get("/symbols/resymbolise")
async def outdated(caller: Caller, wired: Wired) -> OutdatedAnswer:
    """Count the documents that were read under other rules than now's. Needs `admin`."""
    number = await asyncio.to_thread(wired.resymbolisation.outdated, caller)
    waiting = await asyncio.to_thread(wired.resymbolisation.count_waiting, caller.tenant)
    return OutdatedAnswer(outdated=number, waiting=waiting)


@router.post("/symbols/corrections", status_code=201)
async def correct(body: NewCorrection, caller: Caller, wired: Wired) -> CorrectionAnswer:
    """Say that a symbol is wrong or was missed; what holds it is read again. The text is never told again.

    Needs `admin`, or `ingest` and a document that the caller may see; `not_secret` needs `admin`.
    """
    done = await wired.correcting.add(caller, body)
    return CorrectionAnswer(correction=done.correction, documents=done.documents, jobs=done.jobs)


@router.get("/symbols/corrections")
async def corrections(caller: Caller, wired: Wired) -> CorrectionList:
    """List the corrections of the caller's tenant, without their texts. Needs `admin` or `ingest`."""
    return CorrectionList(corrections=tuple(await asyncio.to_thread(wired.correcting.list, caller)))


@router.delete("/symbols/corrections/{correction_id}")
async def take_back(correction_id: str, caller: Caller, wired: Wired) -> CorrectionAnswer:
    """Take a correction back; what it changed is read again. Needs `admin`."""
    done = await wired.correcting.remove(caller, correction_id)
    return CorrectionAnswer(correction=done.correction, documents=done.documents, jobs=done.jobs)
