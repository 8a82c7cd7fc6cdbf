"""The pseudonym key, which all tenants of an installation share: only its operator changes it."""

from __future__ import annotations

from fastapi import APIRouter

from api.auth import Caller, IsOperator, require
from api.container import Container, Wired
from api.symbol_models import KeysAnswer
from retrieval.errors import ForbiddenError

router = APIRouter(prefix="/v1/keys", tags=["symbols"])


@router.get("")
async def status(caller: Caller, operator: IsOperator, wired: Wired) -> KeysAnswer:
    """Tell whether a change of the pseudonym key is under way. Needs `admin`, which counts its own tenant's documents.

    The operator of the installation is told of all tenants'.
    """
    if operator:
        return await _answer(wired)
    require(caller, "admin")
    return await _answer(wired, caller.tenant)


@router.post("/pseudonym", status_code=202)
async def change(operator: IsOperator, wired: Wired) -> KeysAnswer:
    """Make a new pseudonym key; all documents of all tenants are read again under it. The operator's alone."""
    if not operator:
        raise ForbiddenError(
            "this key is shared by all tenants: it is changed on the machine itself, or with an API key that the "
            "keys file marks with operator = true"
        )
    await wired.rotation.change()
    return await _answer(wired)


async def _answer(wired: Container, tenant: str | None = None) -> KeysAnswer:
    outdated, failed = await wired.rotation.left(tenant)
    return KeysAnswer(state=wired.rotation.state, outdated=outdated, failed=failed)
