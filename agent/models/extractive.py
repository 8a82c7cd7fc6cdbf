"""The extractive model: answers with the best-supported sentences of the sources, quoted and tagged.

It speaks the same protocol as any other model, needs no endpoint and invents
nothing. It reads `ChatRequest.facts`, not the prompt, so that no text of a source can
steer it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import numpy as np

from agent.llm import ChatPiece, ChatRequest, RunFacts
from agent.models.wording import Wording, wording
from retrieval.encoder import Encoder, ModelThread
from retrieval.labels import format_tag
from retrieval.lexical import terms
from retrieval.passages import neutralise
from retrieval.question_form import arithmetic_expression, question_form
from retrieval.sentences import sentence_spans
from retrieval.symbols.language import SymbolLanguage
from retrieval.types import Passage, Symbol

MAX_SENTENCES = 3
"""Sentences quoted in one answer."""
_ENCODED = 16
"""Candidate sentences that are encoded; bounds the latency of an answer."""
_KEEP_RATIO = 0.88
"""A further sentence is quoted when it scores at least this share of the best one."""


@dataclass(frozen=True, slots=True)
class Extract:
    """One sentence, or one table row with its header, of a passage."""

    passage: Passage
    text: str
    quoted: bool
    """True when `text` stands verbatim in the passage; a table row is spelled out instead."""
    support: float


class ExtractiveModel:
    """Chat model of the embedded profile."""

    def __init__(self, encoder: Encoder, thread: ModelThread, language: SymbolLanguage) -> None:
        self._encoder = encoder
        self._thread = thread
        self._language = language

    @property
    def name(self) -> str:
        """Always `extractive`."""
        return "extractive"

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Search once where the run has no passages yet, then answer from them."""
        facts = request.facts
        words = wording(facts.language)
        if request.purpose == "finish":
            yield ChatPiece(await self._answer(facts, words))
        elif facts.tier != "none" and not facts.searched and "search_knowledge" in facts.tools:
            yield ChatPiece(f"Thought: {words.searching}\n")
            yield ChatPiece(_search_call(facts))
        elif (expression := _expression(facts)) is not None:
            yield ChatPiece(f"Thought: {words.calculating}\n")
            yield ChatPiece(_call("calculate", {"expression": expression}))
        else:
            yield ChatPiece(f"Thought: {_thought(facts, words)}\n")
            yield ChatPiece("<final_answer>")
            yield ChatPiece(await self._answer(facts, words))
            yield ChatPiece("</final_answer>")
        yield ChatPiece(prompt_tokens=0, completion_tokens=0)

    async def _answer(self, facts: RunFacts, words: Wording) -> str:
        calculated = [text for tool, text in facts.observations if tool == "calculate"]
        if calculated and not facts.passages:
            return calculated[-1]
        if facts.tier == "none" and not facts.passages:
            return words.only_from_documents
        extracts = await self._extracts(facts)
        supported = [e for e in extracts if _supports(e)]
        if not supported:
            return _not_in_documents(facts, words)
        return "\n\n".join(_sentence(e, words) for e in supported)

    async def _extracts(self, facts: RunFacts) -> list[Extract]:
        """Return the best sentences of the run's passages, best first."""
        candidates = [c for passage in facts.passages for c in _candidates(passage)]
        if not candidates:
            return []
        asked = set(terms(facts.question))
        symbols = self._language.read(facts.question, tenant=facts.passages[0].chunk.tenant)
        scored = [(c, _overlap(asked, c.text), _symbol_share(symbols, c)) for c in candidates]
        scored.sort(key=lambda item: item[1] + item[2] + 0.5 * item[0].passage.score, reverse=True)
        scored = scored[:_ENCODED]
        cosines = await self._cosines(facts.question, [c.text for c, _, _ in scored])
        ranked = [
            Extract(c.passage, c.text, c.quoted, _support(c.passage, overlap, share, float(cosine)))
            for (c, overlap, share), cosine in zip(scored, cosines, strict=True)
        ]
        ranked.sort(key=lambda e: e.support, reverse=True)
        best = ranked[0].support
        chosen: list[Extract] = []
        for extract in ranked:
            if extract.support < _KEEP_RATIO * best or len(chosen) == MAX_SENTENCES:
                break
            if all(extract.text != other.text for other in chosen):
                chosen.append(extract)
        return chosen

    async def _cosines(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """Return the cosine of each text with the question, spread to [0, 1] among these texts."""
        if not self._encoder.info.dense_searchable:
            return np.zeros(len(texts), dtype=np.float32)
        query = (await self._thread.run(self._encoder.encode_query, question)).dense[0]
        rows = (await self._thread.run(self._encoder.encode_documents, texts)).dense
        cosines = rows @ query
        # Bi-encoders put all cosines of one question in a narrow band: only their order
        # within it says which sentence fits best.
        low, high = float(cosines.min()), float(cosines.max())
        return (cosines - low) / (high - low) if high - low > 1e-6 else np.ones_like(cosines)


def _thought(facts: RunFacts, words: Wording) -> str:
    if facts.passages:
        return words.answering
    return words.beside if facts.tier == "none" else words.nothing_found


def _expression(facts: RunFacts) -> str | None:
    """Return the sum that an arithmetic question asks for, while it is not done yet."""
    if facts.observations or "calculate" not in facts.tools or question_form(facts.question) != "arithmetic":
        return None
    return arithmetic_expression(facts.question)


def _call(tool: str, arguments: dict[str, object]) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return f"<tool_name>{tool}</tool_name><arguments>{text}</arguments>"


def _search_call(facts: RunFacts) -> str:
    arguments: dict[str, object] = {"query": facts.question}
    if facts.tier == "weak" and facts.candidate_documents:
        arguments["document_ids"] = list(facts.candidate_documents)
    return _call("search_knowledge", arguments)


def _candidates(passage: Passage) -> list[Extract]:
    text = passage.chunk.text
    header: list[str] | None = None
    found: list[Extract] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end].strip()
        # A sentence that carries markup of ours would be inert only in changed form, and
        # then it would be no quotation any more.
        if not sentence or neutralise(sentence) != sentence:
            continue
        cells = _cells(sentence)
        if cells is None:
            header = None
            found.append(Extract(passage, sentence, True, 0.0))
        elif all(set(cell) <= set("-: ") for cell in cells):
            continue
        elif header is None:
            header = cells
        else:
            spelled = "; ".join(f"{h}: {c}" if h else c for h, c in zip(header, cells, strict=False) if c)
            found.append(Extract(passage, spelled, False, 0.0))
    return found


