"""The words every room shares: principal, symbol, chunk, filter, passage.

Plain frozen values. A value that crosses a process, a database or the HTTP
border is a pydantic model; one that carries arrays is a dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

Right = Literal["search", "chat", "ingest", "delete", "reveal", "admin"]
ALL_RIGHTS: frozenset[Right] = frozenset({"search", "chat", "ingest", "delete", "reveal", "admin"})
EVERYONE = "everyone"

Authority = Literal["official", "approved", "draft", "unknown"]
Language = Literal["zh", "en", "other"]
Tier = Literal["strong", "weak", "none"]
Channel = Literal["dense", "foreign", "sparse", "symbol", "translated"]
"""`foreign`: dense hits in the other language than the question's, for encoders that need it; `translated`: hits
there for the question's words in that language."""


class Value(BaseModel):
    """Base of all shared values: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


TenantName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
_Written = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Principal(Value):
    """Who asks. Every call that reads or writes knowledge carries one."""

    tenant: TenantName
    user: _Name
    groups: frozenset[_Name] = frozenset()
    rights: frozenset[Right] = frozenset()

    def access_tokens(self) -> frozenset[str]:
        """Return the access-list entries that admit this principal.

        Compared letter by letter: a group `everyone` is the entry `group:everyone`, and names that only look
        alike are others.
        """
        return frozenset({EVERYONE, f"user:{self.user}"} | {f"group:{g}" for g in self.groups})

    def may(self, right: Right) -> bool:
        """Tell whether the principal holds `right`."""
        return right in self.rights


SymbolClass = Literal["code", "value", "secret"]
Qualifier = Literal["", "about", "at_least", "at_most", "more_than", "less_than"]


class Symbol(Value):
    """A typed, normalised sensitive or comparable value found in a text."""

    cls: SymbolClass
    kind: str
    """`amount`, `percent`, `quantity`, `date`, `period` …; `mobile`, `id_card`, `email` …; for codes the
    vocabulary's namespace, e.g. `customer_risk`. All kinds: docs/symbols.md."""
    normal: str
    """Normal form: equal values have equal normal forms. For secrets the pseudonym
    (`[PHONE_k3f9a2mq7x4tw]`), never the value."""
    token: str
    """What stands in `index_text`: `[RISK_C1]`, `[CNY_238000000]`, `[PERIOD_2024Q3]`."""
    start: int
    """Half-open character span in the text that was read."""
    end: int
    surface: str
    """The text as written; for secrets the pseudonym."""
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    qualifier: Qualifier = ""
    """How exactly a value is meant: 约 `about`, 不低于 `at_least`, 超过 `more_than` …; empty: as it stands."""


class Box(Value):
    """A rectangle on a page, in PDF points with the origin at the top left."""

    page_number: int = Field(ge=1)
    x0: float
    y0: float
    x1: float
    y1: float


class Chunk(Value):
    """The indexed unit. Carries all that a citation needs, so search never joins to SQL."""

    chunk_id: str
    """UUID text; equal content at the same place of the same document gives the same id."""
    tenant: str
    document_id: str
    """One version of one source file."""
    ordinal: int = Field(ge=0)
    text: str
    """What people and models read: secrets replaced by pseudonyms, codes and values as written."""
    index_text: str
    """What is encoded: heading path, then the text with all three symbol classes replaced by tokens."""
    heading_path: tuple[str, ...] = ()
    page_start: int | None = None
    """1-based; None where the format has no pages."""
    page_end: int | None = None
    section_number: int | None = None
    """1-based ordinal of the section where the format has no pages."""
    start_char: int = Field(ge=0)
    """Half-open span in the document's (secret-free) text."""
    end_char: int
    boxes: tuple[Box, ...] = ()
    speaker: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    language: Language = "other"
    symbols: tuple[Symbol, ...] = ()
    token_count: int = 0
    kind: Literal["text", "table", "turn", "schema"] = "text"
    title: str = ""
    issuer: str = ""
    authority: Authority = "unknown"
    effective_from: date | None = None
    effective_to: date | None = None
    labels: frozenset[str] = frozenset()
    access: frozenset[str] = frozenset({EVERYONE})
    """Access-list entries: `everyone`, `user:NAME`, `group:NAME`. Empty admits nobody."""


