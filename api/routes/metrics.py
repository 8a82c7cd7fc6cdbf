"""Metrics for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from api.auth import Caller, IsOperator
from api.container import Wired
from retrieval.errors import ForbiddenError

router = APIRouter(tags=["metrics"])


@router.get("/metrics", response_class=Response)
async def metrics(caller: Caller, operator: IsOperator, wired: Wired) -> Response:
    """Return the metrics of this process in Prometheus' text format; for the operator, where they are switched on."""
    if not operator:
        raise ForbiddenError(f"metrics speak of all tenants; user {caller.user!r} is no operator")
    if wired.metrics is None:
        raise HTTPException(404, "metrics are switched off (ATTEST_METRICS_ENABLED)")
    return Response(wired.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
