"""What the vault's routes take and give."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from api.reasons import says_something
from ingest.reveals import Reveal
from retrieval.types import Value

Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(says_something)
]
"""Why a secret is wanted. It is logged; secrets in it are logged as pseudonyms."""


class RevealBody(Value):
    """Asks for the value behind a pseudonym."""

    pseudonym: str = Field(min_length=1, max_length=64)
    reason: Reason


class Revealed(Value):
    """A value in the clear."""

    pseudonym: str
    value: str = Field(repr=False)


class RunRevealBody(Value):
    """Asks for a whole answer in the clear."""

    reason: Reason


class RevealedRun(Value):
    """A run's question and answer with the values that the caller may see."""

    run_id: str
    question: str = Field(repr=False)
    answer: str | None = Field(repr=False)
    """None where the run has none."""
    revealed: tuple[str, ...]
    """Pseudonyms that were replaced by their values."""
    hidden: tuple[str, ...]
    """Pseudonyms that stand there still: no document that the caller may see carries them."""


class RevealList(Value):
    """A page of the log of reveals."""

    reveals: tuple[Reveal, ...]


Given = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class PersonBody(Value):
    """Asks after a person: a set of values, in any writing, or pseudonyms."""

    values: tuple[Given, ...] = Field(min_length=1, max_length=200, repr=False)
    reason: Reason


class EraseBody(PersonBody):
    """Asks that values be forgotten."""

    documents: Literal["list", "delete"]
    """`list`: documents that carry a value are named and read again without it; `delete`: they are deleted."""
