"""Originals: uploaded files, kept encrypted under generated names.

File format: `ATO1`, a random salt of 16 bytes, then sealed pieces of 1 MiB (the last one
shorter). Each file has a key of its own, derived from the master key, the salt, the
tenant and the document; the nonce of a piece is its number and a flag for the last one,
so that pieces cannot be reordered, cut off or taken from another file (the STREAM
construction, https://eprint.iacr.org/2015/189).

The password of an encrypted document lies beside its original, sealed in the same way under a key of
its own, and goes when the original goes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from filelock import FileLock, Timeout

from ingest.errors import DamagedOriginalError, DocumentTooLargeError, VaultKeyError
from retrieval.durable import sync_folder

_MAGIC = b"ATO1"
_SALT_BYTES = 16
_PIECE = 1024 * 1024
_TAG_BYTES = 16
_MIN_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class StoredOriginal:
    """What was stored: size and SHA-256 (hex) of the plain bytes."""

    size_bytes: int
    content_hash: str


class Originals:
    """Writes, reads back and removes originals. Blocking.

    Temporary files lie in a scratch folder of this instance, held by a lock: those of a
    process that was killed are found by their free lock and removed by `sweep`.
    """

    def __init__(self, folder: Path, key: bytes, owner: str) -> None:
        """Take the folder, the master key (at least 32 bytes) and an `owner` name unique to this instance.

        Raises:
            VaultKeyError: the key is too short.
        """
        if len(key) < _MIN_KEY_BYTES:
            raise VaultKeyError(f"the key of the originals needs at least {_MIN_KEY_BYTES} bytes")
        self._folder = folder
        self._key = key
        self._scratch_root = folder / "scratch"
        self._scratch = self._scratch_root / owner
        self._lock: FileLock | None = None
        self._taking = threading.Lock()

    @contextmanager
    def writing(self, tenant: str, document_id: str, max_bytes: int) -> Generator[OriginalWriter]:
        """Give a writer; leaving the block without `commit` stores nothing."""
        part = self._scratch_folder() / f"{document_id}.part"
        with _create(part) as file:
            try:
                salt = os.urandom(_SALT_BYTES)
                cipher = self._cipher(tenant, document_id, salt)
                yield OriginalWriter(file, salt, cipher, part, self._path(document_id), max_bytes)
            finally:
                part.unlink(missing_ok=True)

    @contextmanager
    def plain(self, tenant: str, document_id: str) -> Generator[Path]:
        """Give a plain copy readable by this user alone; it is removed on leaving the block.

        Raises:
            DamagedOriginalError: missing, cut, changed, or written under another key.
        """
        # A name of its own: a page may be shown while the document is parsed.
        copy = self._scratch_folder() / f"{document_id}.{uuid4().hex}.plain"
        try:
            with _create(copy) as file:
                for piece in self._read(tenant, document_id):
                    file.write(piece)
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    @contextmanager
    def inside(self, document_id: str) -> Generator[Path]:
        """Give an empty folder for what is found inside a document; it goes with all its files on leaving the block."""
        folder = self._scratch_folder() / f"{document_id}.{uuid4().hex}.inside"
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep_password(self, tenant: str, document_id: str, password: str) -> None:
        """Keep the password that opens the document, sealed; one that was kept before gives way."""
        target = self._password_path(document_id)
        # A name of its own: two retries at once both bring a password.
        part = self._scratch_folder() / f"{document_id}.{uuid4().hex}.password.part"
        salt = os.urandom(_SALT_BYTES)
        sealed = self._cipher(tenant, document_id, salt, "password").encrypt(
            _nonce(0, last=True), password.encode(), None
        )
        with _create(part) as file:
            try:
                file.write(_MAGIC + salt + sealed)
                file.flush()
                os.fsync(file.fileno())
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        sync_folder(target.parent)

    def password(self, tenant: str, document_id: str) -> str | None:
        """Return the password kept for a document; None where there is none.

        Raises:
            DamagedOriginalError: it was changed, or written under another key.
        """
        try:
            stored = self._password_path(document_id).read_bytes()
        except FileNotFoundError:
            return None
        salt, sealed = stored[len(_MAGIC) :][:_SALT_BYTES], stored[len(_MAGIC) + _SALT_BYTES :]
        try:
            cipher = self._cipher(tenant, document_id, salt, "password")
            return cipher.decrypt(_nonce(0, last=True), sealed, None).decode()
        except (InvalidTag, UnicodeDecodeError) as exc:
            raise DamagedOriginalError(f"document {document_id!r}: its stored password cannot be read") from exc

    def exists(self, document_id: str) -> bool:
        """Tell whether an original is stored, or a password without one."""
        return self._path(document_id).exists() or self._password_path(document_id).exists()

    def delete(self, document_id: str) -> None:
        """Remove an original and its password; one that is not there is fine."""
        self._password_path(document_id).unlink(missing_ok=True)
        self._path(document_id).unlink(missing_ok=True)

    def hold(self) -> None:
        """Take this instance's lock now (otherwise the first temporary file does), so that others see it alive."""
        self._scratch_folder()

    def is_dead(self, owner: str) -> bool:
        """Tell whether `owner` held a lock here and is gone; one never seen here is not called dead."""
        file = self._scratch_root / f"{owner}.lock"
        if owner == self._scratch.name or not file.exists():
            return False
        try:
            with FileLock(file).acquire(blocking=False):
                return True
        except Timeout:
            return False

    def stored(self, before: float) -> Iterator[str]:
        """Yield the ids of originals last written before a POSIX time."""
        for path in self._folder.glob("*/*.original"):
            if path.stat().st_mtime < before:
                yield path.stem

    def sweep(self) -> int:
        """Remove scratch folders whose process is gone; return how many."""
        swept = 0
        for folder in self._scratch_root.glob("*/"):
            if folder == self._scratch:
                continue
            lock = FileLock(f"{folder}.lock")
            try:
                with lock.acquire(blocking=False):
                    shutil.rmtree(folder)
                    swept += 1
            except Timeout:
                continue
            Path(lock.lock_file).unlink(missing_ok=True)
        return swept

    def close(self) -> None:
        """Remove the scratch folder and free its lock."""
        if self._lock is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._lock.release()
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock = None

    def _read(self, tenant: str, document_id: str) -> Iterator[bytes]:
        damaged = DamagedOriginalError(f"document {document_id!r}: the stored original cannot be read")
        try:
            file = self._path(document_id).open("rb")
        except FileNotFoundError as exc:
            raise DamagedOriginalError(f"document {document_id!r}: the stored original is missing") from exc
        with file:
            head = file.read(len(_MAGIC) + _SALT_BYTES)
            if len(head) < len(_MAGIC) + _SALT_BYTES or not head.startswith(_MAGIC):
                raise damaged
            cipher = self._cipher(tenant, document_id, head[len(_MAGIC) :])
            number = 0
            sealed = file.read(_PIECE + _TAG_BYTES)
            while True:
                following = file.read(_PIECE + _TAG_BYTES)
                try:
                    yield cipher.decrypt(_nonce(number, last=not following), sealed, None)
                except InvalidTag as exc:
                    raise damaged from exc
                if not following:
                    return
                sealed, number = following, number + 1

    def _cipher(self, tenant: str, document_id: str, salt: bytes, kind: str = "original") -> AESGCM:
        context = f"attest {kind} {tenant} {document_id}".encode()
        return AESGCM(HKDF(algorithm=SHA256(), length=32, salt=salt, info=context).derive(self._key))

    def _path(self, document_id: str) -> Path:
        if len(document_id) < 8 or not document_id.isalnum():
            raise ValueError("a document id is letters and digits alone")
        return self._folder / document_id[:2] / f"{document_id}.original"

    def _password_path(self, document_id: str) -> Path:
        return self._path(document_id).with_suffix(".password")

    def _scratch_folder(self) -> Path:
        # The first upload and the worker may both come first: who comes second finds lock and folder there.
        with self._taking:
            if self._lock is None:
                self._lock = self._taken()
        return self._scratch

    def _taken(self) -> FileLock:
        self._scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A folder above the one that is asked for is made with the mode of the environment.
        self._folder.chmod(0o700)
        # The lock comes first, so that a sweep never meets a folder that looks abandoned.
        lock = FileLock(f"{self._scratch}.lock", thread_local=False)
        lock.acquire(timeout=5)
        self._scratch.mkdir(mode=0o700, exist_ok=True)
        return lock


