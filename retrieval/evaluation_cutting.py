"""How the texts of a question set become chunks: at sentence ends under their titles, or as blind windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol
from uuid import NAMESPACE_URL, uuid5

from retrieval.encoder import Encoder
from retrieval.evaluation_data import Dataset, Text
from retrieval.language_id import language_of
from retrieval.ports import Symboliser
from retrieval.sentences import sentence_spans
from retrieval.types import Chunk, Principal

EVALUATOR = Principal(tenant="evaluation", user="evaluation", rights=frozenset({"search"}))
_TEXTS_PER_DOCUMENT = 8
"""Texts that stand one after the other in a document that is cut into windows."""


class DatasetCutter(Protocol):
    """Cuts a dataset into documents. Every chunk has one label: the id of the text that it comes from."""

    def documents(self, dataset: Dataset) -> Iterator[list[Chunk]]:
        """Return the chunks of each document, in order."""
        ...


class SentenceCutter:
    """One document per text, cut at sentence ends into chunks that fit the encoder, each under the text's title.

    A text is found when any of its chunks is.
    """

    def __init__(self, encoder: Encoder, language: Symboliser, *, source_line: bool = True) -> None:
        """Take the parts; without `source_line` the title is not encoded with the chunk."""
        self._encoder, self._language, self._source_line = encoder, language, source_line

    def documents(self, dataset: Dataset) -> Iterator[list[Chunk]]:
        """Return the chunks of each text."""
        for text in dataset.texts:
            document_id = uuid5(NAMESPACE_URL, f"{dataset.name}/{text.text_id}").hex
            title = text.title if self._source_line else ""
            yield [
                _chunk(self._language, document_id, ordinal, text.text, span, title, text.text_id)
                for ordinal, span in enumerate(self._spans(text))
            ]

    def _spans(self, text: Text) -> list[tuple[int, int]]:
        room = self._encoder.info.max_tokens - self._encoder.count_tokens(text.title)
        if self._tokens(text.text) <= room:
            return [(0, len(text.text))]
        spans: list[tuple[int, int]] = []
        used = room
        for start, end in sentence_spans(text.text):
            tokens = self._tokens(text.text[start:end])
            if used + tokens <= room:
                spans[-1] = (spans[-1][0], end)
                used += tokens
            else:
                spans.append((start, end))
                used = tokens
        return spans

    def _tokens(self, text: str) -> int:
        return self._encoder.count_tokens(self._language.symbolise(text, tenant=EVALUATOR.tenant).index_text)


class WindowCutter:
    """Several texts in one document, cut into windows of one size wherever they end: chunking without structure.

    A window belongs to the text that most of its characters come from.
    """

    def __init__(self, encoder: Encoder, language: Symboliser, *, tokens: int = 256) -> None:
        """Take the parts; `tokens` is what a window holds on average over its document."""
        self._encoder, self._language, self._window = encoder, language, tokens

    def documents(self, dataset: Dataset) -> Iterator[list[Chunk]]:
        """Return the windows of every few texts."""
        for first in range(0, len(dataset.texts), _TEXTS_PER_DOCUMENT):
            texts = dataset.texts[first : first + _TEXTS_PER_DOCUMENT]
            document_id = uuid5(NAMESPACE_URL, f"{dataset.name}/windows/{first}").hex
            parts = [f"{text.title}\n{text.text}\n" if text.title else f"{text.text}\n" for text in texts]
            whole = "".join(parts)
            tokens = sum(self._encoder.count_tokens(part) for part in parts)
            step = max(1, round(len(whole) * min(self._window, self._encoder.info.max_tokens) / max(tokens, 1)))
            spans = [(start, min(start + step, len(whole))) for start in range(0, len(whole), step)]
            yield [
                _chunk(self._language, document_id, ordinal, whole, span, "", texts[_mostly_of(parts, span)].text_id)
                for ordinal, span in enumerate(spans)
                if whole[span[0] : span[1]].strip()
            ]


def _mostly_of(parts: Sequence[str], span: tuple[int, int]) -> int:
    """Return which part most of the span lies in."""
    start, shares = 0, list[int]()
    for part in parts:
        end = start + len(part)
        shares.append(min(end, span[1]) - max(start, span[0]))
        start = end
    return max(range(len(parts)), key=lambda row: shares[row])


def _chunk(
    language: Symboliser, document_id: str, ordinal: int, text: str, span: tuple[int, int], title: str, text_id: str
) -> Chunk:
    start, end = span
    body = text[start:end]
    read = language.symbolise(body, tenant=EVALUATOR.tenant)
    return Chunk(
        chunk_id=str(uuid5(NAMESPACE_URL, f"{document_id}/{ordinal}")),
        tenant=EVALUATOR.tenant,
        document_id=document_id,
        ordinal=ordinal,
        text=body,
        index_text=f"{title}\n{read.index_text}" if title else read.index_text,
        heading_path=(title,) if title else (),
        start_char=start,
        end_char=end,
        language=language_of(body),
        symbols=tuple(read.symbols),
        title=title,
        labels=frozenset({text_id}),
    )
