from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.language import load_language
from retrieval.symbols.values.ip_addresses import find_ip_addresses
from retrieval.symbols.values.urls import find_urls

LANGUAGE = load_language(b"0123456789abcdef")


def urls(text: str) -> list[tuple[str, str]]:
    return [(f.normal, text[f.start : f.end]) for f in find_urls(fold(text))]


def addresses(text: str) -> list[tuple[str, str]]:
    return [(f.normal, text[f.start : f.end]) for f in find_ip_addresses(fold(text))]


@pytest.mark.parametrize(
    ("text", "normal", "surface"),
    [
        ("see https://www.Example.com/a?b=1.", "https://www.example.com/a?b=1", "https://www.Example.com/a?b=1"),
        ("www.Example.com", "www.example.com", "www.Example.com"),
        ("请访问https://example.com查看", "https://example.com", "https://example.com"),
        ("（http://example.com/报告）", "http://example.com/", "http://example.com/"),
        (
            "(https://en.example.org/wiki/A_(b))",
            "https://en.example.org/wiki/A_(b)",
            "https://en.example.org/wiki/A_(b)",
        ),
        ("[text](https://example.com/x)", "https://example.com/x", "https://example.com/x"),
        ("HTTP://EXAMPLE.COM/Path", "http://example.com/Path", "HTTP://EXAMPLE.COM/Path"),
        ("ftp://ftp.example.com/pub/f.txt;", "ftp://ftp.example.com/pub/f.txt", "ftp://ftp.example.com/pub/f.txt"),
        ("http://192.168.0.1:8080/x", "http://192.168.0.1:8080/x", "http://192.168.0.1:8080/x"),
        ("http://[2001:db8::1]/x", "http://[2001:db8::1]/x", "http://[2001:db8::1]/x"),
        ("网址 https://例子.中国/", "https://例子.中国/", "https://例子.中国/"),
        ("“https://example.com/a”", "https://example.com/a", "https://example.com/a"),
        ("访问www.example.com.cn。", "www.example.com.cn", "www.example.com.cn"),
        ("postgres://db.example.com:5432/x", "postgres://db.example.com:5432/x", "postgres://db.example.com:5432/x"),
    ],
)
def test_url_is_found_with_its_exact_span(text: str, normal: str, surface: str) -> None:
    assert urls(text) == [(normal, surface)]


@pytest.mark.parametrize("text", ["://", "http://", "a://", "www.", "www", "wwww.x", "file:///etc/hosts", "1.5元/股"])
def test_what_only_looks_like_a_url_is_none(text: str) -> None:
    assert urls(text) == []


@pytest.mark.parametrize(
    ("text", "normal", "surface"),
    [
        ("服务器192.168.0.1已下线", "192.168.0.1", "192.168.0.1"),
        ("ping 10.0.0.1.", "10.0.0.1", "10.0.0.1"),
        ("- 10.1.2.3 Router", "10.1.2.3", "10.1.2.3"),
        ("最后登录IP203.0.113.99。", "203.0.113.99", "203.0.113.99"),
        ("10.0.0.0/8", "10.0.0.0", "10.0.0.0"),
        ("10.1.2.3:8080", "10.1.2.3", "10.1.2.3"),
        ("１９２．１６８．０．１", "192.168.0.1", "１９２．１６８．０．１"),
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1", "2001:DB8:0:0:0:0:0:1"),
        ("host fe80::1 up", "fe80::1", "fe80::1"),
        ("::1", "::1", "::1"),
        ("[2001:db8::1]:443", "2001:db8::1", "2001:db8::1"),
        ("at 6e40:4041:c617:e898:c11:40d2:c669:2eb4 blocked", "6e40:4041:c617:e898:c11:40d2:c669:2eb4",
         "6e40:4041:c617:e898:c11:40d2:c669:2eb4"),
        ("::ffff:192.0.2.1", "::ffff:c000:201", "::ffff:192.0.2.1"),
    ],
)  # fmt: skip
def test_ip_address_is_found_with_its_exact_span(text: str, normal: str, surface: str) -> None:
    found = [pair for pair in addresses(text) if pair[1] == surface]
    assert [ipaddress.ip_address(n) for n, _ in found] == [ipaddress.ip_address(normal)]


@pytest.mark.parametrize(
    "text",
    [
        "版本1.2.3.4",
        "v1.2.3.4",
        "Version 10.0.0.1",
        "section 1.2.3.4",
        "第1.2.3.4节",
        "1.2.3.4 Scope",
        "text\n            - 2.3.8.1. First subsection",
        "1.2.3.4.5",
        "256.1.1.1",
        "10.0.19041.1",
        "12:30:45",
        "00:1A:2B:3C:4D:5E",
        "std::vector",
        "a::b",
        "2024.07.01",
        "1.2.3",
        "x1.2.3.4",
        "01.02.03.04",
    ],
)
def test_version_section_and_time_are_no_ip_address(text: str) -> None:
    assert addresses(text) == []


@given(st.ip_addresses())
def test_any_ip_address_is_found_in_its_normal_form(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    written = str(address)
    found = addresses(f"from {written} to")
    if address.version == 4 or any(c.isdigit() for c in written):
        assert found == [(written, written)]


@settings(deadline=None)  # the first call loads the validator
@given(
    st.from_regex(r"https?://[a-z]{1,10}\.(?:com|org)(?:/[a-z0-9_-]{1,8}){0,3}(?:\?[a-z]=[0-9]{1,3})?", fullmatch=True)
)
def test_a_url_is_one_symbol_and_stays_in_the_index_text(url: str) -> None:
    symbolised = LANGUAGE.symbolise(f"见 {url}。", tenant="t")
    assert [(s.kind, s.normal) for s in symbolised.symbols] == [("url", url)]
    assert symbolised.index_text == f"见 {url}。"


@pytest.mark.parametrize(
    "piece", ["http://", "http://a)", "www.a.", "a://b@", ":a", "::", "1.2.3.", "2001:db8::1 ", ".1"]
)
def test_long_repetitive_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    assert sum(len(surface) for _, surface in [*urls(text), *addresses(text)]) <= len(text)
