"""Stable chunk ids: equal content at the same place of the same source gets the same id again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from uuid import UUID, uuid5

from ingest.chunking.draft import DraftChunk

_NAMESPACE = UUID("5f0c7a3e-6d0b-5a54-9a63-3a6e0a1f7c21")


def chunk_ids(document_id: str, drafts: Sequence[DraftChunk]) -> list[str]:
    """Return one UUID text per chunk; all differ.

    The place of a chunk is its heading path and its rank among equal texts there, not its
    ordinal: a paragraph put in at the front changes no other id. Pass chunks whose secrets are
    already replaced, so that no id can be tested against a guessed value.
    """
    seen: Counter[str] = Counter()
    ids: list[str] = []
    for draft in drafts:
        content = hashlib.sha256("\x1f".join([*draft.heading_path, "\x1e", draft.text]).encode()).hexdigest()
        seen[content] += 1
        ids.append(str(uuid5(_NAMESPACE, f"{document_id}:{content}:{seen[content]}")))
    return ids
