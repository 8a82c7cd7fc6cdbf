"""Builds statements about figures, true and false by construction, to measure the auditor on.

Nothing of the symbol language is used here: values, scales and signs are written by this
program's own rules, so that a mistake of one is not repeated by the other. English ones are
made from tables of financial reports (JSON lines as TAT-QA publishes them), Chinese ones
from tables and sentences with seeded random values.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from agent.audit.figure_set_zh import chinese_statements
from agent.audit.figure_writing import FigureStatement, change_digit, grouped

_YEAR = re.compile(r"(?:19|20)\d\d")
_CELL = re.compile(r"\(?\s*\$?\s*(-?\d[\d,]*(?:\.\d+)?)\s*\)?\s*(%?)")
_ASKED = re.compile(r"What (?:is|was|were|are) the (.{8,160}?)\?")
_DERIVED = re.compile(
    r"\b(?:change|average|ratio|percentage|proportion|difference|sum|increase|decrease)\b", re.IGNORECASE
)
_PERCENT = re.compile(r"\b(?:percent\w*|proportion|ratio)\b", re.IGNORECASE)
_OTHER_CURRENCY = re.compile(r"RMB|\b(?:S|A|C|HK|NT|CA|R)\$|[¥₹]|\bRs\b|Canadian dollars|yen\b|\b(?:SEK|NOK|DKK|CHF)\b")
_NO_MONEY = re.compile(r"\bnumber\s+of\b|\bshares\b|\bunits\b|\bemployees\b|\bheadcount\b", re.IGNORECASE)
_SCALES = {"thousand": Decimal(1000), "million": Decimal(10**6), "billion": Decimal(10**9)}
_FACTS_PER_TABLE = 3


@dataclass(frozen=True, slots=True)
class _Fact:
    """One cell: what it is of, when, and its value in the table's scale."""

    subject: str
    period: str
    value: Decimal
    row: int


@dataclass(frozen=True, slots=True)
class _Money:
    """How a table's amounts are written."""

    sign: str
    scale: str

    def write(self, value: Decimal, scale: str = "") -> str:
        minus = "-" if value < 0 else ""
        return f"{minus}{self.sign}{grouped(abs(value))} {scale or self.scale}"


def english_statements(folder: Path, seed: int = 7) -> Iterator[FigureStatement]:
    """Yield statements made from the tables and questions in `folder`.

    Raises:
        OSError: the folder has no `dev_contexts.jsonl` or `dev_questions.jsonl`.
    """
    randoms = random.Random(seed)
    questions = [json.loads(line) for line in (folder / "dev_questions.jsonl").read_text("utf-8").splitlines()]
    by_context: dict[str, list[dict[str, object]]] = {}
    for question in questions:
        by_context.setdefault(str(question["context_id"]), []).append(question)
    for line in (folder / "dev_contexts.jsonl").read_text("utf-8").splitlines():
        context = json.loads(line)
        asked = by_context.get(context["id"], [])
        scale = _scale_of(asked)
        if scale is None:
            continue
        text = _render(context, scale)
        sign = _sign_of(context)
        if sign is None:
            continue
        money = _Money(sign, scale)
        yield from _of_facts(text, _facts(context["table"]), money, randoms)
        yield from _of_questions(text, asked, money, randoms)


def all_statements(folder: Path) -> list[FigureStatement]:
    """Return the whole set: English and Chinese, true and false."""
    return [*english_statements(folder), *chinese_statements()]


def _scale_of(questions: list[dict[str, object]]) -> str | None:
    """The one scale that all questions of a table give for their amounts; None where they give none or two."""
    scales = {str(q["scale"]) for q in questions} - {"", "percent"}
    return scales.pop() if len(scales) == 1 and scales <= set(_SCALES) else None


