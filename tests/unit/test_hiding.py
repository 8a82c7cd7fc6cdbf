"""Secrets in names of attachments and in notes give way to pseudonyms; endings stay."""

from __future__ import annotations

import re

import pytest

from ingest.cutting import SymbolicCutter
from ingest.hiding import Hidden, hide_meta, hide_names, hide_source
from ingest.settings import ChunkSettings
from ingest.types import Attachment, DocumentMeta, ParsedDocument
from retrieval.symbols.language import load_language
from retrieval.symbols.pseudonyms import PSEUDONYM

CUTTER = SymbolicCutter(load_language(bytes(range(32))), len, 100, ChunkSettings())


def hidden(*names: str, notes: tuple[str, ...] = ()) -> tuple[ParsedDocument, dict[str, str]]:
    attachments = tuple(Attachment(name=name, file=str(at), size_bytes=1) for at, name in enumerate(names))
    parsed = ParsedDocument(format="archive", blocks=(), attachments=attachments, notes=notes)
    return hide_names(parsed, "acme", CUTTER)


@pytest.mark.parametrize(
    ("name", "shape", "values"),
    [
        ("13800138000 ann@acme.com.txt", "* *.txt", ["13800138000", "ann@acme.com"]),
        ("2024/ann@acme.com/report.pdf", "2024/*/report.pdf", ["ann@acme.com"]),
        ("ann@acme.com", "*", ["ann@acme.com"]),
        ("客户 13800138000.xlsx", "客户 *.xlsx", ["13800138000"]),
        ("Q3 2024 report v2.docx", "Q3 2024 report v2.docx", []),
        ("IMG_20240131_101500.jpg", "IMG_20240131_101500.jpg", []),
        ("no ending", "no ending", []),
    ],
)
def test_hiding_takes_secrets_out_of_names_and_leaves_their_endings(name: str, shape: str, values: list[str]) -> None:
    parsed, secrets = hidden(name)
    (attachment,) = parsed.attachments
    assert PSEUDONYM.sub("*", attachment.name) == shape
    assert sorted(secrets.values()) == sorted(values)
    assert set(PSEUDONYM.findall(attachment.name)) == {each[1:].split("_")[0] for each in secrets}
    again, none = hide_names(parsed, "acme", CUTTER)
    assert (again, none) == (parsed, {})


def test_hiding_takes_secrets_out_of_notes() -> None:
    notes = ("the sheet 'zhou.yutong@example.com' is hidden", "page 3 was left out: 12345 bytes")
    parsed, secrets = hidden(notes=notes)
    assert PSEUDONYM.sub("*", parsed.notes[0]) == "the sheet '*' is hidden"
    assert parsed.notes[1] == notes[1]
    assert list(secrets.values()) == ["zhou.yutong@example.com"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("客户 13800138000.xlsx", "客户 *.xlsx"),
        ("papers/138-0013-8000/a.txt", "papers/*/a.txt"),
        ("a\nb 13800138000.txt", "a_b *~"),
        ("x" * 300 + " 13800138000.txt", "x"),
        ("Q3 report.docx", "Q3 report.docx"),
        ("  ", "unnamed"),
    ],
)
def test_hiding_keeps_the_name_of_an_upload_without_secrets(given: str, kept: str) -> None:
    hidden = hide_source(given, "unnamed", "acme", CUTTER)
    assert PSEUDONYM.sub("*", hidden.text).startswith(kept)
    assert "13800138000" not in hidden.text
    assert len(hidden.text) <= 255
    assert hide_source(hidden.text, "unnamed", "acme", CUTTER).text == hidden.text
    assert set(hidden.secrets.values()) <= {"13800138000"}


def test_hiding_names_an_upload_alike_in_every_writing_of_the_secret_in_it() -> None:
    names = ("13800138000.txt", "138 0013 8000.txt", "+86 138-0013-8000.txt")
    assert len({hide_source(name, "unnamed", "acme", CUTTER).text for name in names}) == 1


@pytest.mark.parametrize(
    "unseen", ["\u200d", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u202e", "\x01", "\ufe0f", "\u034f"]
)
@pytest.mark.parametrize("written", ["1{}35-0000-1111.txt", "135{}-0000-1111.txt", "papers/13{}500001111.txt"])
def test_hiding_sees_a_secret_through_characters_that_nobody_sees(unseen: str, written: str) -> None:
    hidden = hide_source(written.format(unseen), "unnamed", "acme", CUTTER)
    assert PSEUDONYM.sub("*", hidden.text) in {"*.txt", "papers/*.txt"}
    assert set(hidden.secrets.values()) == {"13500001111"}
    assert hide_source(hidden.text, "unnamed", "acme", CUTTER).text == hidden.text
    meta, secrets = hide_meta(DocumentMeta(title=f"Card of 135{unseen}00001111"), "acme", CUTTER)
    assert (PSEUDONYM.sub("*", meta.title or ""), set(secrets.values())) == ("Card of *", {"13500001111"})
    parsed, kept = hidden_names(written.format(unseen))
    assert set(kept.values()) == {"13500001111"}
    assert "1111" not in parsed


def hidden_names(name: str) -> tuple[str, dict[str, str]]:
    parsed, secrets = hidden(name)
    return parsed.attachments[0].name, secrets


def test_hiding_leaves_unseen_characters_where_they_part_nothing() -> None:
    names = [hide_source(name, "?", "acme", CUTTER).text for name in ("a\u200db.txt", "a\u200cb.txt", "ab.txt")]
    assert len(set(names)) == 3
    assert names[2] == "ab.txt"


def test_digest_of_a_long_name_is_none_of_its_secret() -> None:
    # Eight digits of a hash would tell a telephone number to who tries all of them.
    one, two = (hide_source(f"{'x' * 300} {phone}.txt", "?", "acme", Blind()).text for phone in ("1", "2"))
    assert one == two


class Blind:
    """Hides every digit behind one pseudonym."""

    def hide(self, text: str, tenant: str) -> Hidden:
        return Hidden(re.sub(r"(?<= )[0-9]+", "[SECRET_aaaaaaaaaaaaa]", text), {})


def test_hiding_takes_secrets_out_of_what_the_uploader_says() -> None:
    meta = DocumentMeta(
        title="Card of 13800138000",
        issuer="ann@acme.com",
        labels=frozenset({"hr", "13800138000"}),
        access=frozenset({"user:ann@acme.com"}),
    )
    kept, secrets = hide_meta(meta, "acme", CUTTER)
    assert sorted(secrets.values()) == ["13800138000", "ann@acme.com"]
    assert PSEUDONYM.sub("*", f"{kept.title}|{kept.issuer}|{sorted(kept.labels)}") == "Card of *|*|['*', 'hr']"
    assert kept.access == meta.access
    assert hide_meta(kept, "acme", CUTTER) == (kept, {})
