"""Batches of like length, over all texts of a call: little of what a model computes is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BATCH_TOKENS = 8192
"""Padded tokens of one batch at most: 16 texts of 512, or one of 8192. Bounds memory, not quality."""
_FULL_ROW = 0.8
"""A row that would be padding to more than a fifth begins a batch of its own …"""
_SMALL_TOKENS = 256
"""… unless the batch is so small still that reading the weights costs more than the padding."""


def batches_of_like_length(
    lengths: Sequence[int], most_rows: int, *, most_tokens: int = BATCH_TOKENS
) -> Iterator[list[int]]:
    """Yield the row numbers of texts of these lengths in tokens, longest first, each row once.

    Rows of equal length keep their order. A batch holds at most `most_rows` rows and, unless it is
    of one row, at most `most_tokens` tokens with its padding.
    """
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    batch: list[int] = []
    for row in order:
        width = max(lengths[batch[0]], 1) if batch else 0
        is_full = len(batch) == most_rows or width * (len(batch) + 1) > most_tokens
        is_shorter = lengths[row] < _FULL_ROW * width and width * len(batch) >= _SMALL_TOKENS
        if batch and (is_full or is_shorter):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
