"""Query parameters: a misspelt one is refused, for without its filter a list is not what was asked for."""

from __future__ import annotations

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query
from fastapi.routing import APIRoute

from api.auth import Caller

_MAX_NAME = 100
"""Characters of a parameter's name that are repeated to its sender."""


def known_query(request: Request, _caller: Caller) -> None:
    """Let a request pass whose query parameters are all known to its route; who asks is settled before.

    Raises:
        RequestValidationError: names those that are not.
    """
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    known = {field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, Query)}
    unknown = sorted({name[:_MAX_NAME] for name in set(request.query_params) - known})
    if unknown:
        message = "there is no such parameter; "
        message += f"parameters are {', '.join(sorted(known))}" if known else "there are none here"
        raise RequestValidationError([
            {"type": "extra_forbidden", "loc": ("query", n), "msg": message} for n in unknown
        ])
