"""Word statistics that we keep beside the engine are the engine's own, whatever was changed and when it was learned."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoder import EncoderInfo
from retrieval.lexical import document_weights, query_weights
from retrieval.stores.conditions import document_conditions, scope_conditions
from retrieval.stores.embedded import wire
from retrieval.stores.embedded.engine import SPARSE, Engine
from retrieval.types import Chunk, EncodedChunk, Principal, Scope

ENCODER = EncoderInfo(name="hash", revision="1", dim=2, max_tokens=512, sparse="bm25")
ASKERS = [
    Scope.of(Principal(tenant="acme", user="ann")),
    Scope.of(Principal(tenant="acme", user="eve", groups=frozenset({"board"}))),
    Scope.of(Principal(tenant="other", user="ann")),
]
WORDS = [f"word{n}" for n in range(12)]


def point(number: int, chance: random.Random, state: Any) -> tuple[Any, ...]:
    text = " ".join(chance.choices(WORDS, k=6))
    chunk = Chunk(
        chunk_id=f"{number * 7919 % 256:02x}000000-0000-4000-8000-{number:012d}",
        tenant="other" if number % 5 == 0 else "acme",
        document_id=f"d{number % 7}",
        ordinal=number,
        text=text,
        index_text=text,
        start_char=0,
        end_char=len(text),
        access=frozenset(chance.choice([["everyone"], ["group:board"], ["user:ann", "user:eve"], []])),
    )
    return wire.point(EncodedChunk(chunk, np.ones(2, dtype=np.float32), document_weights(text)), state, ENCODER)


def scores(engine: Engine, scope: Scope) -> dict[str, float]:
    conditions = wire.conditions(scope_conditions(scope) or ())
    search = (SPARSE, wire.terms(query_weights(" ".join(WORDS))), conditions, 100, wire.readers(scope))
    ((found,), _) = engine.search([search])
    return dict(found)


@pytest.mark.parametrize("learned_after", [0, 8, 20])
def test_scores_with_our_statistics_are_those_with_the_engines(folder: Path, learned_after: int) -> None:
    chance = random.Random(learned_after)
    schema = wire.schema(ENCODER, 128)
    ours = Engine()
    ours.open(str(folder / "shard"), schema)
    for step in range(24):
        if step == learned_after:
            ours.learn(9)  # a part: what changes now is partly known
        match step % 4:
            case 0 | 1:
                numbers = chance.sample(range(40), 8)
                ours.upsert([point(n, chance, chance.choice(["staged", "published"])) for n in numbers])
            case 2:
                ours.publish(wire.conditions(document_conditions("acme", f"d{chance.randrange(7)}")))
            case _:
                ids = ours.ids([])
                ours.delete(chance.sample(ids, len(ids) // 4))
    while not ours.learn(9):
        pass
    known = [scores(ours, asker) for asker in ASKERS]
    ours.close()
    engines = Engine()
    engines.open(str(folder / "shard"), schema)
    assert all(known[:2]), "both see something"
    for asker, found in zip(ASKERS, known, strict=True):
        assert found == pytest.approx(scores(engines, asker), rel=1e-5)
    engines.close()
