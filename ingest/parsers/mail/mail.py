"""What EML and MSG share: the head of a message as blocks, and its attachments handed on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.parsers.session import ParseSession
from ingest.types import Block

_PIECE = 256 * 1024
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Head:
    """The header fields that a reader sees, as text; empty where the message has none."""

    sender: str = ""
    to: str = ""
    cc: str = ""
    bcc: str = ""
    date: str = ""
    subject: str = ""

    def lines(self) -> tuple[str, ...]:
        """Return `From: …` and so on, in the order of mail programs."""
        fields = (
            ("From", self.sender),
            ("To", self.to),
            ("Cc", self.cc),
            ("Bcc", self.bcc),
            ("Date", self.date),
            ("Subject", self.subject),
        )
        return tuple(f"{name}: {value}" for name, value in fields if value)


def head_blocks(head: Head, attachments: Sequence[str]) -> tuple[Block, ...]:
    """Return one paragraph: the head's lines, then the names of the attachments."""
    lines = [*head.lines(), *((f"Attachments: {'; '.join(attachments)}",) if attachments else ())]
    return (Block(kind="paragraph", text="\n".join(lines)),) if lines else ()


@dataclass
class Tray:
    """Hands attachments to the session and remembers what has to be said about them."""

    session: ParseSession
    notes: list[str] = field(default_factory=list[str])
    _dropped_pictures: int = 0

    def attach(self, name: str, content: bytes) -> str:
        """Hand one attachment on; return its name as it is shown."""
        shown = shown_name(name)
        if not content:
            self.notes.append(f"attachment {shown} is empty")
        elif not self.session.attach(shown, pieces_of(content)):
            self.notes.append(f"attachment {shown} was not read")
        return shown

    def drop_picture(self) -> None:
        """Count a picture that only decorates the body."""
        self._dropped_pictures += 1

    def say(self, note: str) -> None:
        """Add a note once."""
        if note not in self.notes:
            self.notes.append(note)

    def all_notes(self) -> tuple[str, ...]:
        """Return every note, inline pictures as one."""
        count = self._dropped_pictures
        pictures = (f"{count} inline picture{'s were' if count > 1 else ' was'} not read",) if count else ()
        return (*self.notes, *pictures)


def shown_name(name: str) -> str:
    """Return an attachment's name as one short line of text, the ending kept."""
    line = "".join(character for character in " ".join(name.split()) if character.isprintable())
    return line if len(line) <= _MAX_NAME else f"{line[: _MAX_NAME - 21]}…{line[-20:]}"


def pieces_of(content: bytes) -> Iterator[bytes]:
    """Yield content piece by piece, so that no second copy of it is made."""
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


def word_count(blocks: Iterable[Block]) -> int:
    """Count the characters of words, addresses of links left out: what tells the fuller of two renderings."""
    words = (word for block in blocks for word in block.text.split() if "://" not in word)
    return sum(sum(map(str.isalnum, word)) for word in words)
