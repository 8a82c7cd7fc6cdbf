"""E-mail messages: head, body once, charsets, quotes, messages inside, attachments, hostile ones."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, IngestError, NoTextError
from ingest.parsers.mail.eml import parse_eml
from ingest.parsers.mail.mail_headers import address_text, header_text
from ingest.parsers.mail.mail_text import text_blocks
from ingest.parsers.session import QuietSession
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()
HEAD = "From: Ann <ann@a.example>\nTo: bob@b.example\nSubject: Offer\nMIME-Version: 1.0\n"


class Collecting(QuietSession):
    """A session that takes every attachment."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: dict[str, bytes] = {}

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        self.taken[name] = b"".join(pieces)
        return True


def parsed(folder: Path, content: str | bytes, session: QuietSession | None = None) -> ParsedDocument:
    path = folder / "message"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_eml(path, "m.eml", LIMITS, session or QuietSession())


def multipart(kind: str, *parts: str) -> str:
    """A multipart body with its content type; parts bring their own headers."""
    inner = "".join(f"--{kind}\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{kind}"\n\n{inner}--{kind}--\n'


def texts(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks]


def test_eml_head_is_the_first_paragraph_and_the_subject_the_title(tmp_path: Path) -> None:
    document = parsed(
        tmp_path, f"{HEAD}Cc: c@c.example\nDate: Tue, 1 Oct 2024 12:34:56 -0500\n\nHello,\n\nthe offer.\n"
    )
    assert document.title == "Offer"
    assert document.page_count is None
    assert texts(document) == [
        "From: Ann <ann@a.example>\nTo: bob@b.example\nCc: c@c.example\n"
        "Date: Tue, 1 Oct 2024 12:34:56 -0500\nSubject: Offer",
        "Hello,",
        "the offer.",
    ]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("=?utf-8?q?=E4=B8=AD=E6=96=87?= x", "中文 x"),
        ("=?gb2312?B?1tDOxA==?=", "中文"),
        # one character cut in half between two words
        ("=?utf-8?b?5Lit5g==?= =?utf-8?b?loc=?=", "中文"),
        ("=?iso-8859-1?q?caf=E9?=\n =?utf-8?q?_=C3=A9?=", "café é"),
        ("=?nonsense?q?a=20b?=", "a b"),
        ("=?utf-8?b?!!!?=", ""),
        ("plain", "plain"),
    ],
)
def test_header_words_are_decoded(raw: str, text: str) -> None:
    assert header_text(raw) == text


def test_header_with_raw_gbk_bytes_is_read(tmp_path: Path) -> None:
    subject = "关于二〇二四年第三季度营业收入的说明和补充材料".encode("gb18030")
    document = parsed(tmp_path, b"From: a@b.example\nSubject: " + subject + b"\n\nText\n")
    assert document.title == "关于二〇二四年第三季度营业收入的说明和补充材料"


def test_addresses_keep_names_and_lose_quotes() -> None:
    assert address_text('"Doe, Ann" <ann@a.example>, =?utf-8?b?5Lit5paH?= <z@z.example>') == (
        "Doe, Ann <ann@a.example>, 中文 <z@z.example>"
    )
    assert address_text("a@a.example <a@a.example>") == "a@a.example"
    assert address_text("undisclosed recipients") == "undisclosed recipients"


def test_eml_alternative_is_read_once_and_the_html_gives_the_structure(tmp_path: Path) -> None:
    html = "<p>Prices:<table border=1><tr><th>A<th>B<tr><td>1<td>2</table>"
    body = multipart("alternative", "Content-Type: text/plain\n\nPrices: A B 1 2", f"Content-Type: text/html\n\n{html}")
    document = parsed(tmp_path, HEAD + body)
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "table"]
    assert document.blocks[2].rows == (("A", "B"), ("1", "2"))


def test_eml_alternative_with_an_html_stub_is_read_as_text(tmp_path: Path) -> None:
    body = multipart(
        "alternative",
        "Content-Type: text/plain\n\nThe whole offer with all its prices.",
        "Content-Type: text/html\n\n<p>Open in browser",
    )
    assert texts(parsed(tmp_path, HEAD + body))[1:] == ["The whole offer with all its prices."]


