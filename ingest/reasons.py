"""What people wrote beside the vault, hidden again when more is secret: reasons of reveals and erasures, notes."""

from __future__ import annotations

from sqlalchemy import Engine, select, update

from ingest.hiding import Hides
from ingest.tables import erased_values, reveals, symbol_corrections

_WRITTEN = (
    (reveals, reveals.c.reason),
    (reveals, reveals.c.place),
    # What is asked for may be the value itself.
    (reveals, reveals.c.pseudonym),
    (erased_values, erased_values.c.reason),
    (symbol_corrections, symbol_corrections.c.note),
)


def sweep_reasons(engine: Engine, tenant: str, hides: Hides) -> int:
    """Hide what is secret now in what was written under former rules; return how many texts changed. Repeatable."""
    changed = 0
    for table, column in _WRITTEN:
        with engine.connect() as connection:
            texts = list(connection.execute(select(column).where(table.c.tenant == tenant).distinct()).scalars())
        width: int | None = getattr(column.type, "length", None)
        for text in texts:
            hidden = hides.hide(text, tenant).text
            if hidden == text:
                continue
            with engine.begin() as connection:
                connection.execute(
                    update(table).where(table.c.tenant == tenant, column == text).values({column: hidden[:width]})
                )
            changed += 1
    return changed
