"""Secrets and values beside the pattern recognisers of Presidio, on the same sentences in the same run.

The sentences are those of presidio-research (English, invented persons), found through `ATTEST_EVAL_DATA`. Presidio's
recognisers are called alone, without a model of language; what they find counts from that score on which gives the kind
its best F1. Ours are read as for any tenant without rules of its own.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple


class Span(NamedTuple):
    start: int
    end: int
    score: float = 1.0


# Kind of the sentences → our kinds, and the name of Presidio's recogniser.
_KINDS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "EMAIL_ADDRESS": (("email",), "EmailRecognizer"),
    "PHONE_NUMBER": (("mobile", "phone"), "PhoneRecognizer"),
    "CREDIT_CARD": (("bank_card",), "CreditCardRecognizer"),
    "IBAN_CODE": (("iban",), "IbanRecognizer"),
    "US_SSN": (("social_security",), "UsSsnRecognizer"),
    "IP_ADDRESS": (("ip_address",), "IpRecognizer"),
    "DOMAIN_NAME": (("url",), "UrlRecognizer"),
    "DATE_TIME": (("date", "period", "time"), "DateRecognizer"),
    "STREET_ADDRESS": (("address",), None),
    "PERSON": (("person",), None),
}


def measure() -> None:
    """Print the table."""
    path = Path(os.environ.get("ATTEST_EVAL_DATA", "")) / "presidio" / "dev_even_templates.jsonl"
    if not path.is_file():
        print("ATTEST_EVAL_DATA names no sentences of presidio-research: nothing to compare.\n")
        return
    sentences = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [s["text"] for s in sentences]
    ours, theirs = _ours(texts), _theirs(texts)
    print(f"{len(sentences)} sentences; overlap by half of the longer span | exact span\n")
    print("| kind | spans | attest: precision, recall, F1 | Presidio | attest, exact: F1 | Presidio, exact: F1 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in _KINDS:
        gold = [[Span(x["start"], x["end"]) for x in s["spans"] if x["type"] == kind] for s in sentences]
        cells = [_cell(gold, found[kind], _overlaps) for found in (ours, theirs)]
        exact = [_cell(gold, found[kind], _is_equal, only_f1=True) for found in (ours, theirs)]
        print(f"| {kind} | {sum(map(len, gold))} | {' | '.join((*cells, *exact))} |")
    print()


def _ours(texts: list[str]) -> dict[str, list[list[Span]]]:
    from retrieval.symbols.language import load_language

    language = load_language(bytes(32)).of("bench")
    found: dict[str, list[list[Span]]] = defaultdict(list)
    for text in texts:
        symbols = language.read(text)
        for kind, (own, _) in _KINDS.items():
            spans = [Span(s.start, s.end) for s in symbols if s.kind in own]
            found[kind].append(_joined(text, spans) if kind == "DATE_TIME" else spans)
    return found


def _joined(text: str, spans: list[Span]) -> list[Span]:
    """Join a date and the time behind it, which are one span there and two symbols here."""
    joined: list[Span] = []
    for span in spans:
        if joined and text[joined[-1].end : span.start] == " ":
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _theirs(texts: list[str]) -> dict[str, list[list[Span]]]:
    from presidio_analyzer import EntityRecognizer, predefined_recognizers
    from tldextract import tldextract

    tldextract.TLD_EXTRACTOR.suffix_list_urls = ()  # its own copy of the list, no download
    found: dict[str, list[list[Span]]] = {}
    for kind, (_, name) in _KINDS.items():
        if name is None:
            found[kind] = []
            continue
        recogniser = getattr(predefined_recognizers, name)()
        results = [recogniser.analyze(text, recogniser.supported_entities, None) or [] for text in texts]
        found[kind] = [
            [Span(r.start, r.end, r.score) for r in EntityRecognizer.remove_duplicates(result)] for result in results
        ]
    return found


def _cell(
    gold: list[list[Span]], found: list[list[Span]], agree: Callable[[Span, Span], bool], *, only_f1: bool = False
) -> str:
    if not found:
        return "–"
    scores = sorted({span.score for spans in found for span in spans} or {1.0})
    best = max(
        (_figures(gold, [[s for s in f if s.score >= least] for f in found], agree) for least in scores), key=_f1
    )
    return f"{best[2]:.3f}" if only_f1 else " ".join(f"{figure:.3f}" for figure in best)


def _f1(figures: tuple[float, float, float]) -> float:
    return figures[2]


def _figures(
    gold: list[list[Span]], found: list[list[Span]], agree: Callable[[Span, Span], bool]
) -> tuple[float, float, float]:
    right = sum(_matched(g, f, agree) for g, f in zip(gold, found, strict=True))
    precision = right / max(1, sum(map(len, found)))
    recall = right / max(1, sum(map(len, gold)))
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def _matched(gold: Iterable[Span], found: Iterable[Span], agree: Callable[[Span, Span], bool]) -> int:
    left = list(found)
    matched = 0
    for span in gold:
        match = next((f for f in left if agree(span, f)), None)
        if match is not None:
            left.remove(match)
            matched += 1
    return matched


def _overlaps(a: Span, b: Span) -> bool:
    shared = min(a.end, b.end) - max(a.start, b.start)
    return 2 * shared >= max(a.end - a.start, b.end - b.start)


def _is_equal(a: Span, b: Span) -> bool:
    return (a.start, a.end) == (b.start, b.end)
