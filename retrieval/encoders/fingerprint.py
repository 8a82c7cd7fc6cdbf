"""A name for the weights in a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

_SUFFIXES = {".json", ".pt", ".safetensors", ".bin", ".model"}
_END = 1 << 20


def fingerprint(folder: Path, *, salt: str = "") -> str:
    """Return a digest over the small files whole, and size, head and tail of the large ones, at any depth.

    Reading 2 GB at every start would cost seconds; a fine-tuned copy differs in the parts that are read.

    Args:
        folder: configuration, tokenizer and weights of a model.
        salt: whatever else decides over the vectors.
    """
    digest = hashlib.sha256(salt.encode())
    for path in sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}:{size}:".encode())
        with path.open("rb") as file:
            digest.update(file.read(_END))
            if size > 2 * _END:
                file.seek(-_END, 2)
                digest.update(file.read())
    return digest.hexdigest()[:16]
