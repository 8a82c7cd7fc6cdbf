"""Which pseudonym took the place of which when the pseudonym key changed, one table for all changes. Blocking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Protocol

from sqlalchemy import Engine, delete, insert, or_, select, update

from ingest.retrying import once_more
from ingest.tables import pseudonym_renames
from retrieval.symbols.pseudonyms import PSEUDONYM, is_erased

_MANY = 400


class Renaming(Protocol):
    """Puts present pseudonyms in the place of former ones."""

    def rename(self, tenant: str, text: str) -> str:
        """Return the text with present pseudonyms."""
        ...

    def present(self, tenant: str, pseudonyms: Collection[str]) -> dict[str, str]:
        """Return former → present for those of these pseudonyms that are former ones."""
        ...


class Renames:
    """Former pseudonyms and the present ones of the same values; a former one always leads to the present one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rename(self, tenant: str, text: str) -> str:
        """Put present pseudonyms in the place of former ones."""
        standing = {match.group() for match in PSEUDONYM.finditer(text)} if "[" in text else set[str]()
        known = self.present(tenant, standing)
        return PSEUDONYM.sub(lambda match: known.get(match.group(), match.group()), text) if known else text

    def present(self, tenant: str, pseudonyms: Collection[str]) -> dict[str, str]:
        """Return former → present for those of these pseudonyms that are former ones."""
        found: dict[str, str] = {}
        table = pseudonym_renames
        with self._engine.connect() as connection:
            for some in _slices(pseudonyms):
                rows = connection.execute(
                    select(table.c.old, table.c.new).where(table.c.tenant == tenant, table.c.old.in_(some))
                )
                found |= {row.old: row.new for row in rows}
        return found

    def others(self, tenant: str, pseudonyms: Collection[str]) -> frozenset[str]:
        """Return the other pseudonyms of the same values: those of former keys, and those of the present one."""
        present = {old: new for old, new in self.present(tenant, pseudonyms).items() if not _stands_for_erased(new)}
        values = {*pseudonyms, *present.values()}
        found = set(present.values())
        table = pseudonym_renames
        with self._engine.connect() as connection:
            for some in _slices(values):
                found.update(
                    connection.execute(
                        select(table.c.old).where(table.c.tenant == tenant, table.c.new.in_(some))
                    ).scalars()
                )
        return frozenset(found - set(pseudonyms))

    def add(self, tenant: str, pairs: Mapping[str, str]) -> None:
        """Keep that pseudonyms were renamed (old → new); what led to an old one leads to the new one. Repeatable.

        What stands for an erased value stays so: nothing leads from there to a value again.
        """
        for some in _slices(pairs):
            once_more(lambda some=some: self._add(tenant, {old: pairs[old] for old in some}))

    def _add(self, tenant: str, pairs: Mapping[str, str]) -> None:
        table = pseudonym_renames
        of_tenant = table.c.tenant == tenant
        targets = sorted({*pairs, *pairs.values()})
        with self._engine.begin() as connection:
            rows = connection.execute(select(table.c.old, table.c.new).where(of_tenant, table.c.old.in_(targets)))
            known: dict[str, str] = {row.old: row.new for row in rows}
            led_to = set(
                connection.execute(
                    select(table.c.new).where(of_tenant, table.c.new.in_(sorted(pairs))).distinct()
                ).scalars()
            )
            fresh: list[dict[str, str]] = []
            for old, new in pairs.items():
                if _stands_for_erased(known.get(old, "")):
                    continue
                end = known[new] if _stands_for_erased(known.get(new, "")) else new
                if new in known and end == new:
                    # A former key is the present one again: its pseudonyms lead nowhere else any more.
                    connection.execute(delete(table).where(of_tenant, table.c.old == new))
                if old in led_to:
                    connection.execute(update(table).where(of_tenant, table.c.new == old).values(new=end))
                if old not in known:
                    fresh.append({"tenant": tenant, "old": old, "new": end})
                elif known[old] != end:
                    connection.execute(update(table).where(of_tenant, table.c.old == old).values(new=end))
            if fresh:
                connection.execute(insert(table), fresh)

    def forget(self, tenant: str, pseudonyms: Collection[str]) -> None:
        """Remove every trace of these pseudonyms: their values were erased."""
        table = pseudonym_renames
        for some in _slices(pseudonyms):
            with self._engine.begin() as connection:
                connection.execute(
                    table.delete().where(table.c.tenant == tenant, or_(table.c.old.in_(some), table.c.new.in_(some)))
                )


def renaming_by(renames: Renaming, tenant: str) -> Callable[[str], str]:
    """Return a function that renames the pseudonyms of a text; it asks once for each text with any."""
    known: dict[str, str] = {}

    def rename(text: str) -> str:
        if "[" not in text:
            return text
        if text not in known:
            known[text] = renames.rename(tenant, text)
        return known[text]

    return rename


def _stands_for_erased(pseudonym: str) -> bool:
    match = PSEUDONYM.fullmatch(pseudonym)
    return match is not None and is_erased(match)


def _slices(items: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(items)
    for at in range(0, len(ordered), _MANY):
        yield ordered[at : at + _MANY]
