"""Outlook messages (MSG): the same blocks as an e-mail message gives."""

from __future__ import annotations

import struct
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

from olefile import OleFileIO

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, IngestError, NoTextError
from ingest.parsers.mail.mail import Head, Tray, head_blocks, shown_name, word_count
from ingest.parsers.mail.mail_headers import header_text, one_address
from ingest.parsers.mail.mail_source import message_source
from ingest.parsers.mail.mail_text import text_blocks
from ingest.parsers.mail.msg_store import Store
from ingest.parsers.mail.rtf_compressed import decompress_rtf
from ingest.parsers.mail.rtf_text import body_of_rtf
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.charset import decode_declared
from ingest.parsers.web.html import html_blocks
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

FAULTS = (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, RecursionError)
"""What olefile raises on a damaged container, beside its own errors, which are OSErrors."""
_RECIPIENTS = {1: "to", 2: "cc", 3: "bcc"}
_HTML_SUFFICES = 0.8
_MAX_RTF = 16 * 1024 * 1024
_MAX_DEPTH = 8
"""Messages inside one another that are written out."""


def parse_msg(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an Outlook message.

    Raises:
        NoTextError: neither header fields nor a body.
        EncryptedDocumentError: the body is encrypted (S/MIME, PGP).
        CorruptDocumentError: the container is damaged.
    """
    tray = Tray(session)
    try:
        with OleFileIO(str(path)) as file:
            message = Store(file)
            _refuse_encrypted(message, display_name)
            head, body = head_of(message), body_blocks(message, display_name, tray)
            attachments = [name for part in message.children("__attach_") if (name := _attach(part, tray))]
    except IngestError:
        raise
    except FAULTS as exc:
        raise CorruptDocumentError(f"{display_name}: the Outlook container is damaged; save the message again") from exc
    blocks = (*head_blocks(head, attachments), *body)
    if not blocks:
        raise NoTextError(f"{display_name}: the message has neither header fields nor a body")
    return ParsedDocument(format="msg", blocks=blocks, title=head.subject, notes=tray.all_notes())


def head_of(message: Store) -> Head:
    """Return the fields that a reader sees, as Outlook shows them."""
    recipients: dict[str, list[str]] = {"to": [], "cc": [], "bcc": []}
    for recipient in message.children("__recip_"):
        kind = _RECIPIENTS.get((recipient.number(0x0C15) or 0) & 0xF, "to")
        address = recipient.text(0x39FE) or _not_internal(recipient.text(0x3003))
        recipients[kind].append(one_address(recipient.text(0x3001, 0x5FF6).strip(), address.strip()))
    shown = {kind: ", ".join(filter(None, dict.fromkeys(found))) for kind, found in recipients.items()}
    return Head(
        sender=_sender(message),
        to=shown["to"] or message.text(0x0E04).strip(),
        cc=shown["cc"] or message.text(0x0E03).strip(),
        bcc=shown["bcc"] or message.text(0x0E02).strip(),
        date=_date(message),
        subject=header_text(message.text(0x0037)),
    )


def _sender(message: Store) -> str:
    """Return who sent it, `on behalf of` whom where that is somebody else."""
    name, author = message.text(0x0C1A).strip(), message.text(0x0042).strip()
    address = message.text(0x5D01).strip() or _not_internal(message.text(0x0C1F)).strip()
    author_address = message.text(0x5D02).strip() or _not_internal(message.text(0x0065)).strip()
    if author_address and author_address in author:
        author = author.replace(f"<{author_address}>", "").strip()
    if address and author_address and address.lower() != author_address.lower():
        return f"{address} on behalf of {one_address(author, author_address)}"
    return one_address(name or author, address or author_address)


def _not_internal(address: str) -> str:
    """Drop the directory path that Exchange uses inside a company: it tells a reader nothing."""
    return "" if address.upper().startswith("/O=") else address


def _date(message: Store) -> str:
    """Return the date as the transport headers have it, with its time zone, else as stored, in UTC."""
    for line in message.text(0x007D).split("\n"):
        if line.lower().startswith("date:"):
            value = line[5:].strip()
            try:
                parsedate_to_datetime(value)
            except (ValueError, TypeError):
                break
            return value
    stored = message.time(0x0039) or message.time(0x0E06)
    return format_datetime(stored) if stored is not None else ""


def _refuse_encrypted(message: Store, display_name: str) -> None:
    kind = message.text(0x001A).upper()
    head = message.text(0x007D).lower()
    if ("SMIME" in kind and "MULTIPARTSIGNED" not in kind) or "multipart/encrypted" in head:
        raise EncryptedDocumentError(f"{display_name}: the message is encrypted; save it decrypted and upload it again")


def body_blocks(message: Store, display_name: str, tray: Tray) -> tuple[Block, ...]:
    """Return the body once: the HTML where it says what the plain text says, else the plain text."""
    text, markup = bodies_of(message, display_name)
    plain = text_blocks(text)
    rich: tuple[Block, ...] = ()
    if markup:
        try:
            rich = html_blocks(markup, display_name)
        except CorruptDocumentError:
            if not plain:
                raise
            tray.say("the HTML form of the body could not be read; the plain one was")
    return rich if rich and word_count(rich) >= _HTML_SUFFICES * word_count(plain) else plain


def bodies_of(message: Store, display_name: str) -> tuple[str, str]:
    """Return the plain text and the HTML; empty where there is none.

    Outlook keeps the HTML of a message inside RTF more often than as it is, and some bodies in RTF alone.
    """
    text, raw = message.text(0x1000), message.binary(0x1013)
    if raw.strip(b"\x00 \r\n"):
        return text, decode_declared(raw, message.html_code_page or None, display_name).text
    markup = message.text(0x1013)
    compressed = b"" if markup else message.binary(0x1009)
    if compressed:
        body, is_html = body_of_rtf(decompress_rtf(compressed, _MAX_RTF))
        return (text, body) if is_html else (text or body, "")
    return text, markup


def _attach(part: Store, tray: Tray) -> str:
    """Hand an attachment on; return its name, empty where it is part of the body."""
    name = _name_of(part)
    if part.inner_message() is None:
        media_type = part.text(0x370E).lower()
        if part.text(0x3712) and (part.number(0x7FFE) or media_type.startswith("image/")):
            tray.drop_picture()
            return ""
        if media_type in ("application/pkcs7-signature", "application/x-pkcs7-signature"):
            tray.say("the message is signed; the signature was not checked")
            return ""
        if not part.binary(0x3701) and part.text(0x3708, 0x370D):
            tray.say(f"attachment {shown_name(name)} is a link to a file elsewhere")
            return shown_name(name)
    return tray.attach(name, _content_of(part, 0))


def _name_of(part: Store) -> str:
    name = part.text(0x3707, 0x3704, 0x3001).strip()
    inner = part.inner_message()
    if inner is not None:
        return f"{header_text(inner.text(0x0037)) or name or 'message'}.eml"
    return name or "attachment.bin"


def _content_of(part: Store, depth: int) -> bytes:
    """Return an attachment's bytes; of a message inside, its MIME form with what is attached to it in turn."""
    inner = part.inner_message()
    if inner is None:
        return part.binary(0x3701)
    if depth >= _MAX_DEPTH:
        return b""
    attachments = [(_name_of(deeper), _content_of(deeper, depth + 1)) for deeper in inner.children("__attach_")]
    text, markup = bodies_of(inner, "message")
    return message_source(head_of(inner), text, markup, attachments)
