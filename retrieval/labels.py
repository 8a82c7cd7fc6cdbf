"""The one grammar for source labels and tags, used by protocol, audit and renderers.

A *label* names a passage of one run: `doc_7f3a_p5`, `doc_7f3a_p5b`, `doc_7f3a_s3`,
`doc_7f3a_t872`, `db_sales.orders`, `db_sales.orders#q2`, `tool_calculate#1`.
A *tag* is a label as the model writes it: `[SOURCE: doc_7f3a_p5]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.types import Chunk

LABEL = r"(?:doc_[0-9a-f]{4,32}(?:_[pst]\d+[a-z]*)?|db_[\w.-]+(?:#q\d+)?|tool_[a-z][a-z0-9_]*#\d+)"
_LABEL_RE = re.compile(rf"{LABEL}\Z")

# Models write tags with full-width brackets, colons, odd case, and several labels in
# one tag; all are read as tags, so that none slips past the audit as plain text.
_TAG_RE = re.compile(
    r"[\[【［]\s*(?:SOURCE|来源|ＳＯＵＲＣＥ)\s*[:：]\s*([^\[\]【】［］\n]{0,400})[\]】］]", re.IGNORECASE
)
_SEPARATOR_RE = re.compile(r"\s*[,，;；、]\s*|\s+")


@dataclass(frozen=True, slots=True)
class Tag:
    """One label inside one tag of a text; `start`/`end` span the whole tag, half-open."""

    label: str
    start: int
    end: int
    well_formed: bool
    """False when the label does not follow the grammar (it is then a violation, not ignored)."""


def is_label(text: str) -> bool:
    """Tell whether `text` follows the label grammar."""
    return _LABEL_RE.match(text) is not None


def format_tag(label: str) -> str:
    """Return the canonical tag of a label."""
    return f"[SOURCE: {label}]"


def find_tags(text: str) -> Iterator[Tag]:
    """Yield every label of every tag in `text`, in order; linear in the length of `text`."""
    for match in _TAG_RE.finditer(text):
        inner = re.sub(r"(?i)(?:SOURCE|来源)\s*[:：]", " ", match.group(1)).strip().strip("`'\"")
        parts = [p.strip("`'\"") for p in _SEPARATOR_RE.split(inner) if p]
        for part in parts or [""]:
            yield Tag(part, match.start(), match.end(), is_label(part))


def strip_tags(text: str) -> str:
    """Return `text` without its tags (and the space before each)."""
    return re.sub(r"[ \t]*" + _TAG_RE.pattern, "", text, flags=re.IGNORECASE)


class LabelBook:
    """Hands out the labels of one run. A label it did not hand out is not valid in that run.

    The short document id is the first four hex digits of the document id, longer
    where two documents of the run collide.
    """

    def __init__(self) -> None:
        self._by_chunk: dict[str, str] = {}
        self._by_label: dict[str, str] = {}
        self._short: dict[str, str] = {}

    def label(self, chunk: Chunk) -> str:
        """Return the chunk's label in this run; the same chunk always gets the same one."""
        known = self._by_chunk.get(chunk.chunk_id)
        if known is not None:
            return known
        stem = f"doc_{self._short_id(chunk.document_id)}{_place(chunk)}"
        label, n = stem, 1
        while label in self._by_label:
            n += 1
            label = f"{stem}{_letters(n)}"
        self._by_chunk[chunk.chunk_id] = label
        self._by_label[label] = chunk.chunk_id
        return label

    def reserve(self, label: str) -> str:
        """Hand out a label that is not a passage's (a tool's result)."""
        if not is_label(label):
            raise ValueError(f"{label!r} is not a source label")
        self._by_label.setdefault(label, label)
        return label

    def __contains__(self, label: object) -> bool:
        return label in self._by_label

    def _short_id(self, document_id: str) -> str:
        known = self._short.get(document_id)
        if known is not None:
            return known
        digits = "".join(c for c in document_id.lower() if c in "0123456789abcdef") or "0000"
        digits = digits.ljust(4, "0")[:32]
        taken = set(self._short.values())
        length = next((n for n in range(4, len(digits) + 1) if digits[:n] not in taken), len(digits))
        self._short[document_id] = digits[:length]
        return digits[:length]


def _place(chunk: Chunk) -> str:
    if chunk.page_start is not None:
        return f"_p{chunk.page_start}"
    if chunk.start_s is not None:
        return f"_t{int(chunk.start_s)}"
    if chunk.section_number is not None:
        return f"_s{chunk.section_number}"
    return ""


def _letters(n: int) -> str:
    """2 → b, 26 → z, 27 → aa: suffix of the n-th passage at one place."""
    out = ""
    while n:
        n, rest = divmod(n - 1, 26)
        out = chr(ord("a") + rest) + out
    return out
