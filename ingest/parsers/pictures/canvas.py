"""What is to be drawn of a page, and its picture with the places of its secrets."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from ingest.parsers.pictures.ocr import OcrLine, Picture, Reading, read_picture, turned_box
from retrieval.symbols.erased_texts import ErasedTexts
from retrieval.symbols.fold import fold
from retrieval.symbols.rules import ErasedText, Person
from retrieval.symbols.secrets.find import find_secrets
from retrieval.symbols.secrets.person_list import PersonList
from retrieval.types import Value

PlacedBox = tuple[float, float, float, float]


class Drawing(Value):
    """What to draw."""

    page_number: int = Field(ge=1)
    dpi: int = Field(ge=36, le=300)
    boxes: tuple[PlacedBox, ...] = ()
    """To be marked; in the coordinates of the document's own boxes."""
    hides_secrets: bool = True
    persons: tuple[Person, ...] = ()
    """Whose names the tenant calls secret, and other texts that its owners do."""
    erased_texts: tuple[ErasedText, ...] = ()
    erased_key: str = Field(default="", repr=False)
    """Finds these, and nothing else (`erased_texts.text_key`); hexadecimal."""

    def secrets_in(self, text: str) -> list[tuple[int, int]]:
        """Return the half-open spans of what must not be seen in a text."""
        folded = fold(text)
        found = [(secret.start, secret.end) for secret in find_secrets(folded, PersonList(self.persons))]
        if self.erased_texts:
            gone = ErasedTexts(self.erased_texts, bytes.fromhex(self.erased_key))
            found += [(start, end) for _, start, end in gone.find(folded)]
        return sorted(found)


@dataclass(frozen=True, slots=True)
class Canvas:
    """What is painted on."""

    picture: Picture
    scale: float
    """Pixels per unit of the document's boxes."""
    secrets: tuple[PlacedBox, ...] = ()
    """In units of the document's boxes, from the top left of the page as people see it."""


def secrets_of_picture(picture: Picture, threads: int, drawing: Drawing) -> list[PlacedBox]:
    """Read a picture and return the boxes, in its pixels, of the lines that hold a secret or a part of one."""
    reading = read_picture(picture, threads)
    height, width = picture.shape[:2]
    if reading.turn in (90, 270):
        height, width = width, height
    return [
        turned_box((line.x0, line.y0, line.x1, line.y1), (360 - reading.turn) % 360, width, height)
        for line in _lines_with_secrets(reading, drawing)
    ]


def _lines_with_secrets(reading: Reading, drawing: Drawing) -> list[OcrLine]:
    written, starts = "", list[int]()
    for line in reading.lines:
        starts.append(len(written))
        written += line.text + "\n"
    spans = drawing.secrets_in(written)
    return [
        line
        for start, line in zip(starts, reading.lines, strict=True)
        if any(start < stop and begin < start + len(line.text) for begin, stop in spans)
    ]