def _sign_of(context: dict[str, object]) -> str | None:
    """The currency that a context names, dollars where it names none; None for tables of others or of no money."""
    table: list[list[str]] = context["table"]  # type: ignore[assignment]
    paragraphs: list[dict[str, str]] = context["paragraphs"]  # type: ignore[assignment]
    head = " ".join(cell for row in table[:4] for cell in row)
    if _OTHER_CURRENCY.search(" ".join([head, *(p["text"] for p in paragraphs)])) or _NO_MONEY.search(head):
        return None
    cells = " ".join(cell for row in table for cell in row)
    return "£" if "£" in cells else "€" if "€" in cells else "$"


def _render(context: dict[str, object], scale: str) -> str:
    table: list[list[str]] = context["table"]  # type: ignore[assignment]
    paragraphs: list[dict[str, str]] = context["paragraphs"]  # type: ignore[assignment]
    lines = [p["text"] for p in paragraphs] + ["", f"(in {scale}s)", ""]
    lines += ["| " + " | ".join(" ".join(cell.split()).replace("|", "/") for cell in row) + " |" for row in table]
    return "\n".join(lines)


def _facts(table: list[list[str]]) -> list[_Fact]:
    """Cells below a year and beside a name that no other row has; empty for a table of another form."""
    header = next(
        (n for n, row in enumerate(table[:4]) if sum(bool(_YEAR.fullmatch(c.strip())) for c in row[1:]) >= 2), None
    )
    if header is None:
        return []
    years = [cell.strip() for cell in table[header]]
    if len({y for y in years if y}) != sum(bool(y) for y in years):
        return []
    names = [row[0].strip().casefold() for row in table]
    found: list[_Fact] = []
    for number, row in enumerate(table[header + 1 :], start=header + 1):
        name = re.sub(r"\s*\(\d\)", "", row[0]).strip(" :.")
        if not 6 <= len(name) <= 70 or re.search(r"\d|percent|%|per share|rate|\bunits\b", name, re.IGNORECASE):
            continue
        if names.count(row[0].strip().casefold()) > 1:
            continue
        for column, cell in enumerate(row[1:], start=1):
            match = _CELL.fullmatch(cell.strip())
            if match and not match.group(2) and column < len(years) and _YEAR.fullmatch(years[column]):
                value = Decimal(match.group(1).replace(",", ""))
                if abs(value) >= 20:
                    negative = cell.strip().startswith("(") or "(" in cell
                    found.append(_Fact(name, years[column], -value if negative else value, number))
    return found


def _of_facts(text: str, facts: list[_Fact], money: _Money, randoms: random.Random) -> Iterator[FigureStatement]:
    picked = randoms.sample(facts, min(_FACTS_PER_TABLE, len(facts)))
    for fact in picked:
        if fact.value <= 0:
            continue
        said = _say(fact, money.write(fact.value), randoms)
        question = f"What was {fact.subject} in {fact.period}?"
        yield FigureStatement(text, question, said, True, "stated", "en")
        other_scale = {"thousand": "million", "million": "billion", "billion": "million"}[money.scale]
        up = {"thousand": "million", "million": "billion"}.get(money.scale)
        if up is not None and fact.value >= 100:
            exact = fact.value / 1000
            yield FigureStatement(text, question, _say(fact, money.write(exact, up), randoms), True, "rescaled", "en")
            rounded = (
                exact.quantize(Decimal("0.1"), ROUND_HALF_UP)
                if exact >= 1
                else exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
            )
            if rounded:
                yield FigureStatement(
                    text, question, _say(fact, money.write(rounded, up), randoms), True, "rounded", "en"
                )
                step = Decimal("0.1") if exact >= 1 else Decimal("0.01")
                wrong = rounded + (step if rounded >= exact else -step)
                if (
                    str(wrong)[-1] != "0"
                    and abs(wrong - exact) > step * Decimal("0.75")
                    and not _stands(wrong * 1000, facts)
                ):
                    yield FigureStatement(
                        text, question, _say(fact, money.write(wrong, up), randoms), False, "rounding", "en"
                    )
        changed = change_digit(fact.value, randoms)
        if not _stands(changed, facts):
            yield FigureStatement(text, question, _say(fact, money.write(changed), randoms), False, "digit", "en")
        yield FigureStatement(
            text, question, _say(fact, money.write(fact.value, other_scale), randoms), False, "scale", "en"
        )
        yield FigureStatement(text, question, _say(fact, f"{grouped(fact.value)}%", randoms), False, "unit", "en")
        same_row = [f for f in facts if f.row == fact.row and f.value != fact.value and f.value > 0]
        own = {f.value for f in facts if f.row == fact.row}
        if same_row:
            other = randoms.choice(same_row)
            yield FigureStatement(text, question, _say(fact, money.write(other.value), randoms), False, "period", "en")
        same_column = [
            f for f in facts if f.period == fact.period and f.row != fact.row and f.value > 0 and f.value not in own
        ]
        if same_column:
            other = randoms.choice(same_column)
            yield FigureStatement(text, question, _say(fact, money.write(other.value), randoms), False, "subject", "en")
        yield from _computed(text, fact, facts, money, randoms)