class SearchFilter(Value):
    """What a caller may narrow a search by. Everything given is AND-ed."""

    labels: frozenset[_Written] = Field(default=frozenset(), max_length=64)
    """Documents that carry every one of these labels."""
    document_ids: frozenset[_Written] | None = Field(default=None, max_length=1000)
    """None: any document. An empty set matches nothing (fails closed)."""
    language: Language | None = None
    authority: Authority | None = None
    as_of: date | None = None
    period: _Written | None = None
    """Chunks that state this period or one within it, in their text or the headings and title above it. At the
    doors as one writes it (`Q3 2024`, `2024年第三季度`); further in as its normal form (`2024Q3`)."""
    symbols: frozenset[_Written] = Field(default=frozenset(), max_length=64)
    """Chunks that carry every one of these. At the doors tokens, or values as one writes them; further in
    tokens alone, so that no secret is kept in clear."""


class Scope(Value):
    """The whole condition of a store query: who asks and what was asked for.

    Built only from a `Principal`, so no query exists without a tenant.
    """

    tenant: TenantName
    access: frozenset[_Written]
    """A chunk is visible when its access list meets this set."""
    filter: SearchFilter = SearchFilter()

    @field_validator("access")
    @classmethod
    def _somebody_asks(cls, value: frozenset[str]) -> frozenset[str]:
        if not value:
            raise ValueError("a scope needs at least one access token")
        return value

    @classmethod
    def of(cls, principal: Principal, filter: SearchFilter | None = None) -> Scope:
        """Build the scope of a principal, narrowed by `filter`."""
        return cls(tenant=principal.tenant, access=principal.access_tokens(), filter=filter or SearchFilter())


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Sparse vector: parallel term indices (uint32 range, unique) and weights."""

    indices: NDArray[np.uint32]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoding:
    """What an encoder makes of n texts: `dense` float32 (n, dim), rows unit length, and n sparse vectors."""

    dense: NDArray[np.float32]
    sparse: tuple[SparseVector, ...]


@dataclass(frozen=True, slots=True)
class TextVectors:
    """What an encoder made of one text."""

    dense: NDArray[np.float32]
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """A chunk with its vectors, ready to be written."""

    chunk: Chunk
    dense: NDArray[np.float32]
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk with the score one channel gave it (higher is better, not comparable between channels)."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fused candidate: its chunk, the score and rank it had in each channel, and the fused score."""

    chunk: Chunk
    scores: Mapping[Channel, float]
    ranks: Mapping[Channel, int]
    fused: float


Confidence = Literal["high", "medium", "low"]
PeriodMatch = Literal["match", "mismatch", "not_asked", "unknown"]


class Passage(Value):
    """A retrieved chunk with its source label, as the model and the reader see it."""

    label: str
    """The per-run source label without brackets, e.g. `doc_7f3a_p5`."""
    chunk: Chunk
    score: float = Field(ge=0.0, le=1.0)
    """Reranker score, 0 to 1, higher is better."""
    confidence: Confidence
    period_match: PeriodMatch = "not_asked"
    asked_periods: tuple[str, ...] = ()
    """Normal forms of the periods the question names."""
    stated_periods: tuple[str, ...] = ()
    """Normal forms of the periods the passage, its headings or its title name."""
    conflicts_with: tuple[str, ...] = ()
    """Labels of passages of other documents that state another value for the same thing."""
    superseded_from: date | None = None
    """The day on which a later edition takes the document's place; None: it is the newest, or nobody asked."""
    context_before: str = ""
    """What stands before the chunk at the same place of the document; shown as context, cited by the same label."""
    context_after: str = ""

    @property
    def evidence_text(self) -> str:
        """All text that was shown under the label: the chunk first, so that spans in it hold here too."""
        return "\n\n".join(part for part in (self.chunk.text, self.context_before, self.context_after) if part)
