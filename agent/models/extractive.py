"""The extractive model: answers with the best-supported sentences of the sources, quoted and tagged.

It speaks the same protocol as any other model, needs no endpoint and invents
nothing. It reads `ChatRequest.facts`, not the prompt, so that no text of a source can
steer it.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import numpy as np

from agent.llm import ChatPiece, ChatRequest, RunFacts
from agent.models.extracts import Extract, Relevance, bare, candidate_sentences, expected_content
from agent.models.wording import Wording, wording
from retrieval.content_terms import content_terms
from retrieval.encoder import Encoder, ModelThread
from retrieval.labels import format_tag
from retrieval.lexical import terms
from retrieval.neutralise import neutralise, neutralise_line
from retrieval.question_form import arithmetic_expression, question_form
from retrieval.symbols.language import SymbolLanguage
from retrieval.types import Passage, Symbol

MAX_SENTENCES = 3
"""Sentences quoted in one answer."""
_ENCODED = 8
"""Candidate sentences that are encoded; bounds the latency of an answer."""
_KEEP_WITHIN = 0.06
"""A further sentence is quoted when its support is within this of the best one's."""
_FRAGMENT_CHARS = (45, 12)
"""Shorter sentences, outside Chinese and in it, are seldom an answer."""
_HEADING_SHARE = 0.75
"""A heading that holds this share of the question's content terms names what was asked for."""
_SECTION_SENTENCES = 6


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
        if not extracts:
            return _not_in_documents(facts, words)
        return "\n\n".join(_sentence(e, words) for e in extracts)

    async def _extracts(self, facts: RunFacts) -> list[Extract]:
        """Return the best sentences of the passages that can support an answer, best first."""
        passages = [p for p in facts.passages if p.confidence != "low" and p.period_match != "mismatch"]
        candidates = [c for passage in passages for c in candidate_sentences(passage)]
        if not candidates:
            return []
        section = _asked_section(facts.question, passages[0])
        if section:
            return section
        titles = [p.chunk.title for p in passages]
        relevance = Relevance(facts.question, [c.text for c in candidates], titles)
        expected = expected_content(facts.question)
        symbols = self._language.read(facts.question, tenant=passages[0].chunk.tenant)
        scored = [(c, _lexical_support(c, relevance, expected, symbols)) for c in candidates]
        scored.sort(key=lambda item: item[1] + 0.2 * item[0].passage.score, reverse=True)
        scored = scored[:_ENCODED]
        cosines = await self._cosines(facts.question, [c.text for c, _ in scored])
        ranked = [
            replace(c, support=lexical + 0.2 * c.passage.score + 0.25 * float(cosine))
            for (c, lexical), cosine in zip(scored, cosines, strict=True)
        ]
        ranked.sort(key=lambda e: e.support, reverse=True)
        return [e for e in ranked[:MAX_SENTENCES] if e.support >= ranked[0].support - _KEEP_WITHIN]

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
    if facts.passages or facts.observations:
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


def _asked_section(question: str, best: Passage) -> list[Extract]:
    """Return the beginning of the best passage, in order, when its own heading is what was asked for."""
    heading = best.chunk.heading_path[-1] if best.chunk.heading_path else ""
    asked = set(content_terms(question))
    if len(asked) < 2 or len(asked & set(terms(heading))) < _HEADING_SHARE * len(asked):
        return []
    return candidate_sentences(best)[:_SECTION_SENTENCES]


def _symbol_share(symbols: Sequence[Symbol], extract: Extract) -> float:
    wanted = {s.token for s in symbols}
    if not wanted:
        return 0.0
    written = extract.text
    present = {s.token for s in extract.passage.chunk.symbols if s.surface in written}
    return len(wanted & present) / len(wanted)


def _lexical_support(
    extract: Extract, relevance: Relevance, expected: re.Pattern[str] | None, symbols: Sequence[Symbol]
) -> float:
    """Return what words, symbols and the kind of answer asked for speak for a sentence, 0 to 1."""
    answers = 0.0 if expected is None else 0.3 * (expected.search(bare(extract.text)) is not None)
    fragment = -0.1 if len(extract.text) < _FRAGMENT_CHARS[extract.passage.chunk.language == "zh"] else 0.0
    return 0.45 * relevance.of(extract.text) + 0.25 * _symbol_share(symbols, extract) + answers + fragment


def _sentence(extract: Extract, words: Wording) -> str:
    chunk = extract.passage.chunk
    where = words.source(neutralise_line(chunk.title), chunk.page_start) if chunk.title else ""
    body = words.quote(extract.text) if extract.cells is None else words.row(extract.cells)
    line = where + body
    # A title may end in what the sentence after it would complete to a tag.
    shown = line if neutralise(line) == line else body
    return f"{shown} {format_tag(extract.passage.label)}"


def _not_in_documents(facts: RunFacts, words: Wording) -> str:
    if not facts.passages:
        return words.not_in_documents
    tags = " ".join(format_tag(p.label) for p in facts.passages[:MAX_SENTENCES])
    return f"{words.not_in_documents}\n{words.nearest} {tags}"