def test_eml_attachments_are_handed_on_and_named(tmp_path: Path) -> None:
    content = base64.b64encode(b"%PDF-1.4 x").decode()
    pdf = (
        "Content-Type: application/pdf\nContent-Disposition: attachment;"
        " filename*=utf-8''%E6%8A%A5%E4%BB%B7.pdf\nContent-Transfer-Encoding: base64\n\n" + content
    )
    old = 'Content-Type: application/octet-stream; name="=?gbk?B?sai82y54bHM=?="\n\nxls'
    session = Collecting()
    document = parsed(tmp_path, HEAD + multipart("mixed", "Content-Type: text/plain\n\nSee files.", pdf, old), session)
    assert session.taken == {"报价.pdf": b"%PDF-1.4 x", "报价.xls": b"xls"}
    assert "Attachments: 报价.pdf; 报价.xls" in document.blocks[0].text
    assert not document.notes


def test_eml_attachment_that_nobody_takes_is_noted(tmp_path: Path) -> None:
    part = "Content-Type: text/csv\nContent-Disposition: attachment; filename=../../a.csv\n\n1"
    document = parsed(tmp_path, HEAD + multipart("mixed", "Content-Type: text/plain\n\nHi.", part))
    assert document.notes == ("attachment ../../a.csv was not read",)


def test_eml_inline_pictures_are_dropped_and_counted(tmp_path: Path) -> None:
    picture = "Content-Type: image/png\nContent-ID: <p1>\nContent-Disposition: inline; filename=p.png\n\nx"
    session = Collecting()
    body = multipart("related", 'Content-Type: text/html\n\n<p>Hi <img src="cid:p1" alt="Logo">', picture, picture)
    document = parsed(tmp_path, HEAD + body, session)
    assert texts(document)[1:] == ["Hi Logo"]
    assert not session.taken
    assert document.notes == ("2 inline pictures were not read",)


def test_eml_forwarded_message_is_a_section_and_an_attached_one_a_document(tmp_path: Path) -> None:
    inner = "From: eve@e.example\nSubject: First\n\nInner words."
    shown = f"Content-Type: message/rfc822\n\n{inner}"
    attached = f"Content-Type: message/rfc822\nContent-Disposition: attachment\n\n{inner}"
    session = Collecting()
    document = parsed(tmp_path, HEAD + multipart("mixed", "Content-Type: text/plain\n\nFyi", shown, attached), session)
    assert [(block.kind, block.text) for block in document.blocks[1:]] == [
        ("paragraph", "Fyi"),
        ("heading", "First"),
        ("paragraph", "From: eve@e.example\nSubject: First"),
        ("paragraph", "Inner words."),
    ]
    assert list(session.taken) == ["First.eml"]
    assert b"Inner words." in session.taken["First.eml"]


def test_eml_winmail_and_signatures_are_noted(tmp_path: Path) -> None:
    tnef = "Content-Type: application/ms-tnef; name=winmail.dat\n\nx"
    signature = "Content-Type: application/pkcs7-signature; name=smime.p7s\n\nx"
    session = Collecting()
    document = parsed(tmp_path, HEAD + multipart("mixed", "Content-Type: text/plain\n\nHi.", tnef, signature), session)
    assert not session.taken
    assert "winmail.dat" in document.notes[0]
    assert "signed" in document.notes[1]


@pytest.mark.parametrize(
    "head",
    [
        "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIAG\n",
        "Content-Type: multipart/encrypted; boundary=x\n\n--x\nContent-Type: application/pgp-encrypted\n\n--x--\n",
        "Content-Type: text/plain\n\n-----BEGIN PGP MESSAGE-----\n\nhIwD\n",
    ],
)
def test_eml_encrypted_is_said(tmp_path: Path, head: str) -> None:
    with pytest.raises(EncryptedDocumentError, match="decrypted"):
        parsed(tmp_path, HEAD + head)


