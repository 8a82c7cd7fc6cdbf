"""Measures the trigger: which tier it gives to questions whose tier is known.

Five sets over one index: questions the index answers (`answerable`), questions in general words with a local
answer (`general`), small talk and sums (`smalltalk`), questions about the world (`world`), and the out-of-scope
questions of CLINC150 (`out_of_scope`). A set of none of these names is measured as well.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from retrieval.errors import EvaluationDataError
from retrieval.trigger import TriggerDecision
from retrieval.types import Principal, Tier, Value

TIERS: tuple[Tier, ...] = ("strong", "weak", "none")
OUT_OF_SCOPE = "oos"
"""CLINC150's intent for what no intent covers."""
_CLINC_FILES = ("train_small.jsonl", "val.jsonl")

Progress = Callable[[int, int], None]


class TriggerQuestion(Value):
    """A question with the tiers that are right for it."""

    id: str
    text: str
    language: str = ""
    kind: str = ""
    form: str = ""
    wanted: frozenset[Tier]
    source: str | None = None
    """Name of the file that answers it."""


class TriggerSet(Value):
    """Questions that are measured together."""

    name: str
    questions: tuple[TriggerQuestion, ...]


class Missed(Value):
    """A question that got a tier that is not right for it."""

    set: str
    id: str
    question: str
    tier: Tier
    reasons: tuple[str, ...]


class TriggerReport(Value):
    """What an evaluation of the trigger measured."""

    encoder: str
    questions: int
    confusion: dict[str, dict[Tier, int]]
    """By set, how many questions got each tier."""
    metrics: dict[str, float]
    """`SET.reached` (strong or weak), `SET.strong`, `SET.none`, `general.prefilter`: the document that answers
    is among those named, of the general questions that reached weak or strong; `decision.p50` and `decision.p95`:
    milliseconds of a decision without the first stage that it looks at."""
    missed: tuple[Missed, ...]


class Decides(Protocol):
    """What is measured."""

    async def decide(self, question: str, principal: Principal) -> TriggerDecision:
        """Decide the tier of a question."""
        ...


def read_questions(path: Path, name: str) -> TriggerSet:
    """Read a set of questions, one JSON object a line.

    Raises:
        EvaluationDataError: the file is not there, or a line is no question.
    """
    reader = TypeAdapter(TriggerQuestion)
    found: list[TriggerQuestion] = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            found.append(reader.validate_json(line))
        except ValidationError as exc:
            raise EvaluationDataError(f"{path}, line {number}: not a question with its tiers") from exc
    return TriggerSet(name=name, questions=tuple(found))


def read_out_of_scope(folder: Path) -> TriggerSet:
    """Read the questions of CLINC150 that are in no intent's scope; both files, none of them is trained on.

    Raises:
        EvaluationDataError: a file is not there, or does not read.
    """
    found: list[TriggerQuestion] = []
    for name in _CLINC_FILES:
        for number, line in enumerate(_lines(folder / name), start=1):
            try:
                record = json.loads(line)
                if record["intent"] == OUT_OF_SCOPE:
                    found.append(
                        TriggerQuestion(
                            id=f"{name}:{number}",
                            text=record["text"],
                            language="en",
                            kind="out_of_scope",
                            wanted=frozenset({"none"}),
                        )
                    )
            except (ValueError, KeyError, TypeError) as exc:
                raise EvaluationDataError(f"{folder / name}, line {number}: not a record of CLINC150") from exc
    return TriggerSet(name="out_of_scope", questions=tuple(found))


def answerable(asked: Sequence[tuple[str, str]], every: int = 1) -> TriggerSet:
    """Return every n-th of the (id, text) questions that the index answers, by their ids' order."""
    wanted = frozenset[Tier]({"strong", "weak"})
    return TriggerSet(
        name="answerable",
        questions=tuple(TriggerQuestion(id=i, text=t, kind="answerable", wanted=wanted) for i, t in sorted(asked))[
            ::every
        ],
    )


async def evaluate_trigger(
    sets: Sequence[TriggerSet],
    trigger: Decides,
    principal: Principal,
    *,
    encoder: str,
    document_of: Callable[[str], str] = str,
    progress: Progress | None = None,
) -> TriggerReport:
    """Ask every question, and report.

    Args:
        sets: the questions.
        trigger: decides.
        principal: who asks.
        encoder: for the report.
        document_of: the file name of a document id.
        progress: told how many questions are done, and of how many.
    """
    total = sum(len(each.questions) for each in sets)
    confusion: dict[str, dict[Tier, int]] = {}
    metrics: dict[str, float] = {}
    missed: list[Missed] = []
    times: list[float] = []
    named, placed, done = 0, 0, 0
    for each in sets:
        tiers: Counter[Tier] = Counter()
        for question in each.questions:
            began = time.perf_counter()
            decision = await trigger.decide(question.text, principal)
            spent = (time.perf_counter() - began) * 1000
            if decision.first_stage is not None:
                spent -= decision.first_stage.latencies_ms.get("total", 0.0)
            times.append(max(spent, 0.0))
            tiers[decision.tier] += 1
            if decision.tier not in question.wanted:
                missed.append(
                    Missed(
                        set=each.name,
                        id=question.id,
                        question=question.text,
                        tier=decision.tier,
                        reasons=decision.reasons,
                    )
                )
            if question.source is not None and decision.tier != "none":
                placed += 1
                named += question.source in {document_of(d) for d in decision.candidate_documents}
            done += 1
            if progress is not None:
                progress(done, total)
        confusion[each.name] = {tier: tiers[tier] for tier in TIERS}
        metrics |= _shares(each.name, tiers, len(each.questions))
    if placed:
        metrics["general.prefilter"] = named / placed
    metrics |= _percentiles(times)
    return TriggerReport(encoder=encoder, questions=total, confusion=confusion, metrics=metrics, missed=tuple(missed))


def _shares(name: str, tiers: Counter[Tier], total: int) -> dict[str, float]:
    size = max(total, 1)
    return {
        f"{name}.reached": (tiers["strong"] + tiers["weak"]) / size,
        f"{name}.strong": tiers["strong"] / size,
        f"{name}.none": tiers["none"] / size,
    }


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    if not times:
        return {}
    ordered = sorted(times)
    return {
        "decision.p50": ordered[len(ordered) // 2],
        "decision.p95": ordered[int(len(ordered) * 0.95)],
    }


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as exc:
        raise EvaluationDataError(f"{path} cannot be read ({exc.strerror})") from exc
