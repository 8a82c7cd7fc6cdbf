"""Problem details (RFC 9457): every error leaves the HTTP door in this one form, and without secrets.

What a caller sent may come back in an error's text (the id of a document that does not exist), and errors are
kept where answers are not: in the caller's logs, in proxies. So these texts carry pseudonyms too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.errors import AgentError
from api.errors import ApiError, status_of
from ingest.error_frames import error_frames
from ingest.errors import IngestError
from prompts.errors import PromptError
from retrieval.errors import RetrievalError
from retrieval.symbols.language import SymbolLanguage

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
    429: "Too much asked",
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


class LastResort:
    """Answers an error that nobody foresaw with a problem, and logs where it came from.

    The framework's own way would hand the exception on to the server, which logs its text; that may quote
    a document or a question.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as exc:
            if scope["type"] != "http":
                raise
            route = getattr(scope.get("route"), "path", "a request")
            log.error("unexpected error on %s %s\n%s", scope["method"], route, error_frames(exc))
            if not started:
                detail = "something went wrong on our side; the log of the server has the details"
                await problem("internal", detail, status=500)(scope, receive, send)


async def _ours(request: Request, exc: Exception) -> JSONResponse:
    code, detail = str(getattr(exc, "code", "request_failed")), str(exc)
    if isinstance(exc, RetrievalError) and exc.told is not None:
        log.warning("%s: %s", code, _hidden(request, detail))
        # Hosts and folders of the installation are nobody's but who looks after it.
        detail = detail if getattr(request.state, "operator", False) else exc.told
    return problem(code, _hidden(request, detail))


async def _invalid(request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, RequestValidationError)
    # The rejected input itself is left out.
    errors = [
        {"field": _hidden(request, ".".join(map(str, e["loc"]))), "message": _hidden(request, _said_of(e))}
        for e in exc.errors()
    ]
    detail = "; ".join(f"{e['field']}: {e['message']}" for e in errors)
    return problem("invalid_request", detail, status=422, errors=errors)


def _said_of(error: Mapping[str, Any]) -> str:
    return "give a day as YYYY-MM-DD" if str(error["type"]).startswith("date_") else str(error["msg"])


async def _http(request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)
    if isinstance(exc.__cause__, UnicodeDecodeError | RecursionError):
        # The framework's JSON reader gave up without a word on the field.
        said = "it is no UTF-8" if isinstance(exc.__cause__, UnicodeDecodeError) else "it is nested too deeply"
        errors = [{"field": "body", "message": f"the body cannot be read as JSON: {said}"}]
        return problem("invalid_request", f"body: {errors[0]['message']}", status=422, errors=errors)
    return problem(f"http_{exc.status_code}", _hidden(request, str(exc.detail)), status=exc.status_code)


def _hidden(request: Request, text: str) -> str:
    """Return an error's text without secrets, by the rules of the caller's tenant as far as it is known."""
    language: SymbolLanguage = request.app.state.container.language
    tenant = getattr(request.state, "tenant", "")
    # What stood in the address first, and by itself: a number beside the word `document` is read as a document's.
    given = {str(value) for value in request.path_params.values()}
    given.update(part for item in request.query_params.multi_items() for part in item)
    for each in sorted(given, key=len, reverse=True):
        hidden = language.symbolise(each, tenant=tenant).text
        if hidden != each:
            text = text.replace(each, hidden)
    return language.symbolise(text, tenant=tenant).text
