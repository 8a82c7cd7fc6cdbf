"""Rule files: what teaches the language a tenant's codes, names, glossary and fiscal year (docs/symbols-rules.md).

Messages name a file, an entry and a field, never what stands in it: a person's name is a secret.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from retrieval.errors import SymbolFileError
from retrieval.symbols.codes.domain import Code, Context, Declared, Vocabulary, Word
from retrieval.symbols.fold import fold
from retrieval.symbols.rules import Entity, Person, TenantRules, revised

_HELP = "see docs/symbols-rules.md"
_MAX_NAMES = 50


class _Entity(Declared):
    id: str = Field(pattern=r"^[A-Z0-9][A-Z0-9_.-]{0,31}$")
    names: tuple[Word, ...] = Field(min_length=1, max_length=_MAX_NAMES)
    not_in: tuple[Word, ...] = ()


class _Person(Declared):
    names: tuple[Word, ...] = Field(min_length=1, max_length=_MAX_NAMES)


class _FiscalYear(Declared):
    start: int = Field(ge=1, le=12)
    named_by: Literal["start", "end"] = "start"


class _File(Declared):
    vocabulary: tuple[Vocabulary, ...] = ()
    entity: tuple[_Entity, ...] = ()
    person: tuple[_Person, ...] = ()
    fiscal_year: _FiscalYear | None = None


# By the names of the fields that lead there: to tell which fields there are.
_TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): _File,
    ("vocabulary",): Vocabulary,
    ("vocabulary", "context"): Context,
    ("vocabulary", "code"): Code,
    ("entity",): _Entity,
    ("person",): _Person,
    ("fiscal_year",): _FiscalYear,
}


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What one rule file declares."""

    path: Path
    vocabularies: tuple[Vocabulary, ...] = ()
    glossary: tuple[Entity, ...] = ()
    persons: tuple[Person, ...] = ()
    fiscal_year: tuple[int, Literal["start", "end"]] | None = None
    """First month, and whether the year is named by its start or its end."""

    def counts(self) -> dict[str, int]:
        """Return how many entries each section has."""
        return {
            "codes": sum(len(vocabulary.codes) for vocabulary in self.vocabularies),
            "entities": len(self.glossary),
            "persons": len(self.persons),
            "fiscal years": int(self.fiscal_year is not None),
        }


def read_rule_file(path: Path) -> RuleFile:
    """Read one rule file.

    Raises:
        SymbolFileError: It is unreadable or malformed; the message names the file, the field and what to do.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as exc:
        what = exc.strerror if isinstance(exc, OSError) else "it is no UTF-8"
        raise SymbolFileError(f"{path}: cannot be read: {what}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SymbolFileError(f"{path}: is no TOML: {exc}") from exc
    try:
        file = _File.model_validate(raw)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        raise SymbolFileError(f"{path}: {_problem(first)}; {_HELP}") from None  # its cause would print names
    year = file.fiscal_year
    return RuleFile(
        path,
        file.vocabulary,
        tuple(Entity(entity_id=e.id, names=e.names, not_in=e.not_in) for e in file.entity),
        tuple(Person(names=p.names) for p in file.person),
        (year.start, year.named_by) if year is not None else None,
    )


def read_rule_folder(folder: Path) -> tuple[RuleFile, ...]:
    """Read every `*.toml` of a folder, in order of name.

    Raises:
        SymbolFileError: The folder is missing or a file is malformed.
    """
    if not folder.is_dir():
        raise SymbolFileError(f"{folder}: no such folder of rule files; make it, or change ATTEST_SYMBOLS_FOLDER")
    return tuple(read_rule_file(path) for path in sorted(folder.glob("*.toml")))


def merge(shared: Sequence[RuleFile], own: Sequence[RuleFile] = ()) -> TenantRules:
    """Join rule files into a tenant's rules.

    Args:
        shared: what holds for all tenants.
        own: the tenant's; its fiscal year takes the place of the shared one.

    Raises:
        SymbolFileError: Two files declare the same namespace, token prefix, entity, name, or fiscal year.
    """
    files = (*shared, *own)
    _refuse_shared_names(files)
    year = _fiscal_year(own) or _fiscal_year(shared) or (1, "start")
    return revised(
        TenantRules(
            vocabularies=tuple(v for file in files for v in file.vocabularies),
            fiscal_year_start=year[0],
            fiscal_year_named_by=year[1],
            persons=tuple(p for file in files for p in file.persons),
            glossary=tuple(e for file in files for e in file.glossary),
        )
    )


def writing(name: str) -> str:
    """Return what two writings of one name share: folded, one space between words, small letters."""
    return " ".join(fold(name).split()).casefold()


def _refuse_shared_names(files: Iterable[RuleFile]) -> None:
    seen: dict[tuple[str, str], tuple[Path, int]] = {}

    def claim(what: str, name: str, shown: str, path: Path, number: int) -> None:
        other = seen.setdefault((what, name), (path, number))
        if other != (path, number):
            where = f"entry {other[1]} of this file" if other[0] == path else str(other[0])
            raise SymbolFileError(f"{path}: {what}{shown} of entry {number} is already declared in {where}; drop one")

    for file in files:
        for number, vocabulary in enumerate(file.vocabularies, 1):
            for field in ("namespace", "token_prefix"):
                name = str(getattr(vocabulary, field))
                claim(f"vocabulary: {field}", name, f" {name!r}", file.path, number)
        for number, entity in enumerate(file.glossary, 1):
            claim("entity: id", entity.entity_id, f" {entity.entity_id!r}", file.path, number)
            for name in entity.names:
                claim("entity: name", writing(name), f" {name!r}", file.path, number)
        for number, person in enumerate(file.persons, 1):
            for name in person.names:
                claim("person: a name", writing(name), "", file.path, number)


def _fiscal_year(files: Iterable[RuleFile]) -> tuple[int, Literal["start", "end"]] | None:
    declared = [file for file in files if file.fiscal_year is not None]
    if len(declared) > 1:
        paths = f"{declared[1].path}: fiscal_year: is already declared in {declared[0].path}"
        raise SymbolFileError(f"{paths}; drop one")
    return declared[0].fiscal_year if declared else None


def _problem(error: ErrorDetails) -> str:
    """Say where and what: `vocabulary 1, code 3, rank: field required`."""
    parts: list[str] = []
    for part in error["loc"]:
        if isinstance(part, int) and parts:
            parts[-1] += f" {part + 1}"
        else:
            parts.append(str(part))
    where = ", ".join(parts) or "file"
    if error["type"] != "extra_forbidden":
        return f"{where}: {error['msg'].removeprefix('Value error, ')}"
    table = _TABLES.get(tuple(p for p in error["loc"][:-1] if isinstance(p, str)))
    fields = ", ".join(f.alias or name for name, f in table.model_fields.items()) if table else ""
    return f"{where}: there is no such field" + (f"; there are {fields}" if fields else "")
