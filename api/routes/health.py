"""Health and status."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from api.auth import Caller
from api.client import INSTANCE_HEADER
from api.container import Wired
from api.models import Status

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz(request: Request, response: Response) -> dict[str, str]:
    """Tell that the server runs; needs no key and says nothing else.

    A header carries the random name of this start, by which the command line tells
    the server of its own ATTEST_HOME from another one that took over the address.
    """
    response.headers[INSTANCE_HEADER] = request.app.state.instance
    return {"status": "ok"}


@router.get("/v1/status")
async def status(caller: Caller, wired: Wired) -> Status:
    """Tell which parts are in use."""
    return await wired.status(caller.tenant)
