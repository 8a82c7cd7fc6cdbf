"""Domain files: closed vocabularies of codes, declared in TOML and validated on loading."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval.errors import SymbolFileError
from retrieval.symbols.pseudonyms import PREFIXES
from retrieval.symbols.values.currencies import CODES as CURRENCY_CODES

_RESERVED = frozenset({*CURRENCY_CODES, *PREFIXES.values(), "QTY", "PCT", "PP", "NUM", "DATE", "PERIOD"})

Word = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^\S(?:.*\S)?$")]


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Context(_Declared):
    """What must and what must not stand around a code."""

    near: tuple[Word, ...] = Field(min_length=1)
    """One of these must stand in the sentence (or table) of the code or in the sentence before it."""
    adjacent: tuple[Word, ...] = ()
    """One of these must stand right before or after a `name` or a `strict` code."""
    not_near: tuple[Word, ...] = ()
    """Refuses a code in the same sentence, unless a `near` word stands nearer to it."""
    not_before: tuple[Word, ...] = ()
    """Refuses a code that stands right after one of these."""
    not_after: tuple[Word, ...] = ()
    """Refuses a code that stands right before one of these."""


class Code(_Declared):
    """One code of a vocabulary and how people write it."""

    code: str = Field(pattern=r"^[A-Z0-9][A-Z0-9+.-]{0,31}$")
    rank: int
    """Its place in the vocabulary's order."""
    aliases: tuple[Word, ...] = ()
    """Other writings, good wherever the code itself is."""
    names: tuple[Word, ...] = ()
    """Ordinary words that mean the code only next to an `adjacent` word: 保守型, low risk."""
    strict: bool = False
    """The code itself is an ordinary word (the rating A) and needs an `adjacent` word too."""


class Vocabulary(_Declared):
    """An ordered, closed set of codes."""

    namespace: str = Field(pattern=r"^[a-z][a-z0-9_]{1,40}$")
    """The `kind` of its symbols."""
    token_prefix: str = Field(pattern=r"^[A-Z][A-Z0-9_]{1,40}$")
    case_sensitive: bool = False
    context: Context
    codes: tuple[Code, ...] = Field(min_length=1, alias="code")

    @model_validator(mode="after")
    def _is_unambiguous(self) -> Self:
        if self.token_prefix in _RESERVED:
            raise ValueError(f"token_prefix {self.token_prefix!r} is taken by the language itself")
        _refuse_repeats("code", [c.code for c in self.codes])
        _refuse_repeats("rank", [str(c.rank) for c in self.codes])
        _refuse_repeats("alias", [w.lower() for c in self.codes for w in {c.code, *c.aliases, *c.names}])
        if not self.context.adjacent and any(c.names or c.strict for c in self.codes):
            raise ValueError("context.adjacent is needed for names and strict codes")
        return self


class _DomainFile(_Declared):
    vocabularies: tuple[Vocabulary, ...] = Field(min_length=1, alias="vocabulary")


def read_domain_file(path: Path) -> tuple[Vocabulary, ...]:
    """Read one domain file.

    Raises:
        SymbolFileError: It is unreadable or malformed; the message names the file and the field.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise SymbolFileError(f"{path}: not readable as TOML: {exc}") from exc
    try:
        return _DomainFile.model_validate(raw).vocabularies
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "file"
        raise SymbolFileError(f"{path}: {field}: {first['msg']}") from exc


def read_domain_files(folders: Iterable[Path]) -> tuple[Vocabulary, ...]:
    """Read every `*.toml` of the folders, in order of name.

    Raises:
        SymbolFileError: A folder is missing, a file is malformed, or two vocabularies share a
            namespace or a token prefix.
    """
    seen: dict[str, Path] = {}
    vocabularies: list[Vocabulary] = []
    for folder in folders:
        if not folder.is_dir():
            raise SymbolFileError(f"{folder}: no such folder of symbol domain files")
        for path in sorted(folder.glob("*.toml")):
            for vocabulary in read_domain_file(path):
                for field in ("namespace", "token_prefix"):
                    name = str(getattr(vocabulary, field))
                    if name in seen:
                        raise SymbolFileError(f"{path}: {field}: {name!r} is already declared in {seen[name]}")
                    seen[name] = path
                vocabularies.append(vocabulary)
    return tuple(vocabularies)


def _refuse_repeats(what: str, names: Sequence[str]) -> None:
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise ValueError(f"{what} {sorted(repeated)[0]!r} is declared twice")