def _cells(line: str) -> list[str] | None:
    if not (line.startswith("|") and line.endswith("|") and line.count("|") > 2):
        return None
    return [cell.strip() for cell in line.strip("|").split("|")]


def _overlap(asked: set[str], text: str) -> float:
    return len(asked & set(terms(text))) / len(asked) if asked else 0.0


def _symbol_share(symbols: Sequence[Symbol], extract: Extract) -> float:
    wanted = {s.token for s in symbols}
    if not wanted:
        return 0.0
    written = extract.text
    present = {s.token for s in extract.passage.chunk.symbols if s.surface in written}
    return len(wanted & present) / len(wanted)


def _support(passage: Passage, overlap: float, symbol_share: float, cosine: float) -> float:
    return 0.35 * overlap + 0.25 * symbol_share + 0.2 * cosine + 0.2 * passage.score


def _supports(extract: Extract) -> bool:
    return extract.passage.confidence != "low" and extract.passage.period_match != "mismatch"


def _sentence(extract: Extract, words: Wording) -> str:
    chunk = extract.passage.chunk
    where = words.source(neutralise(chunk.title), chunk.page_start)
    body = words.quote(extract.text) if extract.quoted else extract.text
    return f"{where}{body} {format_tag(extract.passage.label)}"


def _not_in_documents(facts: RunFacts, words: Wording) -> str:
    if not facts.passages:
        return words.not_in_documents
    nearest: list[str] = []
    for passage in facts.passages[:MAX_SENTENCES]:
        place = words.place(neutralise(passage.chunk.title), passage.chunk.page_start)
        nearest.append(f"- {place} {format_tag(passage.label)}")
    return "\n".join([words.not_in_documents, words.nearest, *nearest])
