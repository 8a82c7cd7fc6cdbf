"""Secrets in what a document tells beside its text: the names of what lies inside it, the notes of its parser.

These are stored and shown like text (sources, titles, reports, messages), so they carry pseudonyms too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ingest.types import ParsedDocument

_SUFFIX = re.compile(r"\.\w{1,8}$")


@dataclass(frozen=True, slots=True)
class Hidden:
    """A text without its secrets, and these (pseudonym → value)."""

    text: str
    secrets: Mapping[str, str]


class Hides(Protocol):
    """Takes secrets out of a text (see `ingest.work.Cutter`)."""

    def hide(self, text: str, tenant: str) -> Hidden:
        """Return the text with pseudonyms in place of its secrets; again it changes nothing."""
        ...


def hide_names(parsed: ParsedDocument, tenant: str, hides: Hides) -> tuple[ParsedDocument, dict[str, str]]:
    """Take the secrets out of a document's notes and of the names of its attachments.

    Returns:
        The document, and the secrets for its vault (pseudonym → value).
    """
    secrets: dict[str, str] = {}

    def take(hidden: Hidden) -> str:
        secrets.update(hidden.secrets)
        return hidden.text

    attachments = tuple(
        each.model_copy(update={"name": take(_hide_name(each.name, tenant, hides))}) for each in parsed.attachments
    )
    notes = tuple(take(hides.hide(note, tenant)) for note in parsed.notes)
    return parsed.model_copy(update={"attachments": attachments, "notes": notes}), secrets


def _hide_name(name: str, tenant: str, hides: Hides) -> Hidden:
    """Hide secrets and leave the ending, which would be read as a part of an address before it (ann@acme.com.txt)."""
    whole = hides.hide(name, tenant)
    ending = _SUFFIX.search(name)
    if not whole.secrets or ending is None or whole.text.endswith(ending[0]):
        return whole
    stem = hides.hide(name[: ending.start()], tenant)
    apart = stem.text + ending[0]
    # Where a secret is left, the ending belonged to it (ann@acme.com).
    return whole if hides.hide(apart, tenant).secrets else Hidden(apart, stem.secrets)
