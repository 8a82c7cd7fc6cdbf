"""Measures the symbol language on sentences whose symbols are known: precision, recall and F1 by class and kind.

A value or a code is right when kind, span and normal form are; a secret when kind, span and clear value are.
Beside this strict count, `secrets.covered` tells which share of the secrets stands wholly inside hidden
text, whatever kind it was taken for: what is not covered leaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from retrieval.errors import EvaluationDataError
from retrieval.symbols.language import SymbolLanguage
from retrieval.types import Language, Qualifier, SymbolClass, Value

TENANT = "gold"
"""Whose rules read the gold set."""
_PLURAL: dict[SymbolClass, str] = {"value": "values", "code": "codes", "secret": "secrets"}
_NOT_IN_THE_SET = frozenset({"number"})

Mistake = Literal["missed", "false"]


class GoldSymbol(Value):
    """A symbol as a careful reader marked it."""

    cls: SymbolClass
    kind: str
    normal: str
    """Normal form; for a secret its normalised clear value."""
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    qualifier: Qualifier | None = None
    """None: not marked."""


class GoldSentence(Value):
    """A text and its symbols, ordered by start, not overlapping."""

    id: str
    lang: Language
    text: str
    base_date: date | None = None
    symbols: tuple[GoldSymbol, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One symbol that was missed, or found where there is none."""

    sentence: GoldSentence
    mistake: Mistake
    symbol: GoldSymbol


@dataclass(slots=True)
class Counts:
    """Symbols of the set, symbols found, and how many of both are the same."""

    expected: int = 0
    found: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """Share of the found that is right; 1 of nothing found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the expected that was found; 1 of nothing expected."""
        return self.right / self.expected if self.expected else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.expected + self.found
        return 2 * self.right / total if total else 1.0


@dataclass(slots=True)
class SymbolReport:
    """What was measured on a set of sentences."""

    sentences: int = 0
    kinds: dict[tuple[str, str], Counts] = field(default_factory=dict[tuple[str, str], Counts])
    """By class (`values`, `codes`, `secrets`) and kind."""
    covered: int = 0
    qualifiers: Counts = field(default_factory=Counts)
    """Of values that are right and whose qualifier is marked."""
    wrong: list[Wrong] = field(default_factory=list[Wrong])

    def of_class(self, name: str) -> Counts:
        """Return the counts of a class, all kinds together."""
        rows = [counts for (cls, _), counts in self.kinds.items() if cls == name]
        return Counts(sum(c.expected for c in rows), sum(c.found for c in rows), sum(c.right for c in rows))

    @property
    def metrics(self) -> dict[str, float]:
        """Precision, recall and F1 under names such as `values.f1` and `secrets.mobile.recall`."""
        metrics: dict[str, float] = {}
        rows = [(name, self.of_class(name)) for name in _PLURAL.values()]
        rows += [(f"{cls}.{kind}", counts) for (cls, kind), counts in sorted(self.kinds.items())]
        for name, counts in rows:
            metrics |= {f"{name}.precision": counts.precision, f"{name}.recall": counts.recall, f"{name}.f1": counts.f1}
        secrets = self.of_class("secrets").expected
        metrics["secrets.covered"] = self.covered / secrets if secrets else 1.0
        metrics["qualifiers.recall"] = self.qualifiers.recall
        return metrics


def read_gold(path: Path) -> list[GoldSentence]:
    """Read a set, one JSON object a line.

    Raises:
        EvaluationDataError: a line does not read; the message names file and line.
    """
    sentences: list[GoldSentence] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as exc:
        raise EvaluationDataError(f"{path}: cannot be read ({exc.strerror})") from exc
    for number, line in enumerate(lines, start=1):
        try:
            sentences.append(GoldSentence.model_validate_json(line))
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise EvaluationDataError(f"{path}: line {number}: {where}: {first['msg']}") from exc
    return sentences


def evaluate_symbols(sentences: Iterable[GoldSentence], language: SymbolLanguage) -> SymbolReport:
    """Read every sentence and compare."""
    report = SymbolReport()
    for sentence in sentences:
        _compare(report, sentence, _read(sentence, language))
    return report


def _read(sentence: GoldSentence, language: SymbolLanguage) -> list[GoldSymbol]:
    tenant = language.of(TENANT)
    symbols = tenant.read(sentence.text, base_date=sentence.base_date)
    values = {secret.pseudonym: secret.value for secret in tenant.symbolise(sentence.text).secrets}
    return [
        GoldSymbol(
            cls=each.cls,
            kind=each.kind,
            normal=values.get(each.normal, each.normal) if each.cls == "secret" else each.normal,
            start=each.start,
            end=each.end,
            qualifier=each.qualifier,
        )
        for each in symbols
        if each.kind not in _NOT_IN_THE_SET
    ]


def _compare(report: SymbolReport, sentence: GoldSentence, found: Sequence[GoldSymbol]) -> None:
    report.sentences += 1
    expected = Counter(map(_key, sentence.symbols))
    given = Counter(map(_key, found))
    right = expected & given
    for symbols, counted in ((sentence.symbols, "expected"), (found, "found")):
        for symbol in symbols:
            counts = report.kinds.setdefault((_PLURAL[symbol.cls], symbol.kind), Counts())
            setattr(counts, counted, getattr(counts, counted) + 1)
            if counted == "expected" and _key(symbol) in right:
                counts.right += 1
            if _key(symbol) not in right:
                report.wrong.append(Wrong(sentence, "missed" if counted == "expected" else "false", symbol))
    hidden = [(s.start, s.end) for s in found if s.cls == "secret"]
    report.covered += sum(
        1
        for symbol in sentence.symbols
        if symbol.cls == "secret" and any(start <= symbol.start and symbol.end <= end for start, end in hidden)
    )
    qualifiers = {_key(symbol): symbol.qualifier for symbol in found}
    for symbol in sentence.symbols:
        if symbol.qualifier is not None and _key(symbol) in right:
            report.qualifiers.expected += 1
            report.qualifiers.found += 1
            report.qualifiers.right += symbol.qualifier == qualifiers[_key(symbol)]


def _key(symbol: GoldSymbol) -> tuple[str, str, str, int, int]:
    return (symbol.cls, symbol.kind, symbol.normal, symbol.start, symbol.end)
