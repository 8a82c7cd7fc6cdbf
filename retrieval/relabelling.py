"""Passages that one run found, under the labels of another."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.labels import LabelBook
from retrieval.types import Passage


def relabelled(passages: Sequence[Passage], book: LabelBook) -> tuple[Passage, ...]:
    """Return passages with the labels that `book` gives their chunks, where they name each other too."""
    labels = {passage.label: book.label(passage.chunk) for passage in passages}
    return tuple(
        passage.model_copy(
            update={
                "label": labels[passage.label],
                "conflicts_with": tuple(labels.get(label, label) for label in passage.conflicts_with),
            }
        )
        for passage in passages
    )
