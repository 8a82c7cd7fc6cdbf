"""E-mail messages (RFC 5322, MIME): head, body once, messages inside, attachments handed on."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import collapse_rfc2231_value
from pathlib import Path

from ingest.errors import EncryptedDocumentError, IngestError, NoTextError
from ingest.parsers.mail.eml_tree import Part, read_tree
from ingest.parsers.mail.mail import Head, Tray, head_blocks, word_count
from ingest.parsers.mail.mail_headers import address_text, header_text
from ingest.parsers.mail.mail_text import text_blocks
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.charset import decode_declared
from ingest.parsers.text.decoding import decode
from ingest.parsers.web.html import html_blocks
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_ENCRYPTED = frozenset({"multipart/encrypted", "application/pgp-encrypted"})
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_TNEF = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_SUFFIXES = {"plain": "txt", "octet-stream": "bin", "jpeg": "jpg", "mpeg": "mp3", "calendar": "ics"}
_PGP = "-----BEGIN PGP MESSAGE-----"
_HTML_SUFFICES = 0.8
"""The HTML alternative is read where it holds this much of the plain one's words."""


def parse_eml(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an e-mail message.

    Raises:
        NoTextError: neither header fields nor a body.
        EncryptedDocumentError: the body is encrypted (S/MIME, PGP).
        CorruptDocumentError: parts nested without end.
    """
    raw = path.read_bytes()
    root = read_tree(_unwrapped(raw, display_name), display_name)
    reader = _Reader(display_name, Tray(session))
    body = reader.message(root)
    head = head_of(root)
    blocks = (*head_blocks(head, reader.attachments), *body)
    if not blocks:
        raise NoTextError(f"{display_name}: the message has neither header fields nor a body")
    return ParsedDocument(
        format="eml", blocks=blocks, title=head.subject, encoding=reader.encoding, notes=reader.tray.all_notes()
    )


def head_of(message: Part) -> Head:
    """Return the fields that a reader sees."""
    return Head(
        sender=address_text(message.field("From")),
        to=address_text(message.field("To")),
        cc=address_text(message.field("Cc")),
        bcc=address_text(message.field("Bcc")),
        date=header_text(message.field("Date")),
        subject=header_text(message.field("Subject")),
    )


def _unwrapped(raw: bytes, display_name: str) -> bytes:
    """Drop what stands before the first header field: a byte-order mark, an mbox line, blank lines.

    A message saved as UTF-16 text is given as UTF-8.
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in raw[:64]:
        raw = decode(raw, display_name).text.encode("utf-8", "replace")
    raw = raw.removeprefix(b"\xef\xbb\xbf").lstrip()
    if raw.startswith(b"From "):
        raw = raw.partition(b"\n")[2]
    return raw


@dataclass
class _Reader:
    """Walks the parts of one message; attachments go to the tray as they come."""

    name: str
    tray: Tray
    attachments: list[str] = field(default_factory=list[str])
    encoding: str | None = None
    _messages: int = 0

    def message(self, part: Part) -> list[Block]:
        """Return the body of a message; the caller adds its head."""
        self._messages += 1
        try:
            return self._body(part)
        finally:
            self._messages -= 1

    def _body(self, part: Part) -> list[Block]:
        kind = part.get_content_type()
        if kind in _ENCRYPTED or (kind in _SEALED and "signed" not in _parameter(part, "smime-type")):
            return self._encrypted()
        if part.get_content_disposition() == "attachment" and part.depth > 0:
            return self._attach(part)
        match kind:
            case "multipart/alternative":
                return self._alternative(part)
            case "multipart/related":
                return self._related(part)
            case "message/rfc822" | "message/global":
                return self._inner_message(part)
            case "text/plain" | "text/html" if not _file_name(part) or part.depth == 0:
                return self._text(part, kind)
            case _ if part.is_multipart():
                return [block for child in part.parts() for block in self._body(child)]
            case _:
                return self._other(part, kind)

    def _encrypted(self) -> list[Block]:
        if self._messages > 1:
            self.tray.say("an encrypted message inside was not read")
            return []
        raise EncryptedDocumentError(f"{self.name}: the message is encrypted; save it decrypted and upload it again")

    def _alternative(self, part: Part) -> list[Block]:
        """Read the fuller of the plain text and the HTML; the HTML where they say the same."""
        plain: list[Block] = []
        rich: list[Block] = []
        for child in part.parts():
            kind = child.get_content_type()
            if kind == "text/plain" and not plain:
                plain = self._body(child)
            elif kind == "text/calendar":
                self.tray.say("the calendar form of an invitation was not read")
            elif kind.startswith("multipart/") or kind == "text/html":
                rich = self._rich(child, plain) or rich
            elif kind not in ("text/x-amp-html", "text/watch-html", "text/enriched", "text/plain"):
                rich = rich + self._body(child)
        return rich if word_count(rich) >= _HTML_SUFFICES * word_count(plain) else plain

    def _rich(self, part: Part, plain: list[Block]) -> list[Block]:
        try:
            return self._body(part)
        except EncryptedDocumentError:
            raise
        except IngestError:
            if not plain:
                raise
            self.tray.say("the HTML form of the body could not be read; the plain one was")
            return []

    def _related(self, part: Part) -> list[Block]:
        """Read the root; pictures that it shows are dropped, other files are attachments."""
        children = part.parts()
        start = _parameter(part, "start").strip("<>")
        root = next((child for child in children if start and _content_id(child) == start), None)
        root = root or next((child for child in children if _is_readable(child)), None)
        blocks: list[Block] = []
        for child in children:
            blocks += self._body(child) if child is root else self._other(child, child.get_content_type())
        return blocks

    def _inner_message(self, part: Part) -> list[Block]:
        """Read a message that is shown in the body (a forward, a digest) as a section of its own."""
        blocks: list[Block] = []
        for message in part.parts():
            head = head_of(message)
            before = len(self.attachments)
            body = self.message(message)
            heading = head.subject or "Message without subject"
            blocks.append(Block(kind="heading", level=min(self._messages, 6), text=heading))
            blocks.extend(head_blocks(head, self.attachments[before:]))
            del self.attachments[before:]
            blocks.extend(body)
        return blocks

    def _text(self, part: Part, kind: str) -> list[Block]:
        raw = part.content()
        if not raw.strip():
            return []
        decoded = decode_declared(raw, _parameter(part, "charset") or None, self.name)
        self.encoding = self.encoding or decoded.encoding
        if decoded.damaged:
            self.tray.say(f"{decoded.damaged} byte sequences have no meaning in {decoded.encoding} and became U+FFFD")
        if kind == "text/html":
            return list(html_blocks(decoded.text, self.name))
        if decoded.text.lstrip().startswith(_PGP):
            return self._encrypted()
        flowed = _parameter(part, "format").lower() == "flowed"
        return list(text_blocks(decoded.text, flowed=flowed, delete_space=_parameter(part, "delsp").lower() == "yes"))

    def _other(self, part: Part, kind: str) -> list[Block]:
        is_shown = part.get_content_disposition() != "attachment"
        if kind.startswith("image/") and is_shown and (part.field("Content-ID") or not _file_name(part)):
            self.tray.drop_picture()
            return []
        if kind in _SIGNATURES:
            self.tray.say("the message is signed; the signature was not checked")
            return []
        if kind == "text/calendar" and not _file_name(part):
            self.tray.say("the calendar form of an invitation was not read")
            return []
        if kind in ("message/delivery-status", "text/rfc822-headers", "message/disposition-notification"):
            self.tray.say("the machine-readable part of a delivery report was not read")
            return []
        return self._attach(part)

    def _attach(self, part: Part) -> list[Block]:
        kind = part.get_content_type()
        name = _file_name(part) or _default_name(part, len(self.attachments) + 1)
        if kind in _TNEF or name.lower() == "winmail.dat":
            self.tray.say("winmail.dat, Outlook's own container, was not read; ask the sender for plain attachments")
            return []
        self.attachments.append(self.tray.attach(name, _bytes_of(part)))
        return []


def _bytes_of(part: Part) -> bytes:
    """Return what an attachment holds; of a message or a multipart, its source."""
    if not part.is_multipart():
        return part.content()
    inner = part.parts()[0] if part.get_content_maintype() == "message" and part.parts() else part
    try:
        return inner.as_bytes()
    except (UnicodeError, LookupError, ValueError, TypeError):
        return b""


def _is_readable(part: Part) -> bool:
    return part.get_content_maintype() == "multipart" or part.get_content_type() in ("text/plain", "text/html")


def _content_id(part: Part) -> str:
    return part.field("Content-ID").strip().strip("<>")


def _parameter(part: Part, name: str) -> str:
    value = part.get_param(name)
    return collapse_rfc2231_value(value) if isinstance(value, str | tuple) else ""


def _file_name(part: Part) -> str:
    """Return a part's file name, whichever of the three ways it is written in; empty where it has none."""
    for header, parameter in (("content-disposition", "filename"), ("content-type", "name")):
        value = part.get_param(parameter, header=header)
        if isinstance(value, tuple):
            value = collapse_rfc2231_value(value, errors="replace", fallback_charset="utf-8")
        if isinstance(value, str) and value.strip():
            return header_text(value)
    return ""


def _default_name(part: Part, number: int) -> str:
    kind = part.get_content_type()
    if kind.startswith("message/"):
        subject = header_text(part.parts()[0].field("Subject")) if part.parts() else ""
        return f"{subject or f'message {number}'}.eml"
    subtype = part.get_content_subtype().removeprefix("x-")
    suffix = _SUFFIXES.get(subtype, subtype)
    return f"attachment {number}.{suffix}"
