"""Encrypted originals."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import DamagedOriginalError, DocumentTooLargeError, VaultKeyError
from ingest.originals import Originals, StoredOriginal

KEY = bytes(range(32))
ID = "0123456789abcdef0123456789abcdef"
MIB = 1024 * 1024


def store(originals: Originals, content: bytes, *, tenant: str = "acme", piece: int = 70_001) -> StoredOriginal:
    with originals.writing(tenant, ID, max_bytes=10 * MIB) as writer:
        for at in range(0, len(content), piece):
            writer.feed(content[at : at + piece])
        return writer.commit()


def read(originals: Originals, *, tenant: str = "acme") -> bytes:
    with originals.plain(tenant, ID) as path:
        return path.read_bytes()


def sealed(folder: Path) -> Path:
    return folder / ID[:2] / f"{ID}.original"


@pytest.mark.parametrize("size", [0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB])
def test_originals_give_back_what_was_stored(tmp_path: Path, size: int) -> None:
    originals = Originals(tmp_path, KEY, "me")
    content = random.Random(size).randbytes(size)
    stored = store(originals, content)
    assert stored == StoredOriginal(size, hashlib.sha256(content).hexdigest())
    assert read(originals) == content
    originals.close()


def test_originals_keep_no_plain_bytes_and_no_name(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "me")
    store(originals, b"the salary of Mr Li" * 100)
    originals.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [sealed(tmp_path)]
    assert b"salary" not in files[0].read_bytes()
    assert files[0].stat().st_mode & 0o777 == 0o600


def test_originals_plain_copy_is_private_and_goes_away(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "me")
    store(originals, b"text")
    with originals.plain("acme", ID) as path:
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not path.exists()
    with pytest.raises(RuntimeError), originals.plain("acme", ID):
        raise RuntimeError
    assert not path.exists()
    originals.close()


def test_originals_abandoned_write_leaves_nothing(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "me")
    with originals.writing("acme", ID, max_bytes=10) as writer:
        writer.feed(b"12345")
        with pytest.raises(DocumentTooLargeError):
            writer.feed(b"678901")
    assert not originals.exists(ID)
    originals.close()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_originals_refuse_any_change(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("originals")
    originals = Originals(folder, KEY, "me")
    store(originals, b"0123456789" * 20)
    content = bytearray(sealed(folder).read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    cut = data.draw(st.booleans())
    if cut:
        del content[at:]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    sealed(folder).write_bytes(content)
    with pytest.raises(DamagedOriginalError):
        read(originals)
    originals.close()


def test_originals_refuse_pieces_cut_or_swapped_at_their_borders(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "me")
    store(originals, os.urandom(3 * MIB))
    content, piece = sealed(tmp_path).read_bytes(), MIB + 16
    for changed in (
        content[: 20 + piece],
        content[: 20 + 2 * piece],
        content[:20] + content[20 + piece : 20 + 2 * piece] + content[20 : 20 + piece] + content[20 + 2 * piece :],
    ):
        sealed(tmp_path).write_bytes(changed)
        with pytest.raises(DamagedOriginalError):
            read(originals)
    originals.close()


def test_originals_belong_to_tenant_and_key(tmp_path: Path) -> None:
    originals, other = Originals(tmp_path, KEY, "me"), Originals(tmp_path, bytes(32), "you")
    store(originals, b"text")
    with pytest.raises(DamagedOriginalError):
        read(originals, tenant="other")
    with pytest.raises(DamagedOriginalError):
        read(other)
    with pytest.raises(VaultKeyError):
        Originals(tmp_path, b"short", "x")
    originals.close()
    other.close()


def test_originals_delete_is_repeatable_and_missing_says_so(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "me")
    store(originals, b"text")
    originals.delete(ID)
    originals.delete(ID)
    assert not originals.exists(ID)
    with pytest.raises(DamagedOriginalError, match="missing"):
        read(originals)
    originals.close()


@pytest.mark.parametrize("name", ["../../../etc/passwd", "a/b" * 8, "", "x" * 4])
def test_originals_take_no_path_for_an_id(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="letters and digits"):
        Originals(tmp_path, KEY, "me").exists(name)


def test_originals_sweep_removes_what_a_killed_process_left_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from ingest.originals import Originals\n"
        "o = Originals(Path(sys.argv[1]), bytes(range(32)), 'dead')\n"
        f"with o.writing('acme', {ID!r}, 100) as w:\n"
        "    w.feed(b'text'); w.commit()\n"
        f"with o.plain('acme', {ID!r}): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=60)
    (left,) = (tmp_path / "scratch" / "dead").glob(f"{ID}.*.plain")
    assert left.read_bytes() == b"text"
    living, me = Originals(tmp_path, KEY, "living"), Originals(tmp_path, KEY, "me")
    with living.plain("acme", ID) as path:
        assert me.sweep() == 1
        assert path.exists()
    assert not left.exists()
    assert read(me) == b"text"
    living.close()
    me.close()


def test_originals_password_is_sealed_to_its_document_and_goes_with_it(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "one")
    first, second = "a" * 32, "b" * 32
    assert originals.password("acme", first) is None
    originals.keep_password("acme", first, "before")
    originals.keep_password("acme", first, "相当秘密")
    originals.keep_password("acme", second, "other")
    assert (originals.password("acme", first), originals.password("acme", second)) == ("相当秘密", "other")
    assert originals.exists(first)
    (file,) = tmp_path.rglob(f"{first}.password")
    assert file.stat().st_mode & 0o777 == 0o600
    assert "相当秘密".encode() not in file.read_bytes()
    for tenant, content in (("other", file.read_bytes()), ("acme", file.read_bytes()[:-1]), ("acme", b"")):
        file.write_bytes(content)
        with pytest.raises(DamagedOriginalError):
            originals.password(tenant, first)
    originals.delete(first)
    originals.delete(first)
    assert (originals.password("acme", first), originals.exists(first)) == (None, False)
    originals.close()


def test_originals_folder_for_what_is_inside_is_private_and_goes_with_all_its_files(tmp_path: Path) -> None:
    originals = Originals(tmp_path, KEY, "one")

    def broken(folder: Path) -> None:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "0001").write_bytes(b"plain")
        raise RuntimeError

    with pytest.raises(RuntimeError), originals.inside("a" * 32) as folder:
        broken(folder)
    assert not folder.exists()
    originals.close()


def test_originals_keep_a_password_while_another_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = Originals(tmp_path, KEY, "one")
    document = "a" * 32
    real = os.fsync

    def meanwhile(handle: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        originals.keep_password("acme", document, "second")
        real(handle)

    monkeypatch.setattr(os, "fsync", meanwhile)
    originals.keep_password("acme", document, "first")
    assert originals.password("acme", document) == "first"
    assert not list(tmp_path.rglob("*.part"))


def test_originals_first_used_by_many_threads_at_once_serve_all(tmp_path: Path) -> None:
    for number in range(20):
        originals = Originals(tmp_path / "originals", KEY, f"owner-{number}")
        together = Barrier(8)

        def first(at: int, originals: Originals = originals, together: Barrier = together) -> None:
            together.wait(timeout=30)
            if at % 2:
                originals.hold()
            else:
                with originals.writing("acme", f"{at:032x}", max_bytes=MIB) as writer:
                    writer.feed(b"x")
                    writer.commit()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(first, range(8)))
        originals.close()
