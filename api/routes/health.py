"""Health and status."""

from __future__ import annotations

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.models import Status

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the server runs; needs no key and says nothing else."""
    return {"status": "ok"}


@router.get("/v1/status")
async def status(caller: Caller, wired: Wired) -> Status:
    """Tell which parts are in use."""
    return await wired.status()
