"""Owners' corrections of wrong and missed symbols, kept sealed: a text may be a secret that no rule knows. Blocking."""

from __future__ import annotations

import builtins
import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal
from uuid import uuid4

from pydantic import Field
from sqlalchemy import Connection, Engine, Row, delete, func, insert, select, update

from ingest.catalog import Clock, utc_now
from ingest.errors import BadCorrectionError
from ingest.kept_cache import KeptCache
from ingest.sealing import Seal
from ingest.tables import symbol_corrections
from retrieval.symbols.combined_rules import Kept, KeptRules
from retrieval.symbols.corrections import plain
from retrieval.symbols.fold import fold
from retrieval.symbols.rules import Correction, ErasedText
from retrieval.types import Value

MOST = 10_000
"""Corrections of one tenant. Each is tried on every text; rules for so many belong into a rule file."""
_ERASED = "erased"
"""Stands for the verdict where the text was erased."""
Verdict = Literal["secret", "not_secret", "not_symbol"]


class StoredCorrection(Value):
    """A correction as it may be shown: without its text."""

    correction_id: str
    verdict: Verdict
    kind: str
    """For `secret`: the kind it is hidden as."""
    near: bool
    """Whether it holds in lines with a certain text alone."""
    created_by: str
    created_at: datetime
    note: str
    shown: str | None = None
    """For `secret`: the pseudonym in its place. Else nothing: the text is not told."""


class NewCorrection(Value):
    """What an owner says of a symbol."""

    text: str = Field(min_length=1, max_length=200, repr=False)
    """As it stands in a document; every writing of it is meant."""
    verdict: Verdict
    kind: str = "custom"
    near: str = Field(default="", max_length=200, repr=False)
    note: str = Field(default="", max_length=500)
    document_id: str | None = None
    """A document that the caller owns it by; without one the right `admin` is needed."""


