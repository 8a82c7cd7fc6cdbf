"""Documents: upload, list, look at, delete."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import SecretStr, ValidationError

from api.auth import Caller
from api.container import Wired
from api.models import DocumentList, Limit, NameList, Offset
from ingest.report import AdmissionReport
from ingest.types import DeletionReceipt, Document, DocumentMeta, Job
from retrieval.types import EVERYONE

router = APIRouter(prefix="/v1/documents", tags=["documents"])

_FIELDS = frozenset({"file", "source", "password", *DocumentMeta.model_fields})

_READ_BYTES = 1 << 20


@router.post("", status_code=202)
async def upload(
    request: Request,
    caller: Caller,
    wired: Wired,
    file: Annotated[UploadFile, File(description="The document; its type is decided by its content.")],
    source: Annotated[
        str | None, Form(description="Name that ties versions together; default: the file's name.")
    ] = None,
    title: Annotated[str | None, Form()] = None,
    issuer: Annotated[str, Form()] = "",
    authority: Annotated[str, Form()] = "unknown",
    effective_from: Annotated[date | None, Form()] = None,
    effective_to: Annotated[date | None, Form()] = None,
    labels: Annotated[list[str] | None, Form()] = None,
    access: Annotated[list[str] | None, Form(description="everyone, user:NAME, group:NAME")] = None,
    language: Annotated[str | None, Form()] = None,
    password: Annotated[
        SecretStr | None, Form(max_length=1024, description="Opens an encrypted document, and those found inside it.")
    ] = None,
) -> Job:
    """Take a document in and return at once with its job. A field that is not known is refused."""
    # A misspelt `access` that is passed over would make a restricted document public.
    unknown = sorted(set(await request.form()) - _FIELDS)
    if unknown:
        message = f"there is no such field; fields are {', '.join(sorted(_FIELDS))}"
        raise RequestValidationError([{"type": "extra_forbidden", "loc": ("body", f), "msg": message} for f in unknown])
    try:
        meta = DocumentMeta.model_validate({
            "title": title,
            "issuer": issuer,
            "authority": authority,
            "effective_from": effective_from,
            "effective_to": effective_to,
            "labels": frozenset(labels or ()),
            "access": frozenset(access or (EVERYONE,)),
            "language": language,
        })
    except ValidationError as exc:
        raise RequestValidationError([{**e, "loc": ("body", *e["loc"])} for e in exc.errors()]) from None
    return await wired.ingestion.submit(
        caller,
        source or file.filename or "upload",
        _pieces(file),
        meta,
        password=password.get_secret_value() if password else None,
    )


@router.get("")
async def documents(
    caller: Caller,
    wired: Wired,
    parent: Annotated[str | None, Query(description="Only documents found inside this one.")] = None,
    source: Annotated[str | None, Query(description="Only versions of this name.")] = None,
    own: Annotated[bool, Query(description="Only what the caller uploaded.")] = False,
    limit: Limit = 100,
    offset: Offset = 0,
) -> DocumentList:
    """List the documents that the caller may see, newest first."""
    found = await asyncio.to_thread(
        wired.ingestion.list_documents,
        caller,
        parent_id=parent,
        source=source,
        own=own,
        limit=limit,
        offset=offset,
    )
    return DocumentList(documents=tuple(found))


@router.post("/names")
async def names(body: NameList, caller: Caller, wired: Wired) -> NameList:
    """Tell, in order, under which names uploads of these names are kept: secrets in them are pseudonyms."""
    return NameList(names=tuple(await asyncio.to_thread(wired.ingestion.kept_names, caller, body.names)))


@router.get("/{document_id}")
async def document(document_id: str, caller: Caller, wired: Wired) -> Document:
    """Show one document."""
    return await asyncio.to_thread(wired.ingestion.get_document, caller, document_id)


@router.get("/{document_id}/report")
async def report(document_id: str, caller: Caller, wired: Wired) -> AdmissionReport | None:
    """Show a document's admission report; null while there is none."""
    return await asyncio.to_thread(wired.ingestion.get_report, caller, document_id)


@router.delete("/{document_id}")
async def delete(document_id: str, caller: Caller, wired: Wired) -> DeletionReceipt:
    """Delete a document with those found inside it and all that was derived from them, and say what was left."""
    return await wired.ingestion.delete(caller, document_id)


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_READ_BYTES):
        yield piece
