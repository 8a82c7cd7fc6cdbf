"""The HTML page of `attest chunks --html`: chunks beside the pages they stand on."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image

from api.commands.rendering import counted
from ingest.preview import Preview
from retrieval.types import Box, Chunk

_TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
_COLOURS = ("#d9480f", "#1971c2", "#2f9e44", "#9c36b5", "#e8590c", "#0c8599", "#c2255c", "#5c940d")


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page drawn as PNG."""

    number: int
    png: bytes

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in the units of the document's boxes, which the PNG's resolution tells."""
        vendor: Any = Image
        with vendor.open(io.BytesIO(self.png)) as image:
            dots: float = image.info["dpi"][0]
            return image.width * 72 / dots, image.height * 72 / dots

    @property
    def data(self) -> str:
        """The picture as a data URI."""
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A box in percent of its page."""

    left: float
    top: float
    width: float
    height: float
    label: str
    colour: str


def render_page(name: str, shown: Preview, pictures: Sequence[PagePicture]) -> str:
    """Return the whole page; nothing in it is loaded from elsewhere, and all text is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    drawn = {picture.number for picture in pictures}
    pages = [
        {
            "number": picture.number,
            "data": picture.data,
            "chunks": _frames(picture, ((f"{c.ordinal}", _colour(c), c.boxes) for c in shown.chunks)),
            "texts": [(c, _colour(c)) for c in shown.chunks if c.page_start == picture.number],
            "blocks": _frames(picture, ((b.kind, "#868e96", b.boxes) for b in shown.parsed.blocks)),
        }
        for picture in pictures
    ]
    filters: dict[str, Callable[..., object]] = environment.filters  # pyright: ignore[reportAssignmentType]
    filters["counted"] = counted
    return environment.get_template("chunks.html.j2").render(
        name=name,
        title=shown.title,
        parsed=shown.parsed,
        report=shown.report,
        pages=pages,
        count=len(shown.chunks),
        rest=[(chunk, _colour(chunk)) for chunk in shown.chunks if chunk.page_start not in drawn],
    )


def _colour(chunk: Chunk) -> str:
    return _COLOURS[chunk.ordinal % len(_COLOURS)]


def _frames(picture: PagePicture, items: Iterable[tuple[str, str, Sequence[Box]]]) -> list[_Frame]:
    width, height = picture.size
    frames: list[_Frame] = []

    for label, colour, boxes in items:
        frames += [
            _Frame(
                left=100 * box.x0 / width,
                top=100 * box.y0 / height,
                width=100 * (box.x1 - box.x0) / width,
                height=100 * (box.y1 - box.y0) / height,
                label=label,
                colour=colour,
            )
            for box in boxes
            if box.page_number == picture.number
        ]
    return frames
