"""Outlook messages: head, body once, recipients, attachments, messages inside, damaged containers."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, IngestError, NoTextError
from ingest.parsers.mail.eml import parse_eml
from ingest.parsers.mail.msg import parse_msg
from ingest.parsers.mail.rtf_compressed import decompress_rtf
from ingest.parsers.mail.rtf_text import body_of_rtf
from ingest.parsers.session import QuietSession
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()
END, FREE = 0xFFFFFFFE, 0xFFFFFFFF
Tree = dict[str, "bytes | Tree"]


class Collecting(QuietSession):
    """A session that takes every attachment."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: dict[str, bytes] = {}

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        self.taken[name] = b"".join(pieces)
        return True


def compound_file(tree: Tree) -> bytes:
    """Write a compound file whose streams all lie in the mini stream (MS-CFB); siblings form a list, not a tree."""
    entries: list[list[object]] = [["Root Entry", 5, FREE, FREE, END, 0]]
    mini = bytearray()
    mini_fat: list[int] = []

    def add(parent: int, folder: Tree) -> None:
        previous = None
        for name, content in folder.items():
            number = len(entries)
            if isinstance(content, dict):
                entries.append([name, 1, FREE, FREE, 0, 0])
                add(number, content)
            else:
                start, count = len(mini_fat), -(-len(content) // 64)
                mini_fat.extend([*range(start + 1, start + count), END] if count else [])
                mini.extend(content.ljust(count * 64, b"\0"))
                entries.append([name, 2, FREE, FREE, start if count else END, len(content)])
            if previous is None:
                entries[parent][3] = number
            else:
                entries[previous][2] = number
            previous = number

    add(0, tree)
    entries[0][4:] = [0, len(mini)]
    directory = b""
    for name, kind, right, child, start, size in entries:
        raw = str(name).encode("utf-16-le")
        directory += raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw) + 2, kind, 1, FREE, right, child)
        directory += bytes(36) + struct.pack("<IQ", start, size)
    chains = [bytes(mini), b"".join(struct.pack("<I", at) for at in mini_fat), directory]
    sectors, fat, starts = b"", list[int](), list[int]()
    for chain in chains:
        count = max(1, -(-len(chain) // 512))
        starts.append(len(fat))
        fat += [*range(len(fat) + 1, len(fat) + count), END]
        sectors += chain.ljust(count * 512, b"\xff" if chain is chains[1] else b"\0")
    fat_at = len(fat)
    fat.append(0xFFFFFFFD)
    table = b"".join(struct.pack("<I", at) for at in fat).ljust(512, b"\xff")
    assert len(table) == 512
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, 1, starts[2], 0, 4096, starts[1], 1, END, 0)
    head += struct.pack("<I", fat_at) + b"\xff" * 432
    return head + sectors + table


def stream(property_id: int, text: str) -> dict[str, bytes | Tree]:
    return {f"__substg1.0_{property_id:04X}001F": text.encode("utf-16-le")}


def properties(header_bytes: int, **numbers: int) -> dict[str, bytes | Tree]:
    body = b"".join(
        struct.pack("<HHIii", 3, int(name.removeprefix("p"), 16), 6, value, 0) for name, value in numbers.items()
    )
    return {"__properties_version1.0": bytes(header_bytes) + body}


def recipient(kind: int, name: str, address: str) -> Tree:
    return {**properties(8, p0C15=kind), **stream(0x3001, name), **stream(0x3003, address)}


def message(header_bytes: int = 32, **more: bytes | Tree) -> Tree:
    return {
        **properties(header_bytes, p3FFD=936, p3FDE=65001),
        **stream(0x0037, "Offer"),
        **stream(0x0C1A, "Ann"),
        **stream(0x0C1F, "ann@a.example"),
        **stream(0x1000, "Hello,\r\n\r\nthe offer.\r\n"),
        "__recip_version1.0_#00000000": recipient(1, "Bob", "bob@b.example"),
        "__recip_version1.0_#00000001": recipient(2, "c@c.example", "c@c.example"),
        "__recip_version1.0_#00000002": recipient(3, "Dan", "/O=ORG/CN=DAN"),
        **more,
    }


def attachment(name: str, content: bytes, **more: bytes | Tree) -> Tree:
    return {**properties(8, p3705=1), **stream(0x3707, name), "__substg1.0_37010102": content, **more}


def parsed(folder: Path, tree: Tree, session: QuietSession | None = None) -> ParsedDocument:
    path = folder / "message"
    path.write_bytes(compound_file(tree))
    return parse_msg(path, "m.msg", LIMITS, session or QuietSession())


def test_msg_gives_head_and_body(tmp_path: Path) -> None:
    document = parsed(tmp_path, message(**stream(0x007D, "Subject: x\r\nDate: Tue, 1 Oct 2024 12:34:56 -0500\r\n")))
    assert document.title == "Offer"
    assert document.page_count is None
    assert [block.text for block in document.blocks] == [
        "From: Ann <ann@a.example>\nTo: Bob <bob@b.example>\nCc: c@c.example\nBcc: Dan\n"
        "Date: Tue, 1 Oct 2024 12:34:56 -0500\nSubject: Offer",
        "Hello,",
        "the offer.",
    ]


def test_msg_sent_for_another_says_both(tmp_path: Path) -> None:
    document = parsed(tmp_path, message(**stream(0x0042, "Boss"), **stream(0x0065, "boss@a.example")))
    assert document.blocks[0].text.startswith("From: ann@a.example on behalf of Boss <boss@a.example>\n")


def test_msg_date_falls_back_to_the_stored_time(tmp_path: Path) -> None:
    raw = bytes(32) + struct.pack("<HHIQ", 0x40, 0x39, 6, 133_722_504_000_000_000)
    document = parsed(tmp_path, message(**{"__properties_version1.0": raw}))
    assert "Date: Tue, 01 Oct 2024 10:00:00 +0000" in document.blocks[0].text


def test_msg_html_body_is_read_once_in_its_code_page(tmp_path: Path) -> None:
    markup = "<p>Hello, the offer.<table border=1><tr><td>甲<td>乙<tr><td>1<td>2</table>".encode()
    document = parsed(tmp_path, message(**{"__substg1.0_10130102": markup}))
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "table"]
    assert document.blocks[2].rows == (("甲", "乙"), ("1", "2"))


