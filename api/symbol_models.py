"""What the HTTP door takes and gives on rules, corrections and keys."""

from __future__ import annotations

from typing import Literal

from ingest.corrections import StoredCorrection
from ingest.types import Job
from retrieval.types import Value


class ResymboliseBody(Value):
    """Which documents to read again."""

    document_id: str | None = None
    """One document, with those inside it; None: all of the tenant that need it."""
    every: bool = False
    """All documents, not only those that were read under other rules."""


class ResymboliseAnswer(Value):
    """What is read again."""

    documents: int
    jobs: tuple[Job, ...]
    """Those that the caller may see."""


class OutdatedAnswer(Value):
    """How many documents were read under other rules, or another key, than now's."""

    outdated: int
    waiting: int
    """Readings that are queued or under way."""


class CorrectionAnswer(Value):
    """A correction that was taken up, or back, and what is read again for it."""

    correction: StoredCorrection
    documents: int
    jobs: tuple[Job, ...]
    """Those that the caller may see."""


class CorrectionList(Value):
    """The corrections of a tenant, oldest first."""

    corrections: tuple[StoredCorrection, ...]


class KeysAnswer(Value):
    """How the pseudonym key stands."""

    state: Literal["settled", "changing", "former_key_in_settings"]
    """`changing`: documents still carry pseudonyms of the former key. `former_key_in_settings`: it is needed no
    more, and stands in the settings still."""
    outdated: int
    """Documents that need the former key: of the caller's tenant; of all for the operator."""
    failed: int
    """Those of them whose reading failed: they need a look, or the former key stays."""
