"""The vault: values behind pseudonyms, encrypted, per tenant.

Written before the index, so that no pseudonym is ever visible without its value. Revealing
needs the right `reveal`, a reason, and access to a document that carries the pseudonym;
every attempt is logged, also the refused one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, Delete, Engine, Select, delete, exists, func, insert, select

from ingest.catalog import Clock, utc_now, visible_to
from ingest.errors import NotPermittedError, UnknownSecretError, VaultKeyError
from ingest.retrying import once_more
from ingest.reveals import RevealLog
from ingest.tables import documents, erased_uses, pseudonym_renames, vault, vault_uses
from retrieval.types import Principal

_NONCE_BYTES = 12
_MIN_KEY_BYTES = 32
# Bound variables of one statement; SQLite's old limit is 999.
_MANY = 400


class Vault:
    """Keeps secrets under a key that only the deployment holds."""

    def __init__(
        self,
        engine: Engine,
        key: bytes,
        *,
        clock: Clock = utc_now,
        log: RevealLog | None = None,
    ) -> None:
        """Take the master key, at least 32 random bytes, and the log of reveals (None: one that hides nothing).

        Raises:
            VaultKeyError: the key is too short.
        """
        if len(key) < _MIN_KEY_BYTES:
            raise VaultKeyError(f"the vault key needs at least {_MIN_KEY_BYTES} bytes")
        self._engine = engine
        self._key = key
        self._key_id = _derive(key, b"key id")[:8].hex()
        self._clock = clock
        self._log = log or RevealLog(engine, clock=clock)

    def write(self, tenant: str, document_id: str, secrets: Mapping[str, str]) -> None:
        """Keep pseudonym → value for a document; writing again changes nothing.

        Raises:
            VaultKeyError: the tenant's vault was written under another key.
        """
        if not secrets:
            return
        once_more(lambda: self._write(tenant, document_id, secrets))

    def reveal(self, principal: Principal, pseudonym: str, reason: str) -> str:
        """Return the value behind a pseudonym, and log who saw it and why.

        Raises:
            NotPermittedError: without the right `reveal`.
            ValueError: without a reason.
            UnknownSecretError: no document that the principal may see carries it.
            VaultKeyError: it was written under another key.
        """
        values = self.reveal_all(principal, [pseudonym], reason)
        if pseudonym not in values:
            raise UnknownSecretError("pseudonym not found")
        return values[pseudonym]

    def reveal_all(
        self, principal: Principal, pseudonyms: Collection[str], reason: str, *, place: str = ""
    ) -> dict[str, str]:
        """Return the values behind those pseudonyms that a document carries which the principal may see.

        Each pseudonym is logged, also one that stays hidden.

        Args:
            principal: needs the right `reveal`.
            pseudonyms: any texts; what is no pseudonym is not found.
            reason: why.
            place: where the values will be shown, for the log.

        Raises:
            NotPermittedError: without the right `reveal`.
            ValueError: without a reason.
            VaultKeyError: a value was written under another key, or was changed.
        """
        wanted = sorted(set(pseudonyms))
        self.permit(principal, wanted, reason, place=place)
        try:
            values = self._opened(principal, wanted)
        except VaultKeyError:
            self._log.write(principal, wanted, reason, "failed", place=place)
            raise
        # Logged before they are handed out: no value leaves without a trace.
        self._log.write(principal, [each for each in wanted if each not in values], reason, "unknown", place=place)
        self._log.write(principal, list(values), reason, "revealed", place=place)
        return values

    def permit_reveal(self, principal: Principal, place: str, reason: str) -> None:
        """Permit a principal to see secrets where they stand (a page's picture), and log who, where and why.

        Raises:
            NotPermittedError: without the right `reveal`.
            ValueError: without a reason.
        """
        self.permit(principal, [""], reason, place=place)
        self._log.write(principal, [""], reason, "revealed", place=place)

    def permit(self, principal: Principal, pseudonyms: Collection[str], reason: str, *, place: str = "") -> None:
        """Let a principal pass who may reveal and says why; a refusal is logged.

        Raises:
            NotPermittedError: without the right `reveal`.
            ValueError: without a reason.
        """
        if not principal.may("reveal"):
            self._log.write(principal, pseudonyms or [""], reason, "refused", place=place)
            raise NotPermittedError(f"user {principal.user!r} may not reveal secrets")
        if not reason.strip():
            raise ValueError("a reveal needs a reason")

    def carried(self, tenant: str, document_id: str) -> set[str]:
        """Return the pseudonyms that a document carries on record."""
        with self._engine.connect() as connection:
            return set(connection.execute(_uses(tenant, document_id)).scalars())

    def count(self, tenant: str, document_id: str) -> int:
        """Count the pseudonyms that only this document carries."""
        with self._engine.connect() as connection:
            return len(_only_here(connection, tenant, document_id))

    def forget(self, tenant: str, document_id: str) -> int:
        """Remove a document's uses and the values no other document carries; return how many values went."""
        with self._engine.begin() as connection:
            alone = _only_here(connection, tenant, document_id)
            connection.execute(
                delete(vault_uses).where(vault_uses.c.tenant == tenant, vault_uses.c.document_id == document_id)
            )
            connection.execute(_erased_uses(tenant, document_id))
            _remove_unused(connection, tenant, alone)
        return len(alone)

    def write_erased(self, tenant: str, document_id: str, fingerprints: Collection[str]) -> None:
        """Note which erased values stand in a document's original; what was noted before gives way. Repeatable."""

        def write() -> None:
            with self._engine.begin() as connection:
                connection.execute(_erased_uses(tenant, document_id))
                if fingerprints:
                    rows = [
                        {"tenant": tenant, "fingerprint": each, "document_id": document_id}
                        for each in sorted(fingerprints)
                    ]
                    connection.execute(insert(erased_uses), rows)

        once_more(write)

    def erased_in(self, tenant: str, fingerprints: Collection[str]) -> set[str]:
        """Return the documents whose original holds one of these erased values."""
        found: set[str] = set()
        with self._engine.connect() as connection:
            for some in _slices(sorted(fingerprints)):
                found |= set(
                    connection.execute(
                        select(erased_uses.c.document_id).where(
                            erased_uses.c.tenant == tenant, erased_uses.c.fingerprint.in_(some)
                        )
                    ).scalars()
                )
        return found

    def remove(self, tenant: str, pseudonyms: Collection[str]) -> int:
        """Remove values for good, whoever carries them; who does stays on record until it is read again."""
        removed = 0
        for some in _slices(sorted(pseudonyms)):
            with self._engine.begin() as connection:
                gone = connection.execute(delete(vault).where(vault.c.tenant == tenant, vault.c.pseudonym.in_(some)))
                removed += gone.rowcount
        return removed

    def count_of(self, tenant: str, pseudonyms: Collection[str]) -> int:
        """Count those of these pseudonyms that have a value."""
        counted = 0
        with self._engine.connect() as connection:
            for some in _slices(sorted(pseudonyms)):
                here = select(func.count()).where(vault.c.tenant == tenant, vault.c.pseudonym.in_(some))
                counted += connection.execute(here).scalar_one()
        return counted

    def forget_unknown(self, document_id: str) -> None:
        """Remove what was kept for a document that was never registered: its upload was killed."""
        with self._engine.connect() as connection:
            used = select(vault_uses.c.tenant).where(vault_uses.c.document_id == document_id).distinct()
            tenants = list(connection.execute(used).scalars())
        for tenant in tenants:
            self.forget(tenant, document_id)

    def keep_only(self, tenant: str, document_id: str, pseudonyms: Collection[str]) -> int:
        """Remove a document's other uses, and values that no document carries any more; return how many values."""
        with self._engine.begin() as connection:
            written = connection.execute(_uses(tenant, document_id)).scalars()
            gone = sorted(set(written) - set(pseudonyms))
            alone = sorted(set(_only_here(connection, tenant, document_id)) & set(gone))
            for some in _slices(gone):
                connection.execute(
                    delete(vault_uses).where(
                        vault_uses.c.tenant == tenant,
                        vault_uses.c.document_id == document_id,
                        vault_uses.c.pseudonym.in_(some),
                    )
                )
            _remove_unused(connection, tenant, alone)
        return len(alone)

    def values(self, tenant: str, pseudonyms: Collection[str]) -> dict[str, str]:
        """Return pseudonym → value for those that are kept: for work inside, never for a caller.

        Raises:
            VaultKeyError: a value was written under another key.
        """
        found: dict[str, str] = {}
        with self._engine.connect() as connection:
            for some in _slices(sorted(pseudonyms)):
                rows = connection.execute(
                    select(vault.c.pseudonym, vault.c.ciphertext, vault.c.key_id).where(
                        vault.c.tenant == tenant, vault.c.pseudonym.in_(some)
                    )
                ).all()
                for row in rows:
                    if row.key_id != self._key_id:
                        raise VaultKeyError("the vault was written under another key")
                    found[row.pseudonym] = self._decrypt(tenant, row.pseudonym, row.ciphertext)
        return found

    def pseudonyms_of(self, tenant: str, wanted: Callable[[str], bool]) -> set[str]:
        """Return the pseudonyms of all values that are wanted; every value is looked at, none leaves.

        Raises:
            VaultKeyError: a value was written under another key.
        """
        return {pseudonym for pseudonym, value in self.every(tenant) if wanted(value)}

    def every(self, tenant: str) -> Iterator[tuple[str, str]]:
        """Yield pseudonym and value of everything that is kept: for work inside, never for a caller."""
        last = ""
        while True:
            with self._engine.connect() as connection:
                some = connection.execute(
                    select(vault.c.pseudonym)
                    .where(vault.c.tenant == tenant, vault.c.pseudonym > last)
                    .order_by(vault.c.pseudonym)
                    .limit(_MANY)
                ).scalars()
                pseudonyms = list(some)
            if not pseudonyms:
                return
            yield from sorted(self.values(tenant, pseudonyms).items())
            last = pseudonyms[-1]

    def _opened(self, principal: Principal, pseudonyms: list[str]) -> dict[str, str]:
        carried = exists(
            select(vault_uses.c.pseudonym)
            .join(documents, documents.c.document_id == vault_uses.c.document_id)
            .where(
                vault_uses.c.tenant == principal.tenant,
                vault_uses.c.pseudonym == vault.c.pseudonym,
                documents.c.state != "deleted",
                visible_to(principal),
            )
        )
        # One of a former key leads to the one that its value has now.
        renamed = pseudonym_renames
        values: dict[str, str] = {}
        with self._engine.connect() as connection:
            present: dict[str, str] = {}
            for some in _slices(pseudonyms):
                leads = select(renamed.c.old, renamed.c.new).where(
                    renamed.c.tenant == principal.tenant, renamed.c.old.in_(some)
                )
                present |= {row.old: row.new for row in connection.execute(leads)}
            for some in _slices(sorted({*pseudonyms, *present.values()})):
                rows = connection.execute(
                    select(vault.c.pseudonym, vault.c.ciphertext, vault.c.key_id).where(
                        vault.c.tenant == principal.tenant, vault.c.pseudonym.in_(some), carried
                    )
                )
                for row in rows:
                    if row.key_id != self._key_id:
                        raise VaultKeyError("the vault was written under another key")
                    values[row.pseudonym] = self._decrypt(principal.tenant, row.pseudonym, row.ciphertext)
        values |= {old: values[new] for old, new in present.items() if new in values}
        return {each: values[each] for each in pseudonyms if each in values}

    def _write(self, tenant: str, document_id: str, secrets: Mapping[str, str]) -> None:
        with self._engine.begin() as connection:
            foreign = select(vault.c.pseudonym).where(vault.c.tenant == tenant, vault.c.key_id != self._key_id)
            if connection.execute(foreign.limit(1)).first() is not None:
                raise VaultKeyError("the vault was written under another key; give the key that wrote it")
            # Uses first: from then on a `forget` of another document leaves these values alone.
            self._write_uses(connection, tenant, document_id, sorted(secrets))
            for some in _slices(sorted(secrets)):
                known = set(connection.execute(_locked(tenant, some)).scalars())
                rows = [
                    {
                        "tenant": tenant,
                        "pseudonym": pseudonym,
                        "key_id": self._key_id,
                        "ciphertext": self._encrypt(tenant, pseudonym, secrets[pseudonym]),
                        "created_at": self._clock(),
                    }
                    for pseudonym in some
                    if pseudonym not in known
                ]
                if rows:
                    connection.execute(insert(vault), rows)

    def _write_uses(self, connection: Connection, tenant: str, document_id: str, pseudonyms: list[str]) -> None:
        written = connection.execute(_uses(tenant, document_id)).scalars()
        new = sorted(set(pseudonyms) - set(written))
        if new:
            connection.execute(
                insert(vault_uses),
                [{"tenant": tenant, "pseudonym": each, "document_id": document_id} for each in new],
            )

    def _encrypt(self, tenant: str, pseudonym: str, value: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher(tenant).encrypt(nonce, value.encode(), pseudonym.encode())

    def _decrypt(self, tenant: str, pseudonym: str, ciphertext: bytes) -> str:
        try:
            plain = self._cipher(tenant).decrypt(
                ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], pseudonym.encode()
            )
        except InvalidTag as exc:
            raise VaultKeyError("a vault entry fails its integrity check") from exc
        return plain.decode()

    def _cipher(self, tenant: str) -> AESGCM:
        return AESGCM(_derive(self._key, b"vault " + tenant.encode()))


def _derive(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=b"attest " + purpose).derive(key)


def _uses(tenant: str, document_id: str) -> Select[str]:
    return select(vault_uses.c.pseudonym).where(vault_uses.c.tenant == tenant, vault_uses.c.document_id == document_id)


def _erased_uses(tenant: str, document_id: str) -> Delete:
    return delete(erased_uses).where(erased_uses.c.tenant == tenant, erased_uses.c.document_id == document_id)


def _only_here(connection: Connection, tenant: str, document_id: str) -> list[str]:
    alone = (
        select(vault_uses.c.pseudonym)
        .where(vault_uses.c.tenant == tenant, vault_uses.c.pseudonym.in_(_uses(tenant, document_id)))
        .group_by(vault_uses.c.pseudonym)
        .having(func.count() == 1)
    )
    return list(connection.execute(alone).scalars())


def _remove_unused(connection: Connection, tenant: str, pseudonyms: list[str]) -> None:
    """Remove values that no document carries any more."""
    used_again = exists(
        select(vault_uses.c.pseudonym).where(vault_uses.c.tenant == tenant, vault_uses.c.pseudonym == vault.c.pseudonym)
    )
    for some in _slices(pseudonyms):
        connection.execute(_locked(tenant, some))
        connection.execute(delete(vault).where(vault.c.tenant == tenant, vault.c.pseudonym.in_(some), ~used_again))


def _locked(tenant: str, pseudonyms: list[str]) -> Select[str]:
    # The row lock (PostgreSQL; SQLite has one writer anyway) orders a `write` and a `forget`
    # of the same value, so that neither acts on what the other is about to change.
    return (
        select(vault.c.pseudonym)
        .where(vault.c.tenant == tenant, vault.c.pseudonym.in_(pseudonyms))
        .order_by(vault.c.pseudonym)
        .with_for_update()
    )


def _slices(items: list[str]) -> list[list[str]]:
    return [items[at : at + _MANY] for at in range(0, len(items), _MANY)]
