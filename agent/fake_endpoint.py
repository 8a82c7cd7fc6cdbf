"""A chat endpoint on loopback that replies as a test tells it, good manners or bad ones.

It speaks enough of the OpenAI-compatible API for the real client to be tested against a real socket.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, cast

from agent.protocols.pieces import CallDelta

Ending = Literal["whole", "no_finish", "dropped", "hang", "pings"]

_PING_S = 0.05


@dataclass(frozen=True, slots=True)
class EndpointReply:
    """One reply to one request."""

    text: str | Sequence[str] = ""
    """Streamed in these pieces; a string in pieces of seven characters."""
    calls: Sequence[CallDelta] = ()
    """Pieces of function calls, each a chunk of its own after the text."""
    thinking: str = ""
    """Private thinking, kept apart from the text and sent before it."""
    ending: Ending = "whole"
    """`no_finish`: ends without a finish reason; `dropped`: the connection is cut; `hang`: nothing more comes;
    `pings`: nothing but comment lines, which keep the connection alive."""
    usage: tuple[int, int] | None = (11, 7)
    """Prompt and completion tokens of the last chunk."""
    finish_reason: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    """Sent as it is, in place of the stream or of the error's JSON."""


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    """What the endpoint was asked."""

    path: str
    authorization: str
    body: dict[str, Any]


Script = Sequence[EndpointReply | str] | Callable[[EndpointRequest], EndpointReply | str]


class FakeEndpoint:
    """Serves on 127.0.0.1 while its `with` block lasts; the last reply of a sequence serves all further requests."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self.requests: list[EndpointRequest] = []

    @property
    def base_url(self) -> str:
        """For `LlmSettings.base_url`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeEndpoint:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: EndpointRequest) -> EndpointReply:
        """Note the request and return the reply to it."""
        self.requests.append(request)
        if callable(self._script):
            reply = self._script(request)
        else:
            reply = self._script[min(len(self.requests), len(self._script)) - 1]
        return EndpointReply(reply) if isinstance(reply, str) else reply

    def wait_for_end(self, timeout_s: float | None = None) -> bool:
        """Block a hanging request until the endpoint is closed, or for a while; tell whether it is closed."""
        return self._released.wait(timeout_s)


def _handler(endpoint: FakeEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Keep tests quiet."""

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            body = cast("dict[str, Any]", json.loads(self.rfile.read(size)))
            request = EndpointRequest(self.path, self.headers.get("authorization") or "", body)
            try:
                self._reply(endpoint.answer(request))
            except OSError:
                self.close_connection = True  # the caller went away; that is its right

        def _reply(self, reply: EndpointReply) -> None:
            if reply.status != 200 or reply.body is not None:
                error = {"error": {"message": "refused", "type": "fake", "code": str(reply.status)}}
                self._whole(reply, reply.body if reply.body is not None else json.dumps(error).encode())
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            if reply.thinking:
                self._event(_chunk({"reasoning_content": reply.thinking}, None))
            for piece in _pieces(reply.text):
                self._event(_chunk({"content": piece}, None))
            for delta in reply.calls:
                self._event(_chunk({"tool_calls": [_call(delta)]}, None))
            if reply.ending in {"dropped", "hang", "pings"}:
                while reply.ending == "pings" and not endpoint.wait_for_end(_PING_S):
                    self._send(b": still here\n\n")
                if reply.ending == "hang":
                    endpoint.wait_for_end()
                self.close_connection = True
                return
            if reply.ending == "whole":
                self._event(_chunk({}, reply.finish_reason))
                if reply.usage is not None:
                    self._event(_usage(reply.usage))
                self._send(b"data: [DONE]\n\n")
            self._send(b"")

        def _whole(self, reply: EndpointReply, body: bytes) -> None:
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _event(self, value: dict[str, Any]) -> None:
            self._send(f"data: {json.dumps(value)}\n\n".encode())

        def _send(self, content: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            self.wfile.flush()

    return Handler


def _pieces(text: str | Sequence[str]) -> Sequence[str]:
    return [text[i : i + 7] for i in range(0, len(text), 7)] if isinstance(text, str) else text


def _call(delta: CallDelta) -> dict[str, Any]:
    function = {key: value for key, value in (("name", delta.name), ("arguments", delta.arguments)) if value}
    call = {"index": delta.index, "id": delta.id, "type": "function" if delta.id else None, "function": function}
    return {key: value for key, value in call.items() if value is not None}


def _chunk(delta: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]}


def _usage(counts: tuple[int, int]) -> dict[str, Any]:
    usage = {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}
    return {**_chunk({}, None), "choices": [], "usage": usage}
