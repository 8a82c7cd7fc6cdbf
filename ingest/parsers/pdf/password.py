"""Opens encrypted PDFs: the password as it was typed, and as the programs that wrote the file may have written it."""

from __future__ import annotations

import stringprep
import unicodedata
from collections.abc import Iterator
from typing import Any

from ingest.errors import EncryptedDocumentError


def unlock(document: Any, password: str | None, display_name: str) -> None:
    """Open an encrypted PyMuPDF document with its user's or owner's password; nothing to do where it is open.

    Raises:
        EncryptedDocumentError: the password is missing, or wrong.
    """
    if not document.needs_pass:
        return
    if not password:
        raise EncryptedDocumentError(f"{display_name}: the PDF is encrypted; a password is needed")
    if not any(document.authenticate(spelling) for spelling in dict.fromkeys(spellings(password))):
        raise EncryptedDocumentError(f"{display_name}: the PDF cannot be opened: the password is wrong")


def spellings(password: str) -> Iterator[str]:
    """Give the forms in which a password may have been taken when the PDF was encrypted.

    AES-256 prepares it by SASLprep (RFC 4013; ISO 32000-2, 7.6.4.3.3), which MuPDF leaves out; older encryption takes
    single bytes, which some programs fill with UTF-8 or GBK.
    """
    yield password
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    yield unicodedata.normalize("NFKC", mapped)
    yield unicodedata.normalize("NFC", password)
    for encoding in ("utf-8", "gb18030"):
        try:
            yield password.encode(encoding).decode("latin-1")
        except UnicodeError:
            # A lone surrogate: no text that anybody typed.
            continue