def _computed(
    text: str, fact: _Fact, facts: list[_Fact], money: _Money, randoms: random.Random
) -> Iterator[FigureStatement]:
    before = next(
        (f for f in facts if f.row == fact.row and f.period == str(int(fact.period) - 1) and f.value > 0), None
    )
    if before is None or before.value == fact.value:
        return
    question = f"How did {fact.subject} change?"
    up = fact.value > before.value
    gap = abs(fact.value - before.value)
    growth = (gap / before.value * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
    verb, wrong_verb = ("increased", "decreased") if up else ("decreased", "increased")
    span = f"from {before.period} to {fact.period}"
    if growth >= 1:
        said = f"{fact.subject} {{verb}} by {{value}}% {span}."
        yield FigureStatement(text, question, said.format(verb=verb, value=growth), True, "growth", "en")
        yield FigureStatement(text, question, said.format(verb=wrong_verb, value=growth), False, "sign", "en")
        wrong = (gap / fact.value * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
        if abs(wrong - growth) > Decimal("0.3"):
            yield FigureStatement(text, question, said.format(verb=verb, value=wrong), False, "recomputed", "en")
    said = f"{fact.subject} {{verb}} by {{value}} {span}."
    yield FigureStatement(text, question, said.format(verb=verb, value=money.write(gap)), True, "difference", "en")
    changed = change_digit(gap, randoms)
    if not _stands(changed, facts):
        yield FigureStatement(
            text, question, said.format(verb=verb, value=money.write(changed)), False, "recomputed", "en"
        )


def _of_questions(
    text: str, asked: list[dict[str, object]], money: _Money, randoms: random.Random
) -> Iterator[FigureStatement]:
    """Arithmetic questions with their published answers, turned into statements."""
    for question in asked:
        match = _ASKED.fullmatch(str(question["question"]).strip())
        if question["answer_type"] != "arithmetic" or match is None or not isinstance(question["answer"], int | float):
            continue
        value = Decimal(str(question["answer"]))
        unit = str(question["scale"])
        if abs(value) < 1 or not _DERIVED.search(match.group(1)):
            continue
        if (unit == "percent") != bool(_PERCENT.search(match.group(1))) or unit not in ("percent", money.scale):
            continue
        said = f"The {match.group(1)} was {{}}."
        right = f"{grouped(value)}%" if unit == "percent" else money.write(value)
        yield FigureStatement(text, str(question["question"]), said.format(right), True, "worked_out", "en")
        changed = change_digit(abs(value), randoms)
        changed = -changed if value < 0 else changed
        wrong = f"{grouped(changed)}%" if unit == "percent" else money.write(changed)
        yield FigureStatement(text, str(question["question"]), said.format(wrong), False, "worked_out_wrongly", "en")


def _say(fact: _Fact, value: str, randoms: random.Random) -> str:
    form = randoms.choice((
        "{subject} was {value} in {period}.",
        "In {period}, {subject} amounted to {value}.",
        "{subject} for {period} came to {value}.",
        "The company reported {subject} of {value} in {period}.",
    ))
    return form.format(subject=fact.subject, value=value, period=fact.period)


def _stands(value: Decimal, facts: list[_Fact]) -> bool:
    return any(abs(f.value) == abs(value) for f in facts)
