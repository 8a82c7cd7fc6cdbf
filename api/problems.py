"""Problem details (RFC 9457): every error leaves the HTTP door in this one form."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from agent.errors import AgentError
from api.errors import ApiError, status_of
from ingest.errors import IngestError
from prompts.errors import PromptError
from retrieval.errors import RetrievalError

log = logging.getLogger(__name__)

_TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported content",
    422: "Not processable",
    500: "Internal error",
    502: "Bad answer of the model",
    503: "Unavailable",
    504: "Too slow",
}


def problem(code: str, detail: str, *, status: int | None = None, **extra: Any) -> JSONResponse:
    """Build a problem+json response; `code` is the stable slug that programs test for."""
    status = status if status is not None else status_of(code)
    body = {"type": "about:blank", "title": _TITLES.get(status, "Error"), "status": status, "code": code}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(
        body | {"detail": detail} | extra, status, headers=headers, media_type="application/problem+json"
    )


def install(app: FastAPI) -> None:
    """Register the handlers that turn exceptions into problems."""
    for root in (ApiError, RetrievalError, IngestError, AgentError, PromptError):
        app.add_exception_handler(root, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _ours(_request: Request, exc: Exception) -> JSONResponse:
    return problem(str(getattr(exc, "code", "request_failed")), str(exc))


async def _invalid(_request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, RequestValidationError)
    # The rejected input itself is left out: it may hold secrets.
    errors = [{"field": ".".join(str(p) for p in e["loc"]), "message": e["msg"]} for e in exc.errors()]
    detail = "; ".join(f"{e['field']}: {e['message']}" for e in errors)
    return problem("invalid_request", detail, status=422, errors=errors)


async def _http(_request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)
    return problem(f"http_{exc.status_code}", str(exc.detail), status=exc.status_code)


async def _unexpected(request: Request, exc: Exception) -> JSONResponse:
    log.error("unexpected error on %s %s", request.method, request.url.path, exc_info=exc)
    return problem("internal", "something went wrong on our side; the log of the server has the details", status=500)
