"""Wires what changes the symbol language while attest runs: corrections, and changes of the pseudonym key."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Literal

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from api.pseudonym_keys import PseudonymKeyPair, PseudonymKeys
from ingest.assembly import IngestParts
from ingest.copies import Copies
from ingest.correcting import Correcting
from ingest.corrections import Corrections
from ingest.errors import IngestError
from ingest.name_gate import NameGate
from ingest.rotation import Rotation
from ingest.work import Cutter
from retrieval.errors import RetrievalError
from retrieval.store import VectorStore
from retrieval.symbols.language import SymbolLanguage

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.5


class KeyRotation:
    """Changes the pseudonym key of a running attest, and goes on with a change that a crash cut off."""

    def __init__(
        self, keys: PseudonymKeys, pair: PseudonymKeyPair, language: SymbolLanguage, rotation: Rotation
    ) -> None:
        self._keys = keys
        self._pair = pair
        self._language = language
        self._rotation = rotation
        self._task: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()
        """One change at a time: protects the files and the pair."""
        self._ended = asyncio.Event()
        self._carried_out = False
        """Whether all documents are queued."""
        self._gate = NameGate()

    def names(self) -> AbstractAsyncContextManager[None]:
        """Return what work holds that looks values up by their pseudonyms; a change of keys waits for it.

        Raises:
            KeyChangingError: on entering, while not every value has its present pseudonym.
        """
        return self._gate.passing()

    @property
    def state(self) -> Literal["settled", "changing", "former_key_in_settings"]:
        """Whether a former key is still needed, or only still given."""
        # The task ends when the former key is gone from the disk, too.
        if self._rotation.under_way or (self._task is not None and not self._task.done()):
            return "changing"
        return "former_key_in_settings" if self._keys.former_is_given and self._pair.former else "settled"

    async def left(self, tenant: str | None = None) -> tuple[int, int]:
        """Return how many documents of a tenant or of all a change has left to do, and how many of these failed."""
        progress = await asyncio.to_thread(self._rotation.progress, tenant)
        return progress.outdated, progress.failed if self._carried_out else 0

    def resume(self) -> None:
        """Go on with a change that was under way when attest ended."""
        if self._pair.former is not None:
            self._gate.shut()
            self._rotation.changed()
            self._task = asyncio.create_task(self._carry_out())

    async def change(self) -> None:
        """Make a new key the present one; documents are read again in the background.

        Raises:
            SettingsError: settings give the key, or the last change is not over.
        """
        async with self._changing:
            # Shielded: a caller who goes away must not leave the new key in its place and out of use.
            await asyncio.shield(self._change())

    async def close(self) -> None:
        """Stop looking; the next start goes on."""
        self._ended.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _change(self) -> None:
        was_open = self._gate.is_open
        await self._gate.close()
        try:
            self._pair = await asyncio.to_thread(self._keys.change)
        except Exception:
            if was_open:
                self._gate.open()
            raise
        current, former = self._pair
        assert former is not None
        # Before the first pseudonym under the new key, so that no reading meets a name that leads nowhere.
        await self._named(former, current)
        self._language.change_key(current)
        self._rotation.changed()
        self._task = asyncio.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        current, former = self._pair
        assert former is not None
        self._carried_out = False
        while not (self._carried_out and await self._finished(former, current)):
            if not self._carried_out:
                self._carried_out = await self._started(former, current)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await self._ended.wait()
        await asyncio.to_thread(self._keys.retire)
        if not self._keys.former_is_given:
            self._pair = PseudonymKeyPair(current, None)
        log.info("the pseudonym key is changed; the former one is gone")

    async def _named(self, former: bytes, current: bytes) -> bool:
        try:
            await self._rotation.name(former, current)
        except (IngestError, SQLAlchemyError) as exc:
            log.warning("values cannot be named under the new pseudonym key yet (%s)", type(exc).__name__)
            return False
        return True

    async def _started(self, former: bytes, current: bytes) -> bool:
        # Again, for what was read under the former key until it changed.
        if not await self._named(former, current):
            return False
        self._gate.open()
        try:
            await self._rotation.carry_out()
        except (RetrievalError, IngestError, SQLAlchemyError) as exc:
            log.warning("the change of the pseudonym key stumbled and goes on (%s)", type(exc).__name__)
            return False
        return True

    async def _finished(self, former: bytes, current: bytes) -> bool:
        try:
            return await self._rotation.finish(former, current)
        except (RetrievalError, IngestError, SQLAlchemyError) as exc:
            log.warning("the change of the pseudonym key cannot be ended yet (%s)", type(exc).__name__)
            return False


def wire_rotation(
    engine: Engine,
    keys: PseudonymKeys,
    pair: PseudonymKeyPair,
    language: SymbolLanguage,
    parts: IngestParts,
    cutter: Cutter,
    copies: Sequence[Copies],
) -> tuple[KeyRotation, Rotation]:
    """Build what changes keys."""
    rotation = Rotation(
        engine=engine,
        vault=parts.vault,
        renames=parts.renames,
        resymbolisation=parts.resymbolisation,
        cutter=cutter,
        copies=copies,
    )
    return KeyRotation(keys, pair, language, rotation), rotation


def wire_correcting(
    engine: Engine,
    corrections: Corrections,
    parts: IngestParts,
    cutter: Cutter,
    store: VectorStore,
    copies: Sequence[Copies],
) -> Correcting:
    """Build what takes corrections."""
    return Correcting(
        engine=engine,
        corrections=corrections,
        catalog=parts.catalog,
        jobs=parts.jobs,
        cutter=cutter,
        vault=parts.vault,
        store=store,
        renames=parts.renames,
        resymbolisation=parts.resymbolisation,
        copies=copies,
        on_submit=parts.worker.wake,
    )


def hiding_now(language: SymbolLanguage, parts: IngestParts, tenant: str) -> Callable[[str], str]:
    """Return what puts a text under the rules and the key of now."""
    return lambda text: language.symbolise(parts.renames.rename(tenant, text), tenant=tenant).text
