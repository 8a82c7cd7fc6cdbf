"""Keeps work that looks values up by their pseudonyms apart from the moment in which these change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from ingest.errors import KeyChangingError


class NameGate:
    """Open while every value of the vault can be found under its present pseudonym. For one event loop."""

    def __init__(self) -> None:
        self._closed = False
        self._inside = 0
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def is_open(self) -> bool:
        """Whether work is let in."""
        return not self._closed

    @asynccontextmanager
    async def passing(self) -> AsyncGenerator[None]:
        """Hold the gate open for work that needs the names.

        Raises:
            KeyChangingError: it is closed.
        """
        if self._closed:
            raise KeyChangingError("the pseudonym key is being changed; try again in a moment (see attest keys status)")
        self._inside += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._empty.set()

    async def close(self) -> None:
        """Let nobody in any more, and wait until those inside are done."""
        self._closed = True
        await self._empty.wait()

    def shut(self) -> None:
        """Let nobody in any more, where nobody can be inside yet."""
        self._closed = True

    def open(self) -> None:
        """Let work in: every value has its name."""
        self._closed = False
