"""Writes that two processes may do at once: done again, they find what the other wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError

T = TypeVar("T")


def once_more(write: Callable[[], T]) -> T:
    """Do a repeatable write in a transaction of its own, again where another one wrote the same row in between.

    Raises:
        IntegrityError: it fails again, so nobody came in between.
    """
    try:
        return write()
    except IntegrityError:
        return write()
