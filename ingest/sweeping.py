"""Names and messages of documents that no reading visits (failed, deleted, pending ones), and of all jobs."""

from __future__ import annotations

from sqlalchemy import Engine, select, update

from ingest.beside import RenamingHides, carry_over, hidden_error, meta_texts, standing_in
from ingest.editions import rename_line
from ingest.hiding import Hides, hide_meta, hide_source
from ingest.renames import Renaming
from ingest.tables import documents, jobs
from ingest.types import DocumentMeta
from ingest.vault import Vault


def sweep_names(engine: Engine, tenant: str, hides: Hides, renames: Renaming, vault: Vault) -> int:
    """Rename and hide in what SQL keeps of a tenant's documents beside their text. Repeatable.

    Ready documents are left to their own reading, apart from their name. Values that documents carry under a former
    name are carried over, so that they can be revealed before that reading.

    Returns:
        How many names and messages changed.
    """
    return sum((
        _sweep_sources(engine, tenant, hides, renames, vault),
        _sweep_meta(engine, tenant, hides, renames, vault),
        _sweep_errors(engine, tenant, hides, renames),
    ))


def _sweep_sources(engine: Engine, tenant: str, hides: Hides, renames: Renaming, vault: Vault) -> int:
    with engine.connect() as connection:
        lines = {
            (row.source, row.created_by)
            for table in (documents, jobs)
            for row in connection.execute(
                select(table.c.source, table.c.created_by).where(table.c.tenant == tenant).distinct()
            )
        }
    changed = 0
    for source, created_by in sorted(lines):
        hidden = hide_source(source, source, tenant, RenamingHides(hides, renames))
        if hidden.text == source:
            continue
        of_line = (documents.c.tenant == tenant, documents.c.source == source, documents.c.created_by == created_by)
        with engine.connect() as connection:
            kept = connection.execute(
                select(documents.c.document_id).where(*of_line, documents.c.state != "deleted")
            ).scalars()
            carrying = list(kept)
        for document_id in carrying:
            vault.write(tenant, document_id, hidden.secrets)
            carry_over(vault, renames, tenant, document_id, standing_in(hidden.text))
        with engine.begin() as connection:
            rename_line(connection, tenant, source, created_by, hidden.text)
        changed += 1
    return changed


def _sweep_meta(engine: Engine, tenant: str, hides: Hides, renames: Renaming, vault: Vault) -> int:
    unread = documents.c.state.in_(("pending", "failed"))
    renaming = RenamingHides(hides, renames)
    columns = (documents.c.document_id, documents.c.meta, documents.c.title)
    with engine.connect() as connection:
        rows = connection.execute(select(*columns).where(documents.c.tenant == tenant, unread)).all()
    changed = 0
    for row in rows:
        meta, secrets = hide_meta(DocumentMeta.model_validate(row.meta), tenant, renaming)
        title = renaming.hide(row.title, tenant)
        stored = meta.model_dump(mode="json")
        if (stored, title.text) == (row.meta, row.title):
            continue
        vault.write(tenant, row.document_id, {**secrets, **title.secrets})
        carry_over(vault, renames, tenant, row.document_id, standing_in(title.text, *meta_texts(meta)))
        with engine.begin() as connection:
            connection.execute(
                update(documents)
                .where(documents.c.document_id == row.document_id, unread)
                .values(meta=stored, title=title.text)
            )
        changed += 1
    return changed


def _sweep_errors(engine: Engine, tenant: str, hides: Hides, renames: Renaming) -> int:
    changed = 0
    for table, key in ((documents, documents.c.document_id), (jobs, jobs.c.job_id)):
        with engine.connect() as connection:
            rows = connection.execute(
                select(key, table.c.error).where(table.c.tenant == tenant, table.c.error.is_not(None))
            ).all()
        for identity, error in rows:
            hidden = hidden_error(error, tenant, hides, renames)
            if hidden != error:
                with engine.begin() as connection:
                    connection.execute(
                        update(table).where(key == identity, table.c.error == error).values(error=hidden)
                    )
                changed += 1
    return changed
