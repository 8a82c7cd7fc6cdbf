from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.email import find_emails


def emails(text: str) -> list[tuple[str, str]]:
    return [(f.value, text[f.start : f.end]) for f in find_emails(fold(text))]


@pytest.mark.parametrize(
    ("text", "value", "surface"),
    [
        ("写信到 Zhang.San@Example.com。", "zhang.san@example.com", "Zhang.San@Example.com"),
        ("邮箱zhang@mail.example.com.cn是", "zhang@mail.example.com.cn", "zhang@mail.example.com.cn"),
        ("ｚｈａｎｇ＠ｅｘａｍｐｌｅ．ｃｏｍ", "zhang@example.com", "ｚｈａｎｇ＠ｅｘａｍｐｌｅ．ｃｏｍ"),
        ("name [at] example.com", "name@example.com", "name [at] example.com"),
        ("mail name(at)example(dot)com today", "name@example.com", "name(at)example(dot)com"),
        ("name [at] example [dot] co [dot] uk", "name@example.co.uk", "name [at] example [dot] co [dot] uk"),
        ("name（at）example.com", "name@example.com", "name（at）example.com"),
        ("li.na[@]example[.]org", "li.na@example.org", "li.na[@]example[.]org"),
        ("info@müller-gmbh.de", "info@müller-gmbh.de", "info@müller-gmbh.de"),
        ("联系 wang@例子.中国 即可", "wang@例子.中国", "wang@例子.中国"),
        ("邮箱：张三@例子.公司", "张三@例子.公司", "张三@例子.公司"),
        ("postmaster@xn--fsqu00a.xn--55qx5d", "postmaster@xn--fsqu00a.xn--55qx5d", "postmaster@xn--fsqu00a.xn--55qx5d"),
        ("a.b+tag@sub.example.io,", "a.b+tag@sub.example.io", "a.b+tag@sub.example.io"),
        ("10086@163.com", "10086@163.com", "10086@163.com"),
        ("mailto:li@example.com?subject=x", "li@example.com", "li@example.com"),
        ("<li@example.com>", "li@example.com", "li@example.com"),
        ("torn li.na@\nexample.com.", "li.na@example.com", "li.na@\nexample.com"),
        ("E-mail: li.na @ example.com", "li.na@example.com", "li.na @ example.com"),
        ("13 ann@acme.com.txt", "ann@acme.com", "ann@acme.com"),
        ("O'Neil@example.com", "o'neil@example.com", "O'Neil@example.com"),
        ("w\u200bang@example.com", "wang@example.com", "w\u200bang@example.com"),
        ("wang@exam\u200bple.c\u200dom.", "wang@example.com", "wang@exam\u200bple.c\u200dom"),
        ("m\u0308uller@example.com", "muller@example.com", "m\u0308uller@example.com"),
        ("w\u0430ng@example.com", "w\u0430ng@example.com", "w\u0430ng@example.com"),
        ("请写 müller@example.com。", "müller@example.com", "müller@example.com"),
        ("пётр@почта.рф", "пётр@почта.рф", "пётр@почта.рф"),
        ("почта ivan@example.comпривет", "ivan@example.com", "ivan@example.com"),
        ("wang @ example.com", "wang@example.com", "wang @ example.com"),
        ("联系人：wang @ example.com。", "wang@example.com", "wang @ example.com"),
        ("wang AT example DOT com", "wang@example.com", "wang AT example DOT com"),
        ("write to li.na AT mail DOT example DOT org", "li.na@mail.example.org", "li.na AT mail DOT example DOT org"),
    ],
)
def test_email_is_found_with_its_exact_span(text: str, value: str, surface: str) -> None:
    assert emails(text) == [(value, surface)]


@pytest.mark.parametrize(
    "text",
    [
        "@handle",
        "@media screen and (max-width: 5em)",
        "a@b",
        "user@localhost",
        "npm i @types/node@18.11.9",
        "react@18.2.0.beta",
        "icon@2x.png",
        "git@github.com:team/project.git",
        "scp deploy@host.example.com:/var/www .",
        "ssh admin@server.example.com",
        "ftp://anonymous@ftp.example.com/pub",
        "foo@1.2.3",
        "5 apples @ example.com",
        "@zhang.san 你好",
        "we met at example dot com",
        "LOOK AT example.com",
        "shop @ www.example.com",
        "he looked at example.com",
        "f(at) = 3",
        "价格@100.00元",
    ],
)
def test_what_only_looks_like_an_email_is_none(text: str) -> None:
    assert emails(text) == []


_LOCAL = st.from_regex(r"[a-z][a-z0-9]{0,8}(?:[._+-][a-z0-9]{1,6}){0,2}", fullmatch=True)
_DOMAIN = st.from_regex(r"[a-z][a-z0-9]{1,10}\.(?:com|org|com\.cn|co\.uk)", fullmatch=True)


@given(_LOCAL, _DOMAIN, st.sampled_from(["@", "＠", " [at] ", "(at)", "[at]", "（at）"]), st.booleans())
def test_every_writing_of_an_email_gives_one_value(local: str, domain: str, sign: str, upper: bool) -> None:
    written = f"{local}{sign}{domain}"
    text = f"邮箱：{written.upper() if upper else written}。"
    assert emails(text) == [(f"{local}@{domain}", text[3:-1])]


@pytest.mark.parametrize(
    "piece",
    ["a@", "a.", "@a.", "a@b.", "[at]", "a(at)b(dot)", "张@", "git@a.com:b/", "a @ b", "a\u200b", "é@", "a AT b DOT "],
)
def test_long_repetitive_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    assert sum(len(surface) for _, surface in emails(text)) <= len(text)
