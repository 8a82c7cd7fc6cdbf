"""Writes a message in MIME form: what lies inside an Outlook message becomes a document of its own that way."""

from __future__ import annotations

from collections.abc import Sequence
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

from ingest.parsers.mail.mail import Head


def message_source(head: Head, plain: str, markup: str, attachments: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a message with both forms of its body and its attachments.

    Header values are written as encoded words whole, so that no character in them is read as syntax.
    """
    bodies = MIMEMultipart("alternative")
    bodies.attach(MIMEText(plain, "plain", "utf-8"))
    if markup:
        bodies.attach(MIMEText(markup, "html", "utf-8"))
    message = MIMEMultipart("mixed", _subparts=[bodies])
    for line in head.lines():
        name, _, value = line.partition(": ")
        message[name] = Header(" ".join(value.split()), "utf-8").encode()
    for name, content in attachments:
        part = MIMEApplication(content)
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
        message.attach(part)
    return message.as_bytes()
