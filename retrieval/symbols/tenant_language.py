"""The symbol language of one tenant: reads a text's symbols and replaces them.

Order of work: protect tokens already there, replace secrets, then read codes and values on the
text without secrets, so that reading and symbolising always agree. Overlaps are settled by one
rule (`found.settle`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from string import ascii_letters, digits

from pydantic import TypeAdapter

from retrieval.symbols.codes.entities import EntityReader
from retrieval.symbols.codes.order import CodeOrder
from retrieval.symbols.codes.reader import CodeReader
from retrieval.symbols.corrections import CorrectionReader
from retrieval.symbols.edits import Edit, apply, moved
from retrieval.symbols.erased_texts import ErasedTexts, text_key
from retrieval.symbols.fold import fold, fold_letters, mask
from retrieval.symbols.found import Found, settle
from retrieval.symbols.pseudonyms import erased, fingerprint, is_erased, kind_of, pseudonym
from retrieval.symbols.result import Secret, Symbolised
from retrieval.symbols.rules import TenantRules
from retrieval.symbols.secrets.find import find_secrets
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.person_list import PersonList
from retrieval.symbols.tokens import is_as_written, token_grammar
from retrieval.symbols.values.find import Reading, find_values
from retrieval.symbols.values.numbers import find_numbers
from retrieval.symbols.values.numerals import CHINESE_DIGIT, scan_numerals
from retrieval.types import Symbol

_MAX_PASSES = 4
_SYMBOLS = TypeAdapter(tuple[Symbol, ...])  # all of a text at once: less than half the time of one by one
# Beside a finding: what a token in its place would set free to be read (2024-07-01Q3 2024).
_GLUE = frozenset(f"{ascii_letters}{digits}年%{CHINESE_DIGIT}十百千万亿")


@dataclass(frozen=True, slots=True)
class _Clean:
    """A text without secrets, folded, and the tokens that stood in it already."""

    text: str
    folded: str
    tokens: list[re.Match[str]]
    erased: frozenset[str] = frozenset()
    """Fingerprints of erased values that were taken out of it."""


class TenantLanguage:
    """Recognises codes, values and secrets under one tenant's rules. Immutable and safe to share between threads."""

    def __init__(self, rules: TenantRules, key: bytes, erasure_key: bytes = b"", *, revision: str = "") -> None:
        """Take the rules and the tenant's own keys (`pseudonyms.tenant_key`, `tenant_erasure_key`).

        Raises:
            ValueError: The rules name erased values, and there is no key to know them by.
        """
        if (rules.erased or rules.erased_texts) and not erasure_key:
            raise ValueError("erased values are known by their fingerprints: the erasure key is missing")
        self.rules = rules
        self.revision = revision
        """Names rules and key: what two languages of one revision make of a text is equal."""
        self._erasure_key = erasure_key
        self.order = CodeOrder(rules.vocabularies)
        self._entities = EntityReader(rules.glossary) if rules.glossary else None
        codes = [CodeReader(v) for v in rules.vocabularies]
        self._readers = (*codes, self._entities) if self._entities is not None else tuple(codes)
        self._persons = PersonList(rules.persons)
        self._corrected = CorrectionReader(rules.corrections) if rules.corrections else None
        self.erased_texts = ErasedTexts(rules.erased_texts, text_key(erasure_key)) if rules.erased_texts else None
        self._key = key
        self._token = re.compile(token_grammar(rules.vocabularies))

    def is_token(self, text: str) -> bool:
        """Tell whether a text is one token of this language, a pseudonym or `[CNY_238000000]`, and nothing else."""
        return self._token.fullmatch(text) is not None

    def read(self, text: str, *, base_date: date | None = None) -> tuple[Symbol, ...]:
        """Return the symbols of a text, ordered by start, not overlapping, with spans in `text` as given.

        Args:
            text: Any text; pseudonyms already in it are read as the secrets they stand for.
            base_date: Resolves relative periods (上季度, last year); without it they are no symbols.
        """
        clean, edits, _ = self._without_secrets(text)
        symbols = self._read_clean(clean, base_date)
        return tuple(moved(symbols, edits)) if edits else symbols

    def symbolise(self, text: str, *, base_date: date | None = None) -> Symbolised:
        """Replace the symbols of a text. Symbolising the result again changes nothing."""
        clean, _, secrets = self._without_secrets(text)
        symbols = self._read_clean(clean, base_date)
        letters = fold_letters(clean.text)  # one writing of documents and questions; spans hold in it too
        parts: list[str] = []
        at = 0
        for symbol in symbols:
            if not is_as_written(symbol):
                parts += (letters[at : symbol.start], symbol.token)
                at = symbol.end
        index_text = "".join((*parts, letters[at:]))
        return Symbolised(clean.text, index_text, symbols, tuple(secrets), clean.erased)

    def read_numbers(self, text: str) -> tuple[Symbol, ...]:
        """Return every plain number of a text that is no part of another symbol, small integers included.

        `read` leaves out integers below five digits that have no thousands separator: most of them
        are years, pages and items. The auditor, which looks a stated figure up, wants them.
        """
        taken = [(s.start, s.end) for s in self.read(text) if s.kind != "number"]
        folded = mask(fold(text), taken)
        numbers, _ = settle(find_numbers(folded, scan_numerals(folded), integers=True))
        return _as_symbols(numbers, text)

    def _without_secrets(self, text: str) -> tuple[_Clean, list[Edit], list[Secret]]:
        folded = fold(text)
        tokens = self._tokens(folded)
        spans = [m.span() for m in tokens]
        edits: list[Edit] = []
        secrets: dict[str, Secret] = {}
        marks: set[str] = set()
        if self.erased_texts is not None:
            gone = list(self.erased_texts.find(mask(folded, spans)))
            edits += [Edit(start, end, erased(kind)) for kind, start, end in gone]
            spans = sorted([*spans, *((start, end) for _, start, end in gone)])
        # A finding may free its neighbour (a number no longer part of a longer one): look again.
        for _ in range(_MAX_PASSES):
            fresh = self._secrets(mask(folded, spans))
            if not fresh:
                break
            for found in fresh:
                mark = self._erased(found.kind, found.value)
                if mark is not None:
                    marks.add(mark)
                    name = erased(found.kind)
                else:
                    name = pseudonym(self._key, found.kind, found.value)
                    secrets.setdefault(name, Secret(name, found.kind, found.value))
                edits.append(Edit(found.start, found.end, name))
            spans = sorted([*spans, *((f.start, f.end) for f in fresh)])
        if not edits:
            return _Clean(text, folded, tokens), edits, []
        edits.sort(key=lambda e: e.start)
        ordered = dict.fromkeys(e.replacement for e in edits)
        clean = apply(text, edits)
        folded = fold(clean)
        return (
            _Clean(clean, folded, self._tokens(folded), frozenset(marks)),
            edits,
            [secrets[name] for name in ordered if name in secrets],
        )

    def _secrets(self, folded: str) -> list[SecretFound]:
        if self._corrected is None:
            return self._by_rule(folded)
        said = self._corrected.secrets(folded)
        rest = self._by_rule(mask(folded, [(f.start, f.end) for f in said]))
        return sorted([*said, *self._corrected.secrets_left(folded, rest)], key=lambda found: found.start)

    def _by_rule(self, folded: str) -> list[SecretFound]:
        """Find secrets; a name of the glossary is nobody's, unless the tenant lists a person by it."""
        found = find_secrets(folded, self._persons)
        if self._entities is None or not any(_is_guess(each) for each in found):
            return found
        entities = self._entities.find(folded)
        return [
            each
            for each in found
            if not (_is_guess(each) and any(e.start < each.end and each.start < e.end for e in entities))
        ]

    def _erased(self, kind: str, value: str) -> str | None:
        """Return the fingerprint of a value that was erased; None for all others."""
        known = self.rules.erased
        if not known:
            return None
        mark = fingerprint(self._erasure_key, kind, value)
        return mark if mark in known else None

    def _read_clean(self, clean: _Clean, base_date: date | None) -> tuple[Symbol, ...]:
        found = [_pseudonym_found(m) for m in clean.tokens if m.group(1) and not is_erased(m)]
        folded = mask(clean.folded, [m.span() for m in clean.tokens])
        if self._corrected is not None:
            folded = mask(folded, self._corrected.unread(folded))
        again = [(0, len(folded))]
        for number in range(_MAX_PASSES):
            fresh: list[Found] = []
            ragged = False
            for start, end in again:
                part = folded if end - start == len(folded) else folded[start:end]
                kept, reached = settle(self._candidates(part, base_date, is_whole=number == 0))
                fresh += kept if start == 0 else [f._replace(start=f.start + start, end=f.end + start) for f in kept]
                ragged = ragged or reached
            found += fresh
            again = _lines_to_read_again(folded, fresh, whole=ragged)
            if not again:
                break
            folded = mask(folded, [(f.start, f.end) for f in fresh])
        found.sort(key=lambda f: f.start)
        return _as_symbols(found, clean.text)

    def _tokens(self, folded: str) -> list[re.Match[str]]:
        return list(self._token.finditer(folded)) if "[" in folded else []

    def _candidates(self, folded: str, base_date: date | None, is_whole: bool) -> Iterable[Found]:
        for reader in self._readers:
            yield from reader.find(folded)
        rules = self.rules
        fiscal = rules.fiscal_year_start, rules.fiscal_year_named_by
        yield from find_values(folded, Reading(base_date, *fiscal, is_whole))


