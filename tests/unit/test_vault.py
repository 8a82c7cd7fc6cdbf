"""Secrets behind pseudonyms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from ingest.errors import NotPermittedError, UnknownSecretError, VaultKeyError
from ingest.fakes import ManualClock, sqlite_engine
from ingest.lifecycle import Lifecycle
from ingest.tables import reveals, vault
from ingest.types import DocumentMeta
from ingest.vault import Vault
from retrieval.types import Principal

KEY = bytes(range(32))
ANN = Principal(tenant="acme", user="ann", rights=frozenset({"reveal"}))
PHONE = "[PHONE_k3f9a2mq7x4tw]"
VALUE = "13800138000"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = sqlite_engine(tmp_path)
    yield engine
    engine.dispose()


def document(engine: Engine, access: frozenset[str] = frozenset({"everyone"}), who: Principal = ANN) -> str:
    lifecycle = Lifecycle(engine, clock=ManualClock())
    document_id = lifecycle.new_document_id()
    with engine.begin() as connection:
        lifecycle.register(connection, who, document_id, f"{document_id}.txt", DocumentMeta(access=access), 1)
    return document_id


def outcomes(engine: Engine) -> list[tuple[str, str, str]]:
    with engine.connect() as connection:
        rows = connection.execute(select(reveals.c.user, reveals.c.reason, reveals.c.outcome).order_by(reveals.c.at))
        return [tuple(row) for row in rows]


def test_vault_reveals_what_was_written_and_logs_it(engine: Engine) -> None:
    kept = Vault(engine, KEY)
    kept.write("acme", document(engine), {PHONE: VALUE})
    assert kept.reveal(ANN, PHONE, "call the customer back") == VALUE
    assert outcomes(engine) == [("ann", "call the customer back", "revealed")]


def test_vault_stores_no_plain_value(engine: Engine, tmp_path: Path) -> None:
    Vault(engine, KEY).write("acme", document(engine), {PHONE: VALUE})
    assert VALUE.encode() not in (tmp_path / "ingest.db").read_bytes()


def test_vault_refuses_and_logs_without_the_right(engine: Engine) -> None:
    kept = Vault(engine, KEY)
    kept.write("acme", document(engine), {PHONE: VALUE})
    with pytest.raises(NotPermittedError):
        kept.reveal(Principal(tenant="acme", user="bob"), PHONE, "curious")
    assert outcomes(engine) == [("bob", "curious", "refused")]


def test_vault_hides_what_only_unseen_documents_carry(engine: Engine) -> None:
    kept = Vault(engine, KEY)
    kept.write("acme", document(engine, frozenset({"group:hr"})), {PHONE: VALUE})
    rights = frozenset({"reveal"})
    for stranger in (
        Principal(tenant="acme", user="bob", rights=rights),
        Principal(tenant="x", user="ann", rights=rights),
    ):
        with pytest.raises(UnknownSecretError):
            kept.reveal(stranger, PHONE, "why not")
    clerk = Principal(tenant="acme", user="bob", groups=frozenset({"hr"}), rights=rights)
    assert kept.reveal(clerk, PHONE, "payroll") == VALUE


def test_vault_needs_a_reason(engine: Engine) -> None:
    with pytest.raises(ValueError, match="reason"):
        Vault(engine, KEY).reveal(ANN, PHONE, "  ")


def test_vault_write_twice_keeps_one_entry(engine: Engine) -> None:
    kept, one = Vault(engine, KEY), document(engine)
    kept.write("acme", one, {PHONE: VALUE})
    with engine.connect() as connection:
        before = connection.execute(select(vault)).all()
    kept.write("acme", one, {PHONE: VALUE})
    with engine.connect() as connection:
        assert connection.execute(select(vault)).all() == before


def test_vault_forget_keeps_values_that_another_document_carries(engine: Engine) -> None:
    kept, one, two = Vault(engine, KEY), document(engine), document(engine)
    mail = "[EMAIL_aaaaaaaaaaaaa]"
    kept.write("acme", one, {PHONE: VALUE, mail: "li@example.com"})
    kept.write("acme", two, {PHONE: VALUE})
    assert kept.count("acme", one) == 1
    assert kept.forget("acme", one) == 1
    assert kept.reveal(ANN, PHONE, "still there") == VALUE
    with pytest.raises(UnknownSecretError):
        kept.reveal(ANN, mail, "gone")
    assert kept.forget("acme", two) == 1
    assert kept.forget("acme", two) == 0
    with engine.connect() as connection:
        assert connection.execute(select(vault)).all() == []


def test_vault_takes_thousands_of_secrets_at_once(engine: Engine) -> None:
    kept, one = Vault(engine, KEY), document(engine)
    kept.write("acme", one, {f"[PHONE_{n:013d}]": str(n) for n in range(1500)})
    assert kept.count("acme", one) == 1500
    assert kept.forget("acme", one) == 1500


def test_vault_wrong_key_neither_reads_nor_writes(engine: Engine) -> None:
    Vault(engine, KEY).write("acme", document(engine), {PHONE: VALUE})
    other = Vault(engine, bytes(32))
    with pytest.raises(VaultKeyError):
        other.reveal(ANN, PHONE, "try")
    with pytest.raises(VaultKeyError):
        other.write("acme", document(engine), {"[PHONE_bbbbbbbbbbbbb]": "1"})
    with pytest.raises(VaultKeyError):
        Vault(engine, b"short")


def test_vault_entry_does_not_open_under_another_pseudonym(engine: Engine) -> None:
    kept, one = Vault(engine, KEY), document(engine)
    other = "[PHONE_bbbbbbbbbbbbb]"
    kept.write("acme", one, {PHONE: VALUE, other: "2"})
    with engine.begin() as connection:
        stolen = connection.execute(select(vault.c.ciphertext).where(vault.c.pseudonym == PHONE)).scalar_one()
        connection.execute(vault.update().where(vault.c.pseudonym == other).values(ciphertext=stolen))
    with pytest.raises(VaultKeyError):
        kept.reveal(ANN, other, "swap")
