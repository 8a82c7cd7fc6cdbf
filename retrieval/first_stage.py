"""The first stage of search: symbolise → encode → dense, foreign, sparse, translated and symbol channels → fuse."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from retrieval.dictionary import cc_cedict
from retrieval.encoder import Encoder, ModelThread
from retrieval.foreign import has_own_cosines, other_language
from retrieval.fusion import fuse, ranked_by_symbols, without_cut_tie
from retrieval.ports import FormerPseudonyms, Symboliser
from retrieval.profiles import channel_weights
from retrieval.settings import SearchSettings
from retrieval.stopwatch import Stopwatch
from retrieval.store import VectorStore
from retrieval.translating import Translator, query_vector
from retrieval.types import Candidate, Channel, Encoding, Language, Scope, ScoredChunk, Symbol


@dataclass(frozen=True, slots=True)
class FirstStage:
    """The fused candidates of a question before reranking, best first, within one scope."""

    scope: Scope
    index_text: str
    symbols: tuple[Symbol, ...]
    candidates: tuple[Candidate, ...]
    latencies_ms: dict[str, float]


class CandidateFinder:
    """Finds the candidates of a question within one scope."""

    def __init__(
        self,
        encoder: Encoder,
        model_thread: ModelThread,
        store: VectorStore,
        language: Symboliser,
        settings: SearchSettings,
        former: FormerPseudonyms | None = None,
        translator: Translator | None = None,
    ) -> None:
        self._translator = translator or Translator(cc_cedict())
        self._encoder, self._model_thread = encoder, model_thread
        self._store, self._language, self._settings, self._former = store, language, settings, former
        self._weights = channel_weights(settings, encoder.info.name)

    async def find(self, question: str, scope: Scope, *, base_date: date | None = None) -> FirstStage:
        """Symbolise and encode a question and fuse what the channels find; nothing is reranked.

        Raises:
            StoreUnavailableError: the store gave no answer.
        """
        watch = Stopwatch()
        with watch.stage("symbolise"):
            read = self._language.symbolise(question, tenant=scope.tenant, base_date=base_date)
        with watch.stage("encode"):
            encoding = await self._model_thread.run(self._encoder.encode_query, read.index_text)
        tokens = frozenset(symbol.token for symbol in read.symbols)
        if self._former is not None and any(symbol.cls == "secret" for symbol in read.symbols):
            tokens |= await self._former.of(scope.tenant, tokens)
        k = self._settings.candidates_k
        try:
            async with asyncio.TaskGroup() as group:
                dense = group.create_task(watch.timed("dense", self._store.dense(encoding.dense[0], scope, k)))
                sparse = group.create_task(watch.timed("sparse", self._store.sparse(encoding.sparse[0], scope, k)))
                symbol = group.create_task(watch.timed("symbol", self._store.symbols(tokens, scope, k)))
                foreign = group.create_task(self._foreign(read.index_text, encoding, scope, watch))
                translated = group.create_task(self._translated(read.index_text, scope, watch))
        except BaseExceptionGroup as failed:  # callers know the store's errors, not groups of them
            raise failed.exceptions[0] from failed
        with watch.stage("fuse"):
            candidates = self._fuse(
                tokens,
                {
                    "dense": dense.result(),
                    "foreign": foreign.result(),
                    "sparse": sparse.result(),
                    "translated": translated.result(),
                },
                symbol.result(),
            )
        return FirstStage(scope, read.index_text, tuple(read.symbols), tuple(candidates), watch.stages_ms())

    async def _foreign(
        self, question: str, encoding: Encoding, scope: Scope, watch: Stopwatch
    ) -> Sequence[ScoredChunk]:
        """Return dense hits in the other language than the question's, where the encoder needs them apart."""
        other = self._other(question, scope)
        if other is None or not has_own_cosines(self._encoder.info.name):
            return ()
        k = self._settings.candidates_k
        return await watch.timed("foreign", self._store.dense(encoding.dense[0], _only(scope, other), k))

    async def _translated(self, question: str, scope: Scope, watch: Stopwatch) -> Sequence[ScoredChunk]:
        """Return passages of the other language that hold the question's words in it."""
        other = self._other(question, scope)
        if other is None:
            return ()
        # In a thread: the first question of a process reads the dictionary.
        words = await watch.timed("translate", asyncio.to_thread(self._translator.translate, question, other))
        if not words:
            return ()
        asked = self._store.sparse(query_vector(words), _only(scope, other), self._settings.candidates_k)
        return await watch.timed("translated", asked)

    def _other(self, question: str, scope: Scope) -> Language | None:
        if scope.filter.language is not None:
            return None
        return other_language(question, self._encoder.info.name)

    def _fuse(
        self,
        tokens: frozenset[str],
        hits: Mapping[Channel, Sequence[ScoredChunk]],
        symbol: Sequence[ScoredChunk],
    ) -> list[Candidate]:
        """Fuse the channels; every chunk that any channel found is ranked by its symbols too.

        Their rarity is counted over what was found: the store knows no other statistics of symbols, and asking
        for them would cost a round trip.
        """
        symbol = without_cut_tie(symbol, self._settings.candidates_k)
        abroad = {hit.chunk.chunk_id for hit in hits["foreign"]}
        channels: dict[Channel, Sequence[ScoredChunk]] = {
            **hits,
            "dense": [hit for hit in hits["dense"] if hit.chunk.chunk_id not in abroad],
        }
        found = {hit.chunk.chunk_id: hit.chunk for one in (*channels.values(), symbol) for hit in one}
        channels["symbol"] = ranked_by_symbols(found.values(), tokens, symbol, tuple(channels.values()))
        return fuse(channels, self._weights, self._settings.rrf_k)


def _only(scope: Scope, language: Language) -> Scope:
    """Narrow a scope to one language."""
    return scope.model_copy(update={"filter": scope.filter.model_copy(update={"language": language})})