def test_msg_eight_bit_strings_are_in_the_messages_code_page(tmp_path: Path) -> None:
    tree = message()
    del tree["__substg1.0_0037001F"]
    tree["__substg1.0_0037001E"] = "营业收入".encode("gb18030")
    assert parsed(tmp_path, tree).title == "营业收入"


def test_msg_attachments_are_handed_on_and_pictures_dropped(tmp_path: Path) -> None:
    session = Collecting()
    picture = attachment("p.png", b"x", **stream(0x3712, "p1"), **stream(0x370E, "image/png"))
    tree = message(**{
        "__attach_version1.0_#00000000": attachment("报价.xlsx", b"PK"),
        "__attach_version1.0_#00000001": picture,
    })
    document = parsed(tmp_path, tree, session)
    assert session.taken == {"报价.xlsx": b"PK"}
    assert document.blocks[0].text.endswith("Attachments: 报价.xlsx")
    assert document.notes == ("1 inline picture was not read",)


def test_msg_inside_a_message_becomes_an_eml_with_its_attachments(tmp_path: Path) -> None:
    deeper = attachment("a.txt", b"words")
    inner = message(24, **{**stream(0x0037, "价格, inner"), "__attach_version1.0_#00000000": deeper})
    part: Tree = {**properties(8, p3705=5), "__substg1.0_3701000D": inner}
    session = Collecting()
    document = parsed(tmp_path, message(**{"__attach_version1.0_#00000000": part}), session)
    assert "Attachments: 价格, inner.eml" in document.blocks[0].text
    path = tmp_path / "inner.eml"
    path.write_bytes(session.taken["价格, inner.eml"])
    again = Collecting()
    child = parse_eml(path, "inner.eml", LIMITS, again)
    assert again.taken == {"a.txt": b"words"}
    assert [block.text for block in child.blocks] == [
        "From: Ann <ann@a.example>\nTo: Bob <bob@b.example>\nCc: c@c.example\nBcc: Dan\nSubject: 价格, inner\n"
        "Attachments: a.txt",
        "Hello,",
        "the offer.",
    ]