@pytest.mark.parametrize(
    ("charset", "content", "text"),
    [
        ("gb2312", "营业收入镕".encode("gb18030"), "营业收入镕"),
        ("us-ascii", "naïve".encode(), "naïve"),
        ("x-unknown", "中文内容在这里".encode(), "中文内容在这里"),
        ("idna", b"plain", "plain"),
        ("utf-8", "café latte".encode("cp1252"), "café latte"),
    ],
)
def test_eml_charset_is_believed_only_where_it_fits(tmp_path: Path, charset: str, content: bytes, text: str) -> None:
    head = f"{HEAD}Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n".encode()
    assert texts(parsed(tmp_path, head + content))[1:] == [text]


def test_eml_saved_as_utf16_text_is_read(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        assert texts(parsed(tmp_path, f"{HEAD}\nHello there.\n".encode(encoding)))[1:] == ["Hello there."]


def test_mail_text_keeps_quotes_and_signature() -> None:
    text = "I agree.\n\n> Can we start\n> on Monday?\n>> Sure?\n\nOn Monday.\n-- \nAnn\nAccounts\n"
    assert [block.text for block in text_blocks(text)] == [
        "I agree.",
        "> Can we start\n> on Monday?",
        "> Sure?",
        "On Monday.",
        "Ann\nAccounts",
    ]


def test_mail_text_joins_flowed_lines() -> None:
    text = "This line \ngoes on.\n> quoted \n> words\n中 \n文\n-- \nAnn"
    assert [block.text for block in text_blocks(text, flowed=True, delete_space=True)] == [
        "This linegoes on.",
        "> quotedwords",
        "中文",
        "Ann",
    ]


def test_mail_text_makes_no_headings_of_numbers() -> None:
    assert {block.kind for block in text_blocks("1.2 Results\n\nWords here.")} == {"paragraph"}


def test_eml_endless_nesting_is_refused(tmp_path: Path) -> None:
    lines = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000))
    with pytest.raises(CorruptDocumentError, match="nested"):
        parsed(tmp_path, HEAD + lines)


def test_eml_header_bombs_are_cut(tmp_path: Path) -> None:
    many = "".join(f"X-{n}: y\n" for n in range(50_000))
    document = parsed(
        tmp_path, f"Subject: {'=?utf-8?q?a?= ' * 200_000}\nFrom: {'a@b.example, ' * 50_000}\n{many}\nText.\n"
    )
    assert len(document.blocks[0].text) < 50_000
    assert document.blocks[-1].text == "Text."


def test_eml_of_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoTextError):
        parsed(tmp_path, "\n\n  \n")


@given(st.binary(max_size=300))
@example(b"Content-Type: multipart/mixed; boundary=\n\n--\n--\n")
@example(b"Content-Type: text/plain; charset*0*=x'y'%ff; charset*1=\xff\n\nx")
@example(b"Content-Transfer-Encoding: base64\n\n=====\xff")
@example(b"Content-Transfer-Encoding: x-uuencode\n\nbegin 666 x\n#\xff\nend")
def test_eml_any_bytes_after_a_header_raise_only_our_errors(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        document = parsed(folder, b"From: a@b.example\nSubject: s\n" + tail, Collecting())
    except IngestError:
        return
    assert document.blocks


PIECES = (
    "Content-Type: multipart/mixed; boundary=b\n",
    "Content-Type: multipart/alternative; boundary=b\n",
    "Content-Type: multipart/related; start=x; boundary=b\n",
    "Content-Type: message/rfc822\n",
    "Content-Type: message/delivery-status\n",
    "Content-Type: text/html; charset=utf-16\n",
    "Content-Type: text/plain; format=flowed\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "Content-Disposition: attachment; filename*=''\n",
    "Subject: =?utf-8?b?x?=\n",
    "\n",
    "--b\n",
    "--b--\n",
    "> words =3D \n",
)


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_eml_any_structure_raises_only_our_errors(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp()
    with contextlib.suppress(IngestError):
        parsed(folder, "From: a@b.example\n" + "".join(pieces), Collecting())
