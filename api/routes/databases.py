"""Databases that the operator configured, taken in as documents. For callers with the right `admin` alone."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.models import DatabaseList
from ingest.types import DocumentMeta, Job

router = APIRouter(prefix="/v1/databases", tags=["databases"])


@router.get("")
async def databases(caller: Caller, wired: Wired) -> DatabaseList:
    """List the names of the configured databases."""
    return DatabaseList(databases=tuple(await asyncio.to_thread(wired.ingestion.list_databases, caller)))


@router.post("/{name}", status_code=202)
async def take_in(name: str, caller: Caller, wired: Wired, meta: DocumentMeta | None = None) -> Job:
    """Describe a configured database as a document: its tables, columns, keys and a few sample rows."""
    return await wired.ingestion.submit_database(caller, name, meta or DocumentMeta())
