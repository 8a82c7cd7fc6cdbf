"""Secrets in what stands beside a document's text: names, what its uploader says of it, the notes of its parser.

These are stored and shown like text (sources, titles, labels, reports, messages), so they carry pseudonyms too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ingest.naming import source_name, without_unseen
from ingest.types import DocumentMeta, ParsedDocument

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
        each.model_copy(update={"name": take(hide_name(each.name, tenant, hides))}) for each in parsed.attachments
    )
    notes = tuple(take(hide_line(note, tenant, hides)) for note in parsed.notes)
    return parsed.model_copy(update={"attachments": attachments, "notes": notes}), secrets


def hide_source(given: str, fallback: str, tenant: str, hides: Hides) -> Hidden:
    """Return the name under which an upload is kept: fit to be stored and shown, and without secrets.

    The same value in another writing is the same name.
    """
    # First of all: a long name loses its end to a digest, which must not be one of a secret.
    first = hide_name(given, tenant, hides)
    named = source_name(first.text, fallback)
    # What `source_name` takes out may have stood between the parts of a secret.
    second = hide_name(named, tenant, hides)
    return Hidden(source_name(second.text, fallback), {**first.secrets, **second.secrets})


def hide_meta(meta: DocumentMeta, tenant: str, hides: Hides) -> tuple[DocumentMeta, dict[str, str]]:
    """Take the secrets out of what an uploader says of a document.

    The access list stays as it is: it names users and groups of the operator's.

    Returns:
        What is kept of it, and the secrets for the vault (pseudonym → value).
    """
    secrets: dict[str, str] = {}

    def take(text: str) -> str:
        hidden = hide_line(text, tenant, hides)
        secrets.update(hidden.secrets)
        return hidden.text

    kept = {
        "title": None if meta.title is None else take(meta.title),
        "issuer": take(meta.issuer),
        "labels": frozenset(take(label) for label in meta.labels),
    }
    return meta.model_copy(update=kept), secrets


def hide_name(name: str, tenant: str, hides: Hides) -> Hidden:
    """Hide secrets and leave the ending, which would be read as a part of an address before it (ann@acme.com.txt)."""
    return _hide_also_bare(name, lambda text: _hide_name(text, tenant, hides))


def hide_line(text: str, tenant: str, hides: Hides) -> Hidden:
    """Hide secrets in a line that somebody wrote beside a document."""
    return _hide_also_bare(text, lambda given: hides.hide(given, tenant))


def _hide_also_bare(text: str, hide: Callable[[str], Hidden]) -> Hidden:
    """Look once more without characters that nobody sees: they keep a number from being read, and people read it."""
    first = hide(text)
    bare = without_unseen(first.text)
    if bare == first.text:
        return first
    second = hide(bare)
    return Hidden(second.text, {**first.secrets, **second.secrets}) if second.secrets else first


def _hide_name(name: str, tenant: str, hides: Hides) -> Hidden:
    whole = hides.hide(name, tenant)
    ending = _SUFFIX.search(name)
    if ending is None:
        return whole
    if whole.text.endswith(ending[0]):
        # An address that ends like a file (wang@acme.example.md) is read as none: look without the ending.
        stem = hides.hide(whole.text.removesuffix(ending[0]), tenant)
        return Hidden(stem.text + ending[0], {**whole.secrets, **stem.secrets}) if stem.secrets else whole
    stem = hides.hide(name[: ending.start()], tenant)
    apart = stem.text + ending[0]
    # Where a secret is left, the ending belonged to it (ann@acme.com).
    return whole if hides.hide(apart, tenant).secrets else Hidden(apart, stem.secrets)
