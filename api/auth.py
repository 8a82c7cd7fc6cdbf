"""Who asks: API keys from a file, or the local owner on loopback."""

from __future__ import annotations

import hashlib
import hmac
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field, TypeAdapter, ValidationError
from starlette.requests import HTTPConnection

from api.errors import SettingsError, UnauthenticatedError
from api.loopback import is_loopback
from retrieval.errors import ForbiddenError
from retrieval.types import ALL_RIGHTS, Principal, Right, Value

LOCAL_OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
"""The caller on loopback when no keys are configured."""


class ApiKey(Value):
    """One entry of the keys file. The key itself is never stored."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    principal: Principal
    operator: bool = False
    """Whether its holder looks after the whole installation, and so may do what concerns all tenants."""


class KeyRing:
    """Maps API keys to principals."""

    def __init__(self, keys: list[ApiKey]) -> None:
        self._keys = keys

    @classmethod
    def read(cls, path: Path) -> KeyRing:
        """Read a TOML file with `[[keys]]` entries: `sha256`, `principal = {tenant, user, groups, rights}`, `operator`.

        Raises:
            SettingsError: the file is missing or an entry does not fit; no key material is shown.
        """
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
            keys = TypeAdapter(list[ApiKey]).validate_python(document.get("keys", []))
        except (OSError, tomllib.TOMLDecodeError) as exc:
            raise SettingsError(f"keys file {path}: {exc}") from exc
        except ValidationError as exc:
            where = "; ".join(
                f"keys.{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"
                for error in exc.errors(include_input=False)
            )
            raise SettingsError(f"keys file {path}: {where}") from None
        return cls(keys)

    def still(self, principal: Principal) -> Principal | None:
        """Return a principal with no more than the keys of the same user give today; None where there are none."""
        same = [
            entry.principal
            for entry in self._keys
            if (entry.principal.tenant, entry.principal.user) == (principal.tenant, principal.user)
        ]
        if not same:
            return None
        rights = frozenset[Right]().union(*(each.rights for each in same))
        groups = frozenset[str]().union(*(each.groups for each in same))
        return principal.model_copy(update={"rights": principal.rights & rights, "groups": principal.groups & groups})

    def principal(self, key: str) -> Principal:
        """Return the principal of a key; raises UnauthenticatedError for one that is not known."""
        return self.entry(key).principal

    def entry(self, key: str) -> ApiKey:
        """Return what the file says of a key.

        Raises:
            UnauthenticatedError: the key is not known.
        """
        digest = hashlib.sha256(key.encode()).hexdigest()
        found: ApiKey | None = None
        for entry in self._keys:  # no early exit: the time taken tells nothing about which entry matched
            if hmac.compare_digest(entry.sha256, digest):
                found = entry
        if found is None:
            raise UnauthenticatedError("this API key is not known")
        return found


def present_rights(keys_file: Path | None) -> Callable[[Principal], Principal | None]:
    """Return what tells, of who began a run before a restart, what they may do today; None: nothing any more."""
    ring = KeyRing.read(keys_file) if keys_file is not None else None

    def allowed(principal: Principal) -> Principal | None:
        if ring is None or principal == LOCAL_OWNER:
            return principal
        return ring.still(principal)

    return allowed


def authenticate(request: HTTPConnection) -> Principal:
    """Return who asks; see `_asking`. Error texts are cleaned by the rules of the caller's tenant from here on.

    Raises:
        UnauthenticatedError: no key where one is needed, or one that is not known.
    """
    principal, operator = _asking(request)
    request.state.tenant = principal.tenant
    request.state.operator = operator
    return principal


Caller = Annotated[Principal, Depends(authenticate)]
"""Route parameter: who asks."""


def _operator(request: Request, caller: Caller) -> bool:
    del caller  # authenticated first
    return bool(request.state.operator)


IsOperator = Annotated[bool, Depends(_operator)]
"""Route parameter: whether who asks looks after the whole installation: the local owner, or a key marked so."""


def require(principal: Principal, right: Right) -> None:
    """Let a principal pass that holds `right`.

    Raises:
        ForbiddenError: it does not.
    """
    if not principal.may(right):
        raise ForbiddenError(f"this needs the right {right!r}, which {principal.user!r} does not hold")


def _asking(request: HTTPConnection) -> tuple[Principal, bool]:
    """Return who asks, and whether as the operator of the installation.

    With a keys file every request needs `Authorization: Bearer KEY`. Without one, only
    callers on loopback are served, as the local owner; `Host` and `Origin` must be
    loopback too, so that a web page elsewhere cannot use the reader's browser as a door.

    Raises:
        UnauthenticatedError: no key where one is needed, or one that is not known.
    """
    ring: KeyRing | None = request.app.state.key_ring
    if ring is not None:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise UnauthenticatedError("send an API key: Authorization: Bearer KEY")
        entry = ring.entry(key.strip())
        return entry.principal, entry.operator
    client = request.client.host if request.client else ""
    host = request.url.hostname or ""
    origin = request.headers.get("origin")
    if not is_loopback(client) or not is_loopback(host):
        raise UnauthenticatedError("without a keys file only callers on this machine are served")
    scheme = request.url.scheme.replace("ws", "http", 1)
    if origin is not None and origin != f"{scheme}://{request.url.netloc}":
        raise UnauthenticatedError("requests from web pages of another origin are refused")
    return LOCAL_OWNER, True