class Corrections:
    """Keeps the corrections of all tenants. A `KeptRules` of its own, for the rules of a tenant's language."""

    def __init__(
        self,
        engine: Engine,
        seal: Seal,
        *,
        clock: Clock = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
        ids: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._engine = engine
        self._seal = seal
        self._clock = clock
        self._ids = ids
        self._cache = KeptCache(monotonic)

    def add(self, connection: Connection, tenant: str, user: str, new: NewCorrection) -> str:
        """Keep a correction, in the caller's transaction; return its id. The same again is the one that is kept.

        Its note is told by `explain` afterwards: only then can it be free of what the correction calls a secret.

        Raises:
            BadCorrectionError: the tenant has too many.
        """
        # What is found by its letters alone is the same in any punctuation; all else in one only.
        text = plain(new.text) if new.verdict == "not_secret" else written(new.text)
        mark = json.dumps([new.verdict, text, new.kind, written(new.near)])
        fingerprint = self._seal.fingerprint(tenant, mark)
        table = symbol_corrections
        known = connection.execute(
            select(table.c.correction_id).where(table.c.tenant == tenant, table.c.fingerprint == fingerprint)
        ).scalar()
        if known is not None:
            return known
        if self._count(connection, tenant) >= MOST:
            raise BadCorrectionError(f"there are {MOST} corrections already; take some back, or use a rule file")
        correction_id = self._ids()
        connection.execute(
            insert(table).values(
                correction_id=correction_id,
                tenant=tenant,
                fingerprint=fingerprint,
                key_id=self._seal.key_id,
                ciphertext=self._seal.seal(tenant, correction_id, json.dumps([new.text, new.near])),
                verdict=new.verdict,
                kind=new.kind,
                created_by=user,
                created_at=self._clock(),
                note="",
            )
        )
        return correction_id

    def explain(self, tenant: str, correction_id: str, note: str) -> None:
        """Keep a note, free of secrets, with a correction that has none."""
        table = symbol_corrections
        with self._engine.begin() as connection:
            connection.execute(
                update(table)
                .where(table.c.tenant == tenant, table.c.correction_id == correction_id, table.c.note == "")
                .values(note=note)
            )

    def remove(self, connection: Connection, tenant: str, correction_id: str) -> bool:
        """Take a correction back, in the caller's transaction; False when there is none."""
        table = symbol_corrections
        gone = connection.execute(delete(table).where(table.c.tenant == tenant, table.c.correction_id == correction_id))
        return gone.rowcount == 1

    def forget(
        self, tenant: str, wanted: Callable[[Correction], bool], concealed: Callable[[Correction], ErasedText | None]
    ) -> int:
        """Forget the texts of corrections that call them secret; return how many. They are found as erased ones then.

        Args:
            tenant: whose.
            wanted: tells which ones.
            concealed: returns what finds a text without telling it.
        """
        table = symbol_corrections
        gone = [each for each in self._read(tenant) if each[1].verdict == "secret" and wanted(each[1])]
        for row, correction in gone:
            left = concealed(correction)
            with self._engine.begin() as connection:
                this = table.c.correction_id == row.correction_id
                if left is None:
                    connection.execute(delete(table).where(this))
                    continue
                mark = self._seal.fingerprint(tenant, left.model_dump_json())
                same = select(table.c.correction_id).where(table.c.tenant == tenant, table.c.fingerprint == mark)
                if connection.execute(same).scalar() is not None:
                    connection.execute(delete(table).where(this))
                    continue
                connection.execute(
                    update(table)
                    .where(this)
                    .values(
                        verdict=_ERASED,
                        fingerprint=mark,
                        ciphertext=self._seal.seal(tenant, row.correction_id, left.model_dump_json()),
                        note="",
                    )
                )
        self.look_again(tenant)
        return len(gone)

    def count_of(self, tenant: str, wanted: Callable[[Correction], bool]) -> int:
        """Count the corrections that call a text secret which is wanted."""
        return sum(correction.verdict == "secret" and wanted(correction) for _, correction in self._read(tenant))

    def look_again(self, tenant: str) -> None:
        """Look at the database at the next question: a transaction that changed them has ended. See `KeptRules`."""
        self._cache.look_again(tenant)

    def list(self, tenant: str, pseudonym: Callable[[Correction], str | None]) -> builtins.list[StoredCorrection]:
        """Return a tenant's corrections, oldest first.

        Args:
            tenant: whose.
            pseudonym: returns what stands in the place of a hidden text.
        """
        return [
            StoredCorrection(
                correction_id=row.correction_id,
                verdict=row.verdict,
                kind=row.kind,
                near=bool(correction.near),
                created_by=row.created_by,
                created_at=row.created_at,
                note=row.note,
                shown=pseudonym(correction) if correction.verdict == "secret" else None,
            )
            for row, correction in self._read(tenant)
        ]

    def of(self, tenant: str, correction_id: str) -> tuple[StoredCorrection, Correction] | None:
        """Return one correction with its text, for work inside; None when there is none."""
        shown = {each.correction_id: each for each in self.list(tenant, lambda _correction: None)}
        for row, correction in self._read(tenant):
            if row.correction_id == correction_id:
                return shown[correction_id], correction
        return None

    def kept(self, tenant: str) -> Kept:
        """Return the corrections of a tenant; the same object as long as nothing changed. See `KeptRules`."""
        return self._cache.get(
            tenant,
            lambda: self._state(tenant),
            lambda: Kept(
                corrections=tuple(correction for _, correction in self._read(tenant)),
                erased_texts=self._erased_texts(tenant),
            ),
        )

    def _count(self, connection: Connection, tenant: str) -> int:
        return connection.execute(
            select(func.count()).select_from(symbol_corrections).where(symbol_corrections.c.tenant == tenant)
        ).scalar_one()

    def _state(self, tenant: str) -> object:
        table = symbol_corrections
        with self._engine.connect() as connection:
            counts = select(
                table.c.verdict, func.count(), func.max(table.c.created_at), func.max(table.c.correction_id)
            ).where(table.c.tenant == tenant)
            found = connection.execute(counts.group_by(table.c.verdict).order_by(table.c.verdict)).all()
        return tuple(tuple(row) for row in found)

    def _read(self, tenant: str) -> builtins.list[tuple[Row[Any], Correction]]:
        table = symbol_corrections
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(table)
                .where(table.c.tenant == tenant, table.c.verdict != _ERASED)
                .order_by(table.c.created_at, table.c.correction_id)
            ).all()
        return [(row, self._opened(tenant, row)) for row in rows]

    def _erased_texts(self, tenant: str) -> tuple[ErasedText, ...]:
        table = symbol_corrections
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(table.c.correction_id, table.c.ciphertext)
                .where(table.c.tenant == tenant, table.c.verdict == _ERASED)
                .order_by(table.c.created_at, table.c.correction_id)
            ).all()
        return tuple(
            ErasedText.model_validate_json(self._seal.open(tenant, row.correction_id, row.ciphertext)) for row in rows
        )

    def _opened(self, tenant: str, row: Row[Any]) -> Correction:
        text, near = json.loads(self._seal.open(tenant, row.correction_id, row.ciphertext))
        return Correction(text=text, verdict=row.verdict, kind=row.kind, near=near)


def written(text: str) -> str:
    """Return a text so that two are equal when the same writings of them are found: width, case and gaps are one."""
    return " ".join(fold(text).replace("\u200b", "").lower().split())


class KeptTogether:
    """What several parts keep of each tenant, as one."""

    def __init__(self, *parts: KeptRules) -> None:
        self._parts = parts
        self._joined: dict[str, tuple[tuple[Kept, ...], Kept]] = {}

    def kept(self, tenant: str) -> Kept:
        """Return what all keep; the same object as long as each gives the same. See `KeptRules`."""
        now = tuple(part.kept(tenant) for part in self._parts)
        known = self._joined.get(tenant)
        if known is not None and all(a is b for a, b in zip(known[0], now, strict=True)):
            return known[1]
        joined = Kept(
            corrections=tuple(each for kept in now for each in kept.corrections),
            erased=frozenset(each for kept in now for each in kept.erased),
            erased_texts=tuple(each for kept in now for each in kept.erased_texts),
        )
        self._joined[tenant] = (now, joined)
        return joined

    def look_again(self, tenant: str) -> None:
        """Have all parts look again. See `KeptRules`."""
        for part in self._parts:
            part.look_again(tenant)
