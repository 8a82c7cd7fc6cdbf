from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from retrieval.encoders.lexical import LexicalEncoder
from retrieval.evaluation_data import Dataset, Question, Text
from retrieval.evaluation_symbols import NoSymbols, evaluate_effect
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.symbols.language import load_language

AMOUNTS = ("1.2", "9.7", "31.4", "238", "510")
DATASET = Dataset(
    name="amounts",
    texts=tuple(
        Text(text_id=amount, text=f"A valuation allowance of ${amount} million was recorded in the year.")
        for amount in AMOUNTS
    ),
    questions=tuple(
        Question(
            question_id=f"en-{amount}",
            text=f"Which allowance of {float(amount) * 1e6:,.0f} US dollars was recorded?",
            text_id=amount,
        )
        for amount in AMOUNTS
    ),
)


@asynccontextmanager
async def memory_store() -> AsyncGenerator[VectorStore, None]:
    store = InMemoryVectorStore()
    yield store
    await store.close()


async def test_another_writing_of_an_amount_is_found_only_with_symbols() -> None:
    report = await evaluate_effect(
        DATASET,
        encoder=LexicalEncoder(),
        reranker=FeatureReranker.beside("lexical"),
        new_store=memory_store,
        language=load_language(b"0123456789abcdef"),
        settings=SearchSettings(),
    )
    assert report.with_symbols == 1.0
    assert report.without_symbols < 1.0
    assert report.lost == ()
    assert len(report.won) == round((1 - report.without_symbols) * len(AMOUNTS))
    assert report.groups == {"en": (5, report.with_symbols, report.without_symbols)}


def test_without_symbols_a_text_stays_as_it_is() -> None:
    read = NoSymbols().symbolise("RMB 238 million, 13812345678", tenant="t")
    assert (read.text, read.index_text, tuple(read.symbols)) == (read.text, read.text, ())
