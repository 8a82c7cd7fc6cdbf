"""Where the gold set lies, and the language that reads it."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import TypeAdapter

from retrieval.errors import EvaluationDataError
from retrieval.symbols.codes.domain import Vocabulary, read_domain_files
from retrieval.symbols.language import SymbolLanguage, builtin_dir
from retrieval.symbols.rules import Entity, FixedRules, Person, TenantRules


def gold_folder() -> Path:
    """Return the folder of the gold set.

    Raises:
        EvaluationDataError: it is not here: an installed attest has no evaluation data, a checkout has.
    """
    folder = builtin_dir() / "gold"
    if not folder.is_dir():
        raise EvaluationDataError(f"{folder}: the gold set is not here; run this in a checkout, or give --file")
    return folder


def gold_language(key: bytes, rules: Path) -> SymbolLanguage:
    """Return the language under the built-in rules and those of one file."""
    raw = tomllib.loads(rules.read_text(encoding="utf-8")) if rules.exists() else {}
    more = TypeAdapter(tuple[Vocabulary, ...]).validate_python(raw.get("vocabulary", ()))
    persons = TypeAdapter(tuple[Person, ...]).validate_python(raw.get("person", ()))
    glossary = tuple(Entity(entity_id=e["id"], names=e["names"]) for e in raw.get("entity", ()))
    tenant = TenantRules(vocabularies=(*read_domain_files([builtin_dir()]), *more), persons=persons, glossary=glossary)
    return SymbolLanguage(FixedRules(tenant), key)