def test_msg_html_wrapped_into_rtf_gives_the_structure(tmp_path: Path) -> None:
    rtf = (
        rb"{\rtf1\ansi\ansicpg1252\fromhtml1 {\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset134 SimSun;}}"
        rb"{\*\htmltag64 <p>}Hello, the offer.\htmlrtf\par\htmlrtf0 {\*\htmltag64 <table border=1><tr><td>}"
        rb"{\f1\'bc\'d7}{\*\htmltag64 <td>}\u20057?{\*\htmltag64 <tr><td>}1 {\*\htmltag84 &amp;}"
        rb"{\*\htmltag64 <td>}\htmlrtf x\htmlrtf0 2{\*\htmltag72 </table>}{\*\mhtmltag8 <p>no}}"
    )
    raw = struct.pack("<II4sI", 12 + len(rtf), len(rtf), b"MELA", 0) + rtf
    document = parsed(tmp_path, message(**{"__substg1.0_10090102": raw}))
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "table"]
    assert document.blocks[2].rows == (("甲", "乙"), ("1 &", "2"))


def test_msg_body_in_rtf_alone_is_read(tmp_path: Path) -> None:
    tree = message()
    del tree["__substg1.0_1000001F"]
    # The second example of the compression's specification.
    tree["__substg1.0_10090102"] = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")
    assert [block.text for block in parsed(tmp_path, tree).blocks][1:] == ["WXYZ" * 5]


def test_rtf_text_keeps_lines_cells_and_characters() -> None:
    rtf = (
        rb"{\rtf1\ansi{\info{\author Nobody}}\b Bold\b0  \'e9\emdash\u8364?\{x\}\par A\cell B\row{\*\unknown gone}end}"
    )
    assert body_of_rtf(rtf) == ("Bold \u00e9\u2014\u20ac{x}\nA | B\nend", False)


@given(st.binary(max_size=200))
def test_rtf_of_any_bytes_is_read_or_empty(junk: bytes) -> None:
    decompress_rtf(struct.pack("<II4sI", len(junk), 1000, b"LZFu", 0) + junk, 1000)
    body_of_rtf(rb"{\rtf1\fromhtml1 " + junk)


def test_msg_encrypted_is_said(tmp_path: Path) -> None:
    with pytest.raises(EncryptedDocumentError):
        parsed(tmp_path, message(**stream(0x001A, "IPM.Note.SMIME")))


def test_msg_signed_is_read(tmp_path: Path) -> None:
    assert parsed(tmp_path, message(**stream(0x001A, "IPM.Note.SMIME.MultipartSigned"))).blocks


def test_msg_of_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoTextError):
        parsed(tmp_path, properties(32))


def test_msg_cut_short_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "message"
    path.write_bytes(compound_file(message())[:700])
    with pytest.raises(CorruptDocumentError):
        parse_msg(path, "m.msg", LIMITS)


@given(st.integers(0, 4000), st.binary(min_size=1, max_size=6))
def test_msg_damaged_anywhere_raises_only_our_errors(
    tmp_path_factory: pytest.TempPathFactory, position: int, junk: bytes
) -> None:
    content = bytearray(compound_file(message(**{"__attach_version1.0_#00000000": attachment("a", b"x")})))
    content[position % len(content) : position % len(content) + len(junk)] = junk
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(content))
    with contextlib.suppress(IngestError):
        parse_msg(path, "m.msg", LIMITS)
