"""Keys of the installation and of callers."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from api.auth import KeyRing
from api.errors import SettingsError, UnauthenticatedError
from api.keys import load_key
from api.loopback import is_loopback


def test_key_is_made_once_and_private(tmp_path: Path) -> None:
    first = load_key(tmp_path / "keys", "vault", None)
    assert len(first) == 32
    assert load_key(tmp_path / "keys", "vault", None) == first
    assert load_key(tmp_path / "keys", "pseudonym", None) != first
    assert stat.S_IMODE((tmp_path / "keys" / "vault.key").stat().st_mode) == 0o600
    assert sorted(p.name for p in (tmp_path / "keys").iterdir()) == ["pseudonym.key", "vault.key"]


def test_given_key_wins_and_leaves_no_file(tmp_path: Path) -> None:
    assert load_key(tmp_path / "keys", "vault", "0f" * 32) == b"\x0f" * 32
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("text", ["zz" * 32, "ab" * 31, ""])
def test_malformed_key_is_refused_without_being_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="64 hex digits") as caught:
        load_key(tmp_path, "vault", text)
    assert not text or text not in str(caught.value)


def _ring(tmp_path: Path, text: str) -> KeyRing:
    path = tmp_path / "keys.toml"
    path.write_text(text, encoding="utf-8")
    return KeyRing.read(path)


def test_key_ring_maps_a_key_to_its_principal(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"attest_one").hexdigest()
    ring = _ring(
        tmp_path,
        f'[[keys]]\nsha256 = "{digest}"\n'
        f'principal = {{ tenant = "acme", user = "kim", groups = ["ops"], rights = ["search"] }}\n',
    )
    principal = ring.principal("attest_one")
    assert (principal.tenant, principal.user) == ("acme", "kim")
    assert principal.access_tokens() == {"everyone", "user:kim", "group:ops"}
    assert principal.may("search")
    assert not principal.may("reveal")
    with pytest.raises(UnauthenticatedError):
        ring.principal("attest_two")


@pytest.mark.parametrize(
    "text",
    [
        "[[keys]]\nsha256 = 'short'\nprincipal = { tenant = 'a', user = 'b' }\n",
        "[[keys]]\nsha256 = '" + "0" * 64 + "'\nprincipal = { tenant = '', user = 'b' }\n",
        "[[keys]]\nsha256 = '" + "0" * 64 + "'\nprincipal = { tenant = 'a', user = 'b', rights = ['everything'] }\n",
        "keys = [",
    ],
)
def test_malformed_keys_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="keys"):
        _ring(tmp_path, text)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("evil.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_elsewhere(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_lost_key_of_existing_data_is_told_and_not_replaced(tmp_path: Path) -> None:
    originals = tmp_path / "originals"
    load_key(tmp_path / "keys", "vault", None, needed_by=originals)
    (originals / "0a").mkdir(parents=True)
    (originals / "0a" / "document").write_bytes(b"sealed")
    (tmp_path / "keys" / "vault.key").unlink()
    with pytest.raises(SettingsError, match=r"vault\.key is missing.*put the key back"):
        load_key(tmp_path / "keys", "vault", None, needed_by=originals)
    assert not (tmp_path / "keys" / "vault.key").exists()
    assert load_key(tmp_path / "keys", "vault", "0f" * 32, needed_by=originals) == b"\x0f" * 32


def test_key_is_the_operators_only_where_the_file_says_so(tmp_path: Path) -> None:
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(key).hexdigest()}"\n{mark}principal = {{ tenant = "a", user = "b" }}\n'
        for key, mark in ((b"one", "operator = true\n"), (b"two", "operator = false\n"), (b"three", ""))
    ]
    ring = _ring(tmp_path, "\n".join(entries))
    assert [ring.entry(key).operator for key in ("one", "two", "three")] == [True, False, False]
