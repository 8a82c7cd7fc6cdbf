"""Writings of a normal form, in Chinese and English, are read back as that normal form."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.compare import compare, parse_normal
from retrieval.symbols.language import load_language
from retrieval.symbols.tokens import token_grammar
from retrieval.symbols.values.numerals import plain
from retrieval.symbols.values.numerals_en import SMALL, parse_english
from retrieval.types import Symbol

LANGUAGE = load_language(b"0123456789abcdef")
MAGNITUDES = st.decimals(Decimal("0.01"), Decimal("99999.99"), places=2).map(lambda d: Decimal(plain(d)))
FEW = settings(max_examples=30, deadline=None)
COUNTS = st.integers(10, 9_999_999)


def read(text: str) -> Symbol:
    (symbol,) = LANGUAGE.read(text, tenant="t")
    return symbol


def scaled(value: Decimal, power: int) -> str:
    return plain(value.scaleb(-power))


def amounts(value: Decimal, currency: tuple[str, str, str]) -> list[str]:
    code, zh, en = currency
    return [
        f"{code} {value:,f}",
        f"{plain(value)}{zh}",
        f"{scaled(value, 4)}万{zh}",
        f"{scaled(value, 8)}亿{zh}",
        f"{scaled(value, 6)} million {en}",
        f"{code} {scaled(value, 9)}bn",
        f"{scaled(value, 7)} crore {en}",
        f"({code} {value:,f})"[1:-1],
    ]


@FEW
@given(MAGNITUDES, st.sampled_from([("CNY", "元", "yuan"), ("USD", "美元", "dollars"), ("EUR", "欧元", "euros")]))
def test_every_writing_of_an_amount_is_read_back(value: Decimal, currency: tuple[str, str, str]) -> None:
    for text in amounts(value, currency):
        found = read(text)
        assert (found.kind, found.normal, found.surface) == ("amount", f"{currency[0]} {plain(value)}", text)


@FEW
@given(
    MAGNITUDES,
    st.sampled_from([("share", "股", "share", 1), ("kg", "吨", "tonne", 1000), ("person", "人", "person", 1)]),
)
def test_every_writing_of_a_price_is_read_back(value: Decimal, unit: tuple[str, str, str, int]) -> None:
    name, zh, en, factor = unit
    normal = f"CNY {plain(value / factor)}/{name}"
    for text in (f"{plain(value)}元/{zh}", f"每{zh}{plain(value)}元", f"RMB {plain(value)} per {en}"):
        found = read(text)
        assert (found.kind, found.normal, found.surface) == ("amount", normal, text)


MEASURES = [
    ("kg", "吨", "tonnes", Fraction(1000)),
    ("m", "公里", "km", Fraction(1000)),
    ("m", "英里", "miles", Fraction("1609.344")),
    ("m2", "公顷", "hectares", Fraction(10_000)),
    ("m3", "升", "litres", Fraction(1, 1000)),
    ("kWh", "兆瓦时", "MWh", Fraction(1000)),
    ("degC", "摄氏度", "°C", Fraction(1)),
    ("km/h", "公里/小时", "km/h", Fraction(1)),
]


@FEW
@given(MAGNITUDES, st.sampled_from(MEASURES))
def test_every_writing_of_a_quantity_is_read_back(value: Decimal, unit: tuple[str, str, str, Fraction]) -> None:
    name, zh, en, factor = unit
    product = Fraction(value) * factor
    normal = f"{plain(Decimal(product.numerator) / Decimal(product.denominator))} {name}"
    for text in (
        f"{plain(value)}{zh}",
        f"{value:,f} {en}",
        f"{scaled(value, 4)}万{zh}",
        f"{scaled(value, 6)} million {en}",
    ):
        found = read(text)
        assert (found.kind, found.normal, found.surface) == ("quantity", normal, text)


@FEW
@given(COUNTS, st.sampled_from([("person", "人", "people"), ("firm", "家", "companies"), ("page", "页", "pages")]))
def test_every_writing_of_a_count_is_read_back(value: int, unit: tuple[str, str, str]) -> None:
    name, zh, en = unit
    for text in (f"{value}{zh}", f"{value:,} {en}", f"{scaled(Decimal(value), 4)}万{zh}", f"{words(value)} {en}"):
        found = read(text)
        assert (found.kind, found.normal, found.surface) == ("quantity", f"{value} {name}", text)


@FEW
@given(MAGNITUDES)
def test_every_writing_of_a_percentage_is_read_back(value: Decimal) -> None:
    number = plain(value)
    for text in (f"{number}%", f"{number} per cent", f"{number} percent", f"{scaled(value, -1)}‰"):
        assert (read(text).kind, read(text).normal) == ("percent", f"{number}%")
        assert read(f"下滑{text}").normal == f"-{number}%"
        assert read(f"fell by {text}").normal == f"-{number}%"
    for text in (
        f"{number}个百分点",
        f"{number} percentage points",
        f"{scaled(value, -2)}个基点",
        f"{scaled(value, -2)} bps",
    ):
        assert (read(text).kind, read(text).normal) == ("percent_points", f"{number}pp")


@FEW
@given(st.integers(1, 400), st.integers(1, 9), MAGNITUDES)
def test_every_writing_of_a_ratio_is_read_back(a: int, b: int, value: Decimal) -> None:
    ratio = Fraction(a, b)
    for text in (f"{a}:{b}", f"{a}比{b}"):
        assert (read(text).kind, read(text).normal) == ("ratio", f"{ratio.numerator}:{ratio.denominator}")
    for text in (f"{plain(value)}倍", f"{plain(value)}x", f"{plain(value)} times"):
        assert (read(text).kind, read(text).normal) == ("ratio", f"{plain(value)}x")


_ONES = {value: word for word, value in SMALL.items()}


def words(number: int) -> str:
    """Write a number below a billion in English."""
    parts: list[str] = []
    for power, name in ((10**6, " million"), (10**3, " thousand"), (1, "")):
        section = number // power % 1000
        if section:
            parts.append(below_thousand(section) + name)
    return " ".join(parts)


def below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    tens = _ONES.get(rest) or (f"{_ONES[rest // 10 * 10]}-{_ONES[rest % 10]}" if rest else "")
    if not hundreds:
        return tens
    return f"{_ONES[hundreds]} hundred" + (f" and {tens}" if tens else "")


@FEW
@given(st.integers(1, 999_999_999))
def test_english_numerals_parse_back(number: int) -> None:
    parsed = parse_english(words(number))
    assert parsed is not None
    assert parsed[0] == number


@FEW
@given(
    st.lists(st.sampled_from([*SMALL, "hundred", "thousand", "million", "and"]), min_size=1, max_size=8).map(" ".join)
)
def test_any_row_of_number_words_is_a_number_or_none(run: str) -> None:
    parsed = parse_english(run)
    assert parsed is None or parsed[0] >= 0


@FEW
@given(MAGNITUDES, st.sampled_from(MEASURES))
def test_tokens_of_figures_stand_for_themselves(value: Decimal, unit: tuple[str, str, str, Fraction]) -> None:
    text = f"{plain(value)}{unit[1]}，{plain(value)}元/{unit[1]}，{plain(value)}倍，12万{unit[1]}"
    once = LANGUAGE.symbolise(text, tenant="t")
    assert LANGUAGE.symbolise(once.index_text, tenant="t").index_text == once.index_text


@FEW
@given(MAGNITUDES, MAGNITUDES, st.sampled_from(MEASURES))
def test_comparison_of_two_writings_is_that_of_their_values(
    left: Decimal, right: Decimal, unit: tuple[str, str, str, Fraction]
) -> None:
    _, zh, en, _ = unit
    stated, source = read(f"{plain(left)}{zh}"), read(f"{plain(right)} {en}")
    assert (compare(stated, source) == "equal") == (left == right)
    assert compare(stated, stated) == "equal"


@pytest.mark.parametrize("kind", ["amount", "quantity", "percent", "percent_points", "ratio", "number", "duration"])
@FEW
@given(st.text(max_size=12))
def test_anything_else_is_refused_as_a_normal_form(kind: str, text: str) -> None:
    try:
        magnitude = parse_normal(kind, text)
    except ValueError:
        return
    assert any(char.isdigit() for char in text)
    assert magnitude == parse_normal(kind, text)


def test_the_grammar_of_tokens_names_every_unit() -> None:
    assert "KM/H" in token_grammar(()).replace("\\", "")


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "3:2 ",
            "1比2",
            "两三",
            "三成五",
            "万分之",
            "one hundred and ",
            "half a ",
            "每股",
            "0.5元/",
            "between 5 and ",
        ),
        *("12家", "5 km", "fell in price of ", "or more", "分别下降5%和", "£(8.1m", "decreased by $1 million, or "),
        *("约", "x ", "倍"),
    ],
    ids=repr,
)
def test_text_that_repeats_what_figures_are_made_of_is_read_in_linear_steps(piece: str) -> None:
    short, long = (piece * (size // len(piece)) for size in (2_000, 20_000))
    assert len(LANGUAGE.read(long, tenant="t")) <= 11 * max(1, len(LANGUAGE.read(short, tenant="t")))
