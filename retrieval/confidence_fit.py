"""Fits the score below which passages are of low confidence, on question sets with known sources.

Run by hand when a reranker's weights change: `python -m retrieval.confidence_fit [--vectors FILE.npz] FOLDER...`
prints the value for `confidence.py`. With `--vectors` the encoder's vectors are kept in a file, so that a second run
takes a minute. One half of the texts (`rerankers.fit.held_out`) gives the value that is measured on the other, both
ways; the value printed last is that of all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from retrieval.encoder import Encoder
from retrieval.encoders.select import load_encoder
from retrieval.evaluation_absent import Asked, ask_twice
from retrieval.evaluation_data import read_dataset
from retrieval.kept_vectors import KeptVectors
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.fit import held_out
from retrieval.settings import EncoderSettings, SearchSettings, StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language

EncoderName = Literal["embedded", "lexical"]

FALSE_ALARMS = 0.1
"""Of the questions whose text is there, the share whose passages may all be of low confidence."""


def fit(sets: Sequence[Sequence[Asked]]) -> float:
    """Return the highest threshold that keeps false alarms within bounds in every set."""
    return min(_quantile([each.score_with for each in one]) for one in sets)


def measure(asked: Sequence[Asked], low: float) -> tuple[float, float]:
    """Return which share is kept with the text, and which is detected without it, at a threshold."""
    kept = sum(each.score_with >= low for each in asked)
    detected = sum(each.score_without < low for each in asked)
    return kept / len(asked), detected / len(asked)


def _quantile(scores: Sequence[float]) -> float:
    return sorted(scores)[int(FALSE_ALARMS * len(scores))]


async def _ask(folder: Path, encoder: Encoder, reranker: FeatureReranker) -> list[Asked]:
    with tempfile.TemporaryDirectory() as scratch:
        store = EdgeStore(Path(scratch) / "index", StoreSettings())
        try:
            asked, _ = await ask_twice(
                read_dataset(folder),
                encoder=encoder,
                reranker=reranker,
                store=store,
                language=load_language(b"evaluation-only-no-secret-here!!"),
                settings=SearchSettings(conflict_window=0, neighbour_tokens=0),
            )
            return asked
        finally:
            await store.close()


async def _main(folders: Sequence[Path], name: EncoderName, vectors: Path | None) -> None:
    encoder = load_encoder(EncoderSettings(encoder=name))
    reranker = FeatureReranker.beside(encoder.info.name)
    kept = KeptVectors(encoder, vectors) if vectors is not None else None
    sets = [await _ask(folder, kept or encoder, reranker) for folder in folders]
    if kept is not None:
        kept.save()
    for half in (False, True):
        low = fit([[q for q in one if held_out(q.text_id) is half] for one in sets])
        for folder, one in zip(folders, sets, strict=True):
            shares = measure([q for q in one if held_out(q.text_id) is not half], low)
            print(f"{folder.name}: below {low:.3f} kept {shares[0]:.3f}, detected {shares[1]:.3f} on the other half")
    low = fit(sets)
    print(f"{reranker.name}: {low:.3f}")
    for folder, one in zip(folders, sets, strict=True):
        print(f"{folder.name}: kept {measure(one, low)[0]:.3f}, detected {measure(one, low)[1]:.3f} on all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--encoder", choices=["embedded", "lexical"], default="embedded")
    parser.add_argument("--vectors", type=Path)
    arguments = parser.parse_args()
    asyncio.run(_main(arguments.folders, arguments.encoder, arguments.vectors))