class OriginalWriter:
    """Encrypts a file piece by piece; memory stays at about two pieces."""

    def __init__(self, file: BinaryIO, salt: bytes, cipher: AESGCM, part: Path, target: Path, max_bytes: int) -> None:
        self._file = file
        self._cipher = cipher
        self._part = part
        self._target = target
        self._max_bytes = max_bytes
        self._hash = hashlib.sha256()
        self._size = 0
        self._waiting = bytearray()
        self._number = 0
        file.write(_MAGIC + salt)

    def feed(self, content: bytes) -> None:
        """Take the next bytes.

        Raises:
            DocumentTooLargeError: above the size limit.
        """
        self._size += len(content)
        if self._size > self._max_bytes:
            raise DocumentTooLargeError(f"the file is above the limit of {self._max_bytes} bytes")
        self._hash.update(content)
        self._waiting += content
        # One piece is always held back: only `commit` knows which is the last.
        while len(self._waiting) > _PIECE:
            self._seal(bytes(self._waiting[:_PIECE]), last=False)
            del self._waiting[:_PIECE]

    def commit(self) -> StoredOriginal:
        """Make the file durable under its name, at once and whole."""
        self._seal(bytes(self._waiting), last=True)
        self._waiting.clear()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._part.replace(self._target)
        sync_folder(self._target.parent)
        return StoredOriginal(self._size, self._hash.hexdigest())

    def _seal(self, piece: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, last=last), piece, None))
        self._number += 1


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\x01" if last else b"\x00")


def _create(path: Path) -> BinaryIO:
    # 0600 from the first moment on, not after a chmod.
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
