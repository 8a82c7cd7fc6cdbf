"""The HTTP application: routes, limits, problem details, lifespan."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.routing import Route

from api import problems
from api.auth import KeyRing
from api.container import open_container
from api.limits import BodyLimit
from api.mcp.door import make_doors, open_doors
from api.queries import known_query
from api.routes import (
    audits,
    chat,
    conversations,
    corrections,
    databases,
    decisions,
    documents,
    health,
    jobs,
    keys,
    metrics,
    pages,
    run_control,
    runs,
    search,
    symbols,
    tools,
    usage,
    vault,
)
from api.settings import Settings


def create_app(settings: Settings, *, local_owner: bool = False, instance: str = "") -> FastAPI:
    """Build the application.

    Args:
        settings: all settings.
        local_owner: serve every caller on loopback as the local owner, keys file or
            not. For the command line, which holds the data folder itself.
        instance: what `/healthz` names, so that a client knows which server it has reached.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        async with open_container(settings) as container, open_doors(doors, container.desk):
            app.state.container = container
            yield

    doors = make_doors()

    app = FastAPI(title="attest", version=version("attest"), lifespan=lifespan, docs_url="/docs", redoc_url=None)
    keys_file = None if local_owner else settings.server.keys_file
    app.state.instance = instance
    app.state.key_ring = KeyRing.read(keys_file) if keys_file is not None else None
    problems.install(app)
    app.add_middleware(
        BodyLimit,
        max_body_bytes=settings.server.max_body_kb * 1024,
        max_upload_bytes=settings.server.max_upload_mb * 1024 * 1024,
        upload_path="/v1/documents",
    )
    app.add_middleware(problems.LastResort)
    app.include_router(health.router)
    rooms = (
        documents,
        databases,
        pages,
        jobs,
        search,
        chat,
        conversations,
        runs,
        run_control,
        audits,
        decisions,
        symbols,
        corrections,
        keys,
        vault,
        tools,
        usage,
        metrics,
    )
    for room in rooms:
        app.include_router(room.router, dependencies=[Depends(known_query)])
    app.router.routes += [Route(path, door) for path, door in doors.items()]
    app.include_router(runs.live)
    return app
