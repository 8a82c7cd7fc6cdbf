"""The symbol language: every tenant's own, built from its rules when they change."""

from __future__ import annotations

import hashlib
import hmac
import sys
from datetime import date
from pathlib import Path

from retrieval.symbols.combined_rules import CombinedRules, KeptRules
from retrieval.symbols.erased_texts import erased_text, text_key
from retrieval.symbols.fold import fold
from retrieval.symbols.identify import identify
from retrieval.symbols.pseudonyms import fingerprint, key_id, pseudonym, tenant_erasure_key, tenant_key
from retrieval.symbols.result import Secret, Symbolised
from retrieval.symbols.rule_source import RuleFiles
from retrieval.symbols.rules import Correction, ErasedText, RuleSource
from retrieval.symbols.tenant_language import TenantLanguage
from retrieval.types import Symbol

__all__ = ["Secret", "SymbolLanguage", "Symbolised", "TenantLanguage", "load_language"]


class SymbolLanguage:
    """Gives each tenant its language. Safe to share between threads.

    Work that must read all its texts alike (a document) takes `of(tenant)` once and keeps it.
    """

    def __init__(self, source: RuleSource, pseudonym_key: bytes, erasure_key: bytes | None = None) -> None:
        """Take where rules come from, the deployment's pseudonym key, and the one that knows erased values.

        Raises:
            ValueError: A key is shorter than 16 bytes.
        """
        tenant_key(pseudonym_key, "")  # refuse a short key now, not at the first document
        if erasure_key is not None:
            tenant_erasure_key(erasure_key, "")
        self._erasure_key = erasure_key
        self._source = source
        self._key = pseudonym_key
        self._built: dict[str, tuple[bytes, TenantLanguage]] = {}

    def of(self, tenant: str) -> TenantLanguage:
        """Return the tenant's language under its rules as they are now."""
        rules, key = self._source.rules(tenant), self._key
        known = self._built.get(tenant)
        if known is not None and known[0] is key and known[1].rules is rules:
            return known[1]
        erasure_key = tenant_erasure_key(self._erasure_key, tenant) if self._erasure_key is not None else b""
        own = tenant_key(key, tenant)
        # Keyed, for it is stored: texts of corrections must not be guessed by it.
        digest = hmac.digest(own, b"attest rules revision\x00" + rules.revision.encode(), hashlib.sha256)
        built = TenantLanguage(rules, own, erasure_key, revision=f"{digest[:16].hex()}/{key_id(key)}")
        self._built[tenant] = (key, built)
        return built

    def latest(self, tenant: str) -> TenantLanguage:
        """Return the tenant's language under what is kept at this moment, for who decides what is read again."""
        self._source.look_again(tenant)
        return self.of(tenant)

    def change_key(self, pseudonym_key: bytes) -> None:
        """Give all pseudonyms under another key from now on.

        Raises:
            ValueError: The key is shorter than 16 bytes.
        """
        tenant_key(pseudonym_key, "")
        self._key = pseudonym_key

    def fingerprint(self, kind: str, value: str, *, tenant: str) -> str:
        """Return what recognises an erased value of a tenant (`TenantRules.erased`).

        Raises:
            ValueError: There is no erasure key.
        """
        if self._erasure_key is None:
            raise ValueError("there is no erasure key")
        return fingerprint(tenant_erasure_key(self._erasure_key, tenant), kind, value)

    def erased_text(self, correction: Correction, *, tenant: str) -> ErasedText | None:
        """Return what finds the text of a correction once it is erased (`TenantRules.erased_texts`).

        Raises:
            ValueError: There is no erasure key.
        """
        if self._erasure_key is None:
            raise ValueError("there is no erasure key")
        key = text_key(tenant_erasure_key(self._erasure_key, tenant))
        return erased_text(key, correction.kind, correction.text, correction.near)

    def identify(self, given: str, *, tenant: str) -> tuple[Secret, ...]:
        """Return every secret that a value given by itself may be; see `identify.identify`."""
        language, key = self.of(tenant), tenant_key(self._key, tenant)
        found = {secret.pseudonym: secret for secret in identify(given, language.rules, key)}
        if language.erased_texts is not None:
            value = " ".join(fold(given).split())
            for kind, start, end in language.erased_texts.find(value):
                if (start, end) == (0, len(value)):
                    name = pseudonym(key, kind, value)
                    found.setdefault(name, Secret(name, kind, value))
        return tuple(found.values())

    def problems(self, tenant: str) -> tuple[str, ...]:
        """Return what is wrong with the rules of a tenant; see `RuleSource.problems`."""
        return self._source.problems(tenant)

    def read(self, text: str, *, tenant: str, base_date: date | None = None) -> tuple[Symbol, ...]:
        """Return the symbols of a text; see `TenantLanguage.read`."""
        return self.of(tenant).read(text, base_date=base_date)

    def symbolise(self, text: str, *, tenant: str, base_date: date | None = None) -> Symbolised:
        """Replace the symbols of a text; see `TenantLanguage.symbolise`."""
        return self.of(tenant).symbolise(text, base_date=base_date)

    def read_numbers(self, text: str, *, tenant: str) -> tuple[Symbol, ...]:
        """Return every plain number of a text; see `TenantLanguage.read_numbers`."""
        return self.of(tenant).read_numbers(text)


def load_language(
    pseudonym_key: bytes,
    folder: Path | None = None,
    *,
    kept: KeptRules | None = None,
    erasure_key: bytes | None = None,
) -> SymbolLanguage:
    """Load the built-in rule files, those of `folder` beside them, and what is kept of each tenant.

    Raises:
        SymbolFileError: A rule file or folder is missing or malformed.
        ValueError: The key is shorter than 16 bytes.
    """
    files = RuleFiles(builtin_dir(), folder)
    source = CombinedRules(files, kept) if kept is not None else files
    return SymbolLanguage(source, pseudonym_key, erasure_key)


def builtin_dir() -> Path:
    """Return the folder of the built-in rule files.

    In a checkout it lies beside the packages; where the wheel is installed, in the shared data of its environment.
    """
    checkout = Path(__file__).resolve().parents[2] / "data" / "symbols"
    return checkout if checkout.is_dir() else Path(sys.prefix) / "share" / "attest" / "symbols"