def _is_guess(found: SecretFound) -> bool:
    return found.kind == "person" and found.confidence < 1


def _pseudonym_found(match: re.Match[str]) -> Found:
    return Found("secret", kind_of(match), match.group(), match.group(), match.start(), match.end())


def _lines_to_read_again(text: str, fresh: Sequence[Found], *, whole: bool) -> list[tuple[int, int]]:
    """Return the lines in which a finding, once it is a token, may set its neighbour free to be read."""
    if whole:
        return [(0, len(text))]
    lines: list[tuple[int, int]] = []
    for found in fresh:
        if (not lines or found.start >= lines[-1][1]) and _is_glued(text, found.start, found.end):
            end = text.find("\n", found.end)
            lines.append((text.rfind("\n", 0, found.start) + 1, len(text) if end < 0 else end))
    return lines


def _is_glued(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    return before in _GLUE or (before != "\n" and text[end : end + 1] in _GLUE)


def _as_symbols(findings: Iterable[Found], text: str) -> tuple[Symbol, ...]:
    return _SYMBOLS.validate_python([
        {
            "cls": cls,
            "kind": kind,
            "normal": normal,
            "token": token,
            "start": start,
            "end": end,
            "surface": text[start:end],
            "confidence": confidence,
            "qualifier": qualifier,
        }
        for cls, kind, normal, token, start, end, confidence, qualifier in findings
    ])
