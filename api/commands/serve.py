"""`attest serve`: the HTTP server."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
import uvicorn

from api.app import create_app
from api.client import ServerFile, server_file
from api.commands.session import err, guarded
from api.errors import SettingsError
from api.json_logs import log_as_json
from api.loopback import is_loopback
from api.settings import Settings, load_settings

_GRACE_S = 5
"""How long requests under way may go on after the signal to stop."""


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("serve", help=summary)(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; default: loopback.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0: any free port.")] = None,
) -> None:
    """Serve HTTP until interrupted. Beyond loopback a keys file is needed."""

    def work() -> None:
        settings = load_settings()
        if settings.telemetry.logs == "json":
            log_as_json()
        update = {k: v for k, v in {"host": host, "port": port}.items() if v is not None}
        settings = settings.model_copy(update={"server": settings.server.model_copy(update=update)})
        if not is_loopback(settings.server.host) and settings.server.keys_file is None:
            raise SettingsError(
                f"refusing to listen on {settings.server.host} without API keys; "
                "make a key with `attest keys new` and name the file in ATTEST_SERVER_KEYS_FILE"
            )
        asyncio.run(_serve(settings))

    guarded(work)


async def _serve(settings: Settings) -> None:
    listener = _listen(settings.server.host, settings.server.port)
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    note = ServerFile(url=url, pid=os.getpid(), instance=secrets.token_hex(8), home=str(settings.home.resolve()))
    app = create_app(settings, instance=note.instance)
    config = uvicorn.Config(
        app, lifespan="off", log_level="warning", access_log=False, timeout_graceful_shutdown=_GRACE_S
    )
    # The lifespan is entered here and not by uvicorn, which would answer one of our errors with a traceback.
    async with app.router.lifespan_context(app):
        await _AnnouncedServer(config, server_file(settings.home), note).serve(sockets=[listener])


class _AnnouncedServer(uvicorn.Server):
    """Leaves its address in ATTEST_HOME while it serves, so that the command line finds it."""

    def __init__(self, config: uvicorn.Config, file: Path, note: ServerFile) -> None:
        super().__init__(config)
        self._file = file
        self._note = note

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
        draft = self._file.with_suffix(".tmp")
        draft.write_text(self._note.model_dump_json(), encoding="utf-8")
        draft.replace(self._file)
        err.print(f"attest serves on {self._note.url} (interrupt with Ctrl-C)", markup=False)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._file.unlink(missing_ok=True)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # uvicorn's own would raise the signal again when it is done, before our parts are closed.
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as exc:
        raise SettingsError(f"cannot listen on {host} port {port}: {exc.strerror}") from exc
    return listener
