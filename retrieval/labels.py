"""The one grammar for source labels and tags, used by protocol, audit and renderers.

A *label* names a passage of one run: `doc_7f3a_p5`, `doc_7f3a_p5b`, `doc_7f3a_s3`,
`doc_7f3a_t872`, `db_sales.orders`, `db_sales.orders#q2`, `tool_calculate#1`.
A *tag* is a label as the model writes it: `[SOURCE: doc_7f3a_p5]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from retrieval.types import Chunk

LABEL = r"(?:doc_[0-9a-f]{4,32}(?:_[pst]\d+[a-z]*)?|db_[\w.-]+(?:#q\d+)?|tool_[a-z][a-z0-9_]*#\d+)"
_LABEL_RE = re.compile(rf"{LABEL}\Z")

# Models write tags with full-width brackets, colons, odd case, and several labels in
# one tag; they also leave out the keyword, the colon or the brackets, link the tag, double
# it, or hide it behind invisible and look-alike characters. All are read as tags, so that
# none slips past the audit as plain text. Every repetition is bounded: linear time.
_HIDDEN = "\u200b-\u200f\u2060\ufeff\u00ad"
_GAP = rf"[ \t\u3000{_HIDDEN}]{{0,8}}"
_LOOKALIKES = {"S": "SsＳｓЅѕ", "O": "OoＯｏОоΟο", "U": "UuＵｕ", "R": "RrＲｒ", "C": "CcＣｃСсϹ", "E": "EeＥｅЕеΕ"}
_SOURCE_WORD = rf"[{_HIDDEN}]?".join(f"[{_LOOKALIKES[letter]}]" for letter in "SOURCE") + "[SsＳｓ]?"
_KEYWORD = rf"(?:{_SOURCE_WORD}|(?:资料|資料|数据|知识)?[来來][{_HIDDEN}]?源|出[处處]|引用|(?i:citations?|cite|ref))"
_PREFIX = rf"(?:[\[【［〔]{{1,3}}{_GAP}{_KEYWORD}{_GAP}[:：]{_GAP}){{1,3}}"
_SHAPE = r"(?:doc_(?=\w{0,60}\d)\w{4,60}(?!\w)|tool_[a-z]\w{0,60}#\d{1,9}|db_[\w.-]{1,80}#q\d{1,9})"
_SHAPES = rf"{_SHAPE}(?:{_GAP}[,，;；、]?{_GAP}{_SHAPE}){{0,20}}"
_TAG_RE = re.compile(
    # [SOURCE: …], whatever stands inside; cut off by the end of the stream or never closed.
    rf"{_PREFIX}(?:(?P<inner>[^\[\]【】［］〔〕\n]{{0,400}})[\]】］〕]{{1,3}}|(?P<open>[A-Za-z0-9_.#-]{{0,80}}))"
    # (SOURCE: doc_…), [doc_…], [text](doc_…): other brackets count when a label stands inside.
    rf"|[\[【［〔(（<{{]{{1,3}}{_GAP}(?:{_KEYWORD}{_GAP}[:：]?{_GAP})?\#?(?P<loose>{_SHAPES}){_GAP}[\]】］〕)）>}}]{{1,3}}"
    # SOURCE: doc_… and a label that simply stands in the text.
    rf"|(?<![A-Za-z]){_KEYWORD}{_GAP}[:：]{_GAP}(?P<bare>{_SHAPES})"
    r"|(?<![\w/.#-])(?P<mention>doc_[0-9a-f]{4,32}_[pst]\d{1,9}[a-z]{0,3})(?![\w-])"
)
_SEPARATOR_RE = re.compile(r"\s*[,，;；、]\s*|\s+")
_INNER_KEYWORD_RE = re.compile(rf"{_KEYWORD}{_GAP}[:：]")
_DRESSING = "`'\"*\\"


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
    """Yield every label of every tag in `text`, in order; linear in the length of `text`.

    Words in a tag that are no label come as one malformed label, an empty tag as `""`.
    """
    for match in _TAG_RE.finditer(text):
        for label in _labels_inside(next(group for group in match.groups() if group is not None)):
            yield Tag(label, match.start(), match.end(), is_label(label))


def _labels_inside(inner: str) -> list[str]:
    inner = _INNER_KEYWORD_RE.sub(" ", inner).replace("\\_", "_")
    parts = [p for p in (p.strip(_DRESSING) for p in _SEPARATOR_RE.split(inner)) if p]
    labels: list[str] = []
    for known, group in groupby(parts, key=is_label):
        run = list(group)
        labels += run if known else [" ".join(run)]
    return labels or [""]


def strip_tags(text: str) -> str:
    """Return `text` without its tags (and the space before each)."""
    return re.sub(r"[ \t]*(?:" + _TAG_RE.pattern + ")", "", text)


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
