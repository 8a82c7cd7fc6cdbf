"""Reads the text of a picture: RapidOCR with the models inside its wheel, Chinese and English.

The only importer of RapidOCR and OpenCV. It needs seconds a page and most of a
gigabyte, so it is loaded when the first picture comes, and runs in the sandbox's
process alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingest.parsers.pictures.ocr_text import is_noise, mend_forms

Picture = NDArray[np.uint8]
"""uint8 (height, width, 3), RGB."""
Turn = Literal[0, 90, 180, 270]
_MIN_SCORE = 0.6
"""Lines below it are mostly hatching, seals and two lines printed over each other."""
_DETECTION_PIXELS = 1_200_000
"""Lines are found in a picture reduced to this (A4 at 110 dpi), in a third of the time, and read at full resolution."""
_MAX_ENLARGEMENT = 2.0
_TALL = 1.5
_VOTERS = 12
_BLANK_CONTRAST = 40
_BLANK_SHARE = 2e-5


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text; its box is in pixels of the picture as it stands upright."""

    text: str
    score: float
    """0 to 1, the mean over its characters."""
    x0: float
    y0: float
    x1: float
    y1: float
    height: float
    """Across the line, which may run askew."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a picture says."""

    lines: tuple[OcrLine, ...]
    """From top to bottom, from left to right."""
    turn: Turn
    """Degrees by which the picture must be turned clockwise to stand upright."""


NOTHING = Reading((), 0)


def read_picture(picture: Picture, threads: int) -> Reading:
    """Return the lines of a picture, whichever way it stands; none where it is blank."""
    if is_blank(picture):
        return NOTHING
    engine = _engine(threads)
    image = np.ascontiguousarray(picture[:, :, ::-1])
    quads = _find_lines(engine, image)
    if not quads.size:
        return NOTHING
    # A crop that is much taller than wide comes turned counter-clockwise by a quarter.
    crops: list[Any] = engine.crop_text_regions(image, quads.astype(np.float32))
    turn = _turn(engine, quads, crops)
    if turn in (90, 180):
        crops = [np.ascontiguousarray(crop[::-1, ::-1]) for crop in crops]
    read = engine.recognize_txt(crops)
    height, width = picture.shape[:2]
    lines: list[OcrLine] = []
    for quad, text, score in zip(quads, read.txts or (), read.scores or (), strict=True):
        mended = mend_forms(text)
        if mended and score >= _MIN_SCORE:
            box = turned_box((*quad.min(axis=0), *quad.max(axis=0)), turn, width, height)
            lines.append(OcrLine(mended, float(score), *box, height=_height(quad)))
    if is_noise([line.text for line in lines]):
        return NOTHING
    return Reading(tuple(sorted(lines, key=lambda line: (line.y0, line.x0))), turn)


def is_blank(picture: Picture) -> bool:
    """Tell whether next to nothing stands out from the picture's usual colour."""
    gray = picture[::2, ::2].mean(axis=2)
    return float((np.abs(gray - np.median(gray)) > _BLANK_CONTRAST).mean()) < _BLANK_SHARE


def turned_box(box: Sequence[float], turn: int, width: float, height: float) -> tuple[float, float, float, float]:
    """Return a box after its picture of `width` × `height` was turned clockwise by `turn` degrees."""
    x0, y0, x1, y1 = map(float, box)
    match turn:
        case 90:
            return height - y1, x0, height - y0, x1
        case 180:
            return width - x1, height - y1, width - x0, height - y0
        case 270:
            return y0, width - x1, y1, width - x0
        case _:
            return x0, y0, x1, y1


def _height(quad: NDArray[np.float64]) -> float:
    along, across = np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[0] - quad[3])
    return float(along if across >= _TALL * along else across)


@lru_cache(maxsize=1)
def _engine(threads: int) -> Any:
    """Load the three models, once in a process (0.2 s and 3 s of imports)."""
    import cv2
    import rapidocr

    vendor: Any = rapidocr
    cv2.setNumThreads(threads)
    return vendor.RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # The picture is scaled here; the vendor shall leave it as it is.
            "Global.max_side_len": 100_000,
            "Global.min_side_len": 1,
            "Det.limit_type": "max",
            "Det.limit_side_len": 100_000,
        }
    )


def _find_lines(engine: Any, image: Picture) -> NDArray[np.float64]:
    """Return the corners of each line: float (n, 4, 2) in pixels, from its top left clockwise; n may be 0."""
    import cv2

    height, width = image.shape[:2]
    scale = min(_MAX_ENLARGEMENT, math.sqrt(_DETECTION_PIXELS / (height * width)))
    size = max(32, round(width * scale)), max(32, round(height * scale))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    found = engine(small, use_det=True, use_cls=False, use_rec=False).boxes
    if found is None or len(found) == 0:
        return np.empty((0, 4, 2))
    return np.asarray(found, dtype=np.float64) * (width / size[0], height / size[1])


def _turn(engine: Any, quads: NDArray[np.float64], crops: Sequence[Any]) -> Turn:
    """Let the longest lines vote for how the whole picture stands: single lines are often taken wrongly."""
    sizes = quads.max(axis=1) - quads.min(axis=1)
    tall = sizes[:, 1] >= _TALL * sizes[:, 0]
    lengths = sizes.max(axis=1)
    is_sideways = lengths[tall].sum() > lengths[~tall].sum()
    chosen = [index for index in np.argsort(-lengths) if tall[index] == is_sideways][:_VOTERS]
    _, voted = engine.cls_and_rotate([crops[index] for index in chosen])
    flipped = 0.0
    for index, (label, score) in zip(chosen, voted.cls_res, strict=True):
        flipped += float(lengths[index] * score) * (1 if "180" in label else -1)
    if is_sideways:
        return 90 if flipped > 0 else 270
    return 180 if flipped > 0 else 0
