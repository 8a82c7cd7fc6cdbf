"""Where the gold set lies, and the language that reads it."""

from __future__ import annotations

from pathlib import Path

from retrieval.errors import EvaluationDataError
from retrieval.symbols.language import SymbolLanguage, builtin_dir
from retrieval.symbols.rule_files import merge, read_rule_file, read_rule_folder
from retrieval.symbols.rules import FixedRules


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
    own = [read_rule_file(rules)] if rules.exists() else []
    return SymbolLanguage(FixedRules(merge(read_rule_folder(builtin_dir()), own)), key)
