"""The symbol language: every tenant's own, built from its rules when they change."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from retrieval.symbols.codes.domain import read_domain_files
from retrieval.symbols.pseudonyms import tenant_key
from retrieval.symbols.rules import FixedRules, RuleSource, TenantRules
from retrieval.symbols.tenant_language import Secret, Symbolised, TenantLanguage
from retrieval.types import Symbol

__all__ = ["Secret", "SymbolLanguage", "Symbolised", "TenantLanguage", "load_language"]


class SymbolLanguage:
    """Gives each tenant its language. Safe to share between threads.

    Work that must read all its texts alike (a document) takes `of(tenant)` once and keeps it.
    """

    def __init__(self, source: RuleSource, pseudonym_key: bytes) -> None:
        """Take where rules come from and the deployment's pseudonym key.

        Raises:
            ValueError: The key is shorter than 16 bytes.
        """
        tenant_key(pseudonym_key, "")  # refuse a short key now, not at the first document
        self._source = source
        self._key = pseudonym_key
        self._built: dict[str, TenantLanguage] = {}

    def of(self, tenant: str) -> TenantLanguage:
        """Return the tenant's language under its rules as they are now."""
        rules = self._source.rules(tenant)
        built = self._built.get(tenant)
        if built is None or built.rules is not rules:
            built = TenantLanguage(rules, tenant_key(self._key, tenant))
            self._built[tenant] = built
        return built

    def read(self, text: str, *, tenant: str, base_date: date | None = None) -> tuple[Symbol, ...]:
        """Return the symbols of a text; see `TenantLanguage.read`."""
        return self.of(tenant).read(text, base_date=base_date)

    def symbolise(self, text: str, *, tenant: str, base_date: date | None = None) -> Symbolised:
        """Replace the symbols of a text; see `TenantLanguage.symbolise`."""
        return self.of(tenant).symbolise(text, base_date=base_date)

    def read_numbers(self, text: str, *, tenant: str) -> tuple[Symbol, ...]:
        """Return every plain number of a text; see `TenantLanguage.read_numbers`."""
        return self.of(tenant).read_numbers(text)


def load_language(pseudonym_key: bytes, extra_dir: Path | None = None) -> SymbolLanguage:
    """Load the built-in domain files, and those of `extra_dir` beside them.

    Raises:
        SymbolFileError: A domain file or folder is missing or malformed.
        ValueError: The key is shorter than 16 bytes.
    """
    folders = [_builtin_dir(), *([extra_dir] if extra_dir is not None else [])]
    rules = TenantRules(vocabularies=read_domain_files(folders))
    return SymbolLanguage(FixedRules(rules), pseudonym_key)


def _builtin_dir() -> Path:
    """In a checkout beside the packages; where the wheel is installed in the shared data of its environment."""
    checkout = Path(__file__).resolve().parents[2] / "data" / "symbols"
    return checkout if checkout.is_dir() else Path(sys.prefix) / "share" / "attest" / "symbols"
