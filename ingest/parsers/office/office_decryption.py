"""Opens Office files under a password: OOXML (agile and standard), XLS, DOC, PPT. The only importer of msoffcrypto.

The plain file lies in memory that has no name in any folder, and is gone with the parse.
"""

from __future__ import annotations

import contextlib
import os
import resource
import struct
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any, BinaryIO

from ingest.errors import EncryptedDocumentError

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DEFAULT_PASSWORD = "VelvetSweatshop"
"""Excel encrypts workbooks that are only protected against changes with this, [MS-OFFCRYPTO] 2.3."""
_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError, struct.error)


@contextlib.contextmanager
def decrypted(path: Path, display_name: str, password: str | None) -> Generator[Path]:
    """Give a path to the file without its encryption; `path` itself where it has none or is no Office file.

    Raises:
        EncryptedDocumentError: the password is missing or wrong, or the encryption is of an unknown kind.
    """
    with path.open("rb") as file:
        office = _encrypted_office(file)
        if office is None:
            yield path
            return
        with _scratch() as (plain, plain_path):
            _decrypt(office, plain, display_name, password)
            plain.flush()
            yield plain_path


def _encrypted_office(file: BinaryIO) -> Any | None:
    if file.read(len(_OLE)) != _OLE:
        return None
    import msoffcrypto
    import msoffcrypto.exceptions as errors

    vendor: Any = msoffcrypto
    known: Any = errors
    try:
        office = vendor.OfficeFile(file)
        return office if office.is_encrypted() else None
    except (known.FileFormatError, known.ParseError, *_BROKEN):
        # No Office file, or a broken one: its parser says what is wrong.
        return None


def _decrypt(office: Any, plain: BinaryIO, display_name: str, password: str | None) -> None:
    import msoffcrypto.exceptions as errors

    known: Any = errors
    try:
        _load_key(office, password or _DEFAULT_PASSWORD)
        office.decrypt(plain)
    except known.InvalidKeyError as exc:
        reason = "is encrypted; a password is needed" if password is None else "cannot be opened: the password is wrong"
        raise EncryptedDocumentError(f"{display_name}: this Office file {reason}") from exc
    except (known.DecryptionError, known.ParseError, known.FileFormatError, *_BROKEN) as exc:
        raise EncryptedDocumentError(
            f"{display_name}: this Office file is encrypted in a way that is not known here; save it without a password"
        ) from exc


def _load_key(office: Any, password: str) -> None:
    try:
        office.load_key(password=password, verify_password=True)
    except TypeError:
        # The old binary formats always verify, and know no such argument.
        office.load_key(password=password)


@contextlib.contextmanager
def _scratch() -> Generator[tuple[BinaryIO, Path]]:
    """Give a file to write to and its path; in memory where the system can."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits[1], limits[1]))
    try:
        if hasattr(os, "memfd_create"):
            with os.fdopen(os.memfd_create("plain"), "w+b") as file:
                # By the process id: programs that this process starts open it too.
                yield file, Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
        else:
            with tempfile.NamedTemporaryFile() as file:
                yield file, Path(file.name)  # type: ignore[misc]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
