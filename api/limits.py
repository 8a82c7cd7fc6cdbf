"""Size limits of request bodies, enforced while they arrive."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import BodyTooLargeError
from api.problems import problem

_FORM_OVERHEAD_BYTES = 64 * 1024
"""What multipart framing and the metadata fields may add to an upload."""


class BodyLimit:
    """Refuse bodies above the limit: by `Content-Length` at once, else when the bytes pass it.

    A body that never ends is cut at the limit too, so that nothing fills the disk.
    """

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, max_upload_bytes: int, upload_path: str) -> None:
        self._app = app
        self._max_body = max_body_bytes
        self._max_upload = max_upload_bytes + _FORM_OVERHEAD_BYTES
        self._upload_path = upload_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = scope["path"].rstrip("/") == self._upload_path
        limit = self._max_upload if is_upload else self._max_body
        # Not the body's own: whoever has so much text to read has it in a file.
        hint = "" if is_upload else "; longer texts are read from files, over /v1/documents or the command line"
        declared = dict(scope["headers"]).get(b"content-length", b"")
        error = BodyTooLargeError(f"the request body is above the limit of {limit} bytes{hint}")
        if declared.isdigit() and int(declared) > limit:
            await problem(error.code, str(error))(scope, receive, send)
            return
        seen = 0
        over = False
        started = False

        async def counted() -> Message:
            nonlocal seen, over
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                over = True
                raise error
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            # The framework turns our error into a 400 of its own; the 413 below takes its place.
            if over and not started:
                return
            started = True
            await send(message)

        try:
            await self._app(scope, counted, watched)
        except BodyTooLargeError:
            if started:
                raise
        if over and not started:
            await problem(error.code, str(error))(scope, receive, send)
