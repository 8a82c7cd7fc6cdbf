from __future__ import annotations

import pytest

from retrieval.symbols.language import load_language
from retrieval.types import Symbol

LANGUAGE = load_language(b"0123456789abcdef")
KINDS = ("amount", "percent", "percent_points", "ratio", "quantity")


def figures(text: str, *kinds: str) -> list[Symbol]:
    return [s for s in LANGUAGE.read(text, tenant="t") if s.kind in (kinds or KINDS)]


@pytest.mark.parametrize(
    ("text", "normal", "surface"),
    [
        ("1500吨", "1500000 kg", "1500吨"),
        ("1,500 tonnes", "1500000 kg", "1,500 tonnes"),
        ("300噸", "300000 kg", "300噸"),
        ("3千克", "3 kg", "3千克"),
        ("weighs 5 lb", "2.26796185 kg", "5 lb"),
        ("12万人", "120000 person", "12万人"),
        ("36家分行", "36 firm", "36家"),
        ("1,200 employees", "1200 person", "1,200 employees"),
        ("一千二百户", "1200 household", "一千二百户"),
        ("twelve companies", "12 firm", "twelve companies"),
        ("one hundred and twenty thousand people", "120000 person", "one hundred and twenty thousand people"),
        ("a 300-page report", "300 page", "300-page"),
        ("共12页", "12 page", "12页"),
        ("管理12只基金", "12 fund", "12只"),
        ("5个工作日", "5 workday", "5个工作日"),
        ("ten business days", "10 workday", "ten business days"),
        ("300余人", "300 person", "300余人"),
        ("100亩", "66666.67 m2", "100亩"),
        ("25 miles", "40233.6 m", "25 miles"),
        ("3公里", "3000 m", "3公里"),
        ("500 sqm", "500 m2", "500 sqm"),
        ("1.5亿立方米", "150000000 m3", "1.5亿立方米"),
        ("用电量100度", "100 kWh", "100度"),
        ("200万千瓦时", "2000000 kWh", "200万千瓦时"),
        ("600 MW", "600000 kW", "600 MW"),
        ("8GB", "8000000000 B", "8GB"),
        ("-5℃", "-5 degC", "-5℃"),
        ("温度-18℃以下", "-18 degC", "-18℃"),
        ("60公里/小时", "60 km/h", "60公里/小时"),
        ("3.5 million shares", "3500000 share", "3.5 million shares"),
        ("1.2m people", "1200000 person", "1.2m people"),
        ("3.5m customers", "3500000", "3.5m"),
        ("a pole 1.2m high", "1.2 m", "1.2m"),
        ("长1.2m", "1.2 m", "1.2m"),
        ("T+3个工作日到账", "3 workday", "3个工作日"),
        ("about 12 500 kg", "12500 kg", "12 500 kg"),
        ("1 250 000 kg", "1250000 kg", "1 250 000 kg"),
        ("1 500 kg of flour", "500 kg", "500 kg"),
        ("2024 500 kg", "500 kg", "500 kg"),
        ("minus 5 ℃", "-5 degC", "minus 5 ℃"),
    ],
)
def test_quantity_is_converted_to_its_unit(text: str, normal: str, surface: str) -> None:
    assert [(s.kind, s.normal, s.surface) for s in figures(text)] == [("quantity", normal, surface)]


@pytest.mark.parametrize(
    "text",
    [
        "36 new branches",
        "two people",
        "三家公司",
        "一次",
        "第3页",
        "第 15 页",
        "page 12",
        "in 2019 companies paid",
        "气温25度",
        "5 pounds",
        "100人民币市场",
        "A4 纸",
        "GB/T 22080",
        "3人民路",
        "12 company",
        "91320102259877784L",
        "两三家公司",
        "数十家公司",
        "3米每秒",
        "10米/秒",
        "15 m/s",
        "1200立方米/小时",
        "revenue of 1.2m",
    ],
)
def test_lookalikes_are_no_quantities(text: str) -> None:
    assert figures(text, "quantity") == []


@pytest.mark.parametrize(
    ("text", "normal", "surface"),
    [
        ("每股0.5元", "CNY 0.5/share", "每股0.5元"),
        ("0.5元/股", "CNY 0.5/share", "0.5元/股"),
        ("RMB 0.5 per share", "CNY 0.5/share", "RMB 0.5 per share"),
        ("$0.50 a share", "USD 0.5/share", "$0.50 a share"),
        ("12元/吨", "CNY 0.012/kg", "12元/吨"),
        ("200元/人", "CNY 200/person", "200元/人"),
        ("600元/亩", "CNY 0.9/m2", "600元/亩"),
        ("壹佰贰拾叁元肆角伍分", "CNY 123.45", "壹佰贰拾叁元肆角伍分"),
        ("3 crore rupees", "INR 30000000", "3 crore rupees"),
        ("Rs. 5 lakh", "INR 500000", "Rs. 5 lakh"),
        ("five million dollars", "USD 5000000", "five million dollars"),
        ("one and a half million dollars", "USD 1500000", "one and a half million dollars"),
        ("half a billion yuan", "CNY 500000000", "half a billion yuan"),
        ("负2亿元", "CNY -200000000", "负2亿元"),
        ("0.8元/度", "CNY 0.8/kWh", "0.8元/度"),
        ("EUR 12 500.50", "EUR 12500.5", "EUR 12 500.50"),
        ("12 500万元", "CNY 125000000", "12 500万元"),
        ("1块5", "CNY 1.5", "1块5"),
        ("补贴15块5.", "CNY 15.5", "15块5"),
        ("三块五毛", "CNY 3.5", "三块五毛"),
        ("二十八块五", "CNY 28.5", "二十八块五"),
        ("三元五角", "CNY 3.5", "三元五角"),
        ("五十元五角三分", "CNY 50.53", "五十元五角三分"),
        ("id,EUR12.50,3", "EUR 12.5", "EUR12.50"),
        ("Net loss: (US$3.4 million).", "USD -3400000", "(US$3.4 million)"),
    ],
)
def test_amounts_in_words_in_crore_and_by_the_unit(text: str, normal: str, surface: str) -> None:
    assert [(s.kind, s.normal, s.surface) for s in figures(text)] == [("amount", normal, surface)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("276米-285米", [("276 m", "276米"), ("285 m", "285米")]),
        ("2-3吨", [("2000 kg", "2"), ("3000 kg", "3吨")]),
        ("100至200人", [("100 person", "100"), ("200 person", "200人")]),
        ("10-12元/吨", [("CNY 0.01/kg", "10"), ("CNY 0.012/kg", "12元/吨")]),
        ("between $10 and $12 million", [("USD 10000000", "$10"), ("USD 12000000", "$12 million")]),
        ("between 5 and 8%", [("5%", "5"), ("8%", "8%")]),
        ("2-3倍", [("2x", "2"), ("3x", "3倍")]),
        ("3 to 5 people", [("3 person", "3"), ("5 person", "5 people")]),
        ("10 500 to 12 500 kg", [("10500 kg", "10 500"), ("12500 kg", "12 500 kg")]),
        ("EUR 12 500 to 13 000", [("EUR 12500", "EUR 12 500"), ("EUR 13000", "13 000")]),
        ("三至四成", [("30%", "三"), ("40%", "四成")]),
    ],
)
def test_unit_of_a_range_holds_for_both_ends(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(s.normal, s.surface) for s in figures(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3:2", ["3:2"]),
        ("3比2", ["3:2"]),
        ("三比二", ["3:2"]),
        ("6:4", ["3:2"]),
        ("2.5:1", ["5:2"]),
        ("人数之比为7∶1", ["7:1"]),
        ("比例为10:30", ["1:3"]),
        ("a share split of 3:1", ["3:1"]),
        ("1.5倍", ["1.5x"]),
        ("1.5x", ["1.5x"]),
        ("1.5 times", ["1.5x"]),
        ("twofold", ["2x"]),
        ("a 3-fold rise", ["3x"]),
        ("three times as many", ["3x"]),
        ("10:30", []),
        ("以3比2获胜", []),
        ("比分3:2", []),
        ("比分为3:2", []),
        ("won 3:2", []),
        ("3:2 victory", []),
        ("main.py:3:2", []),
        ("1920x1080", []),
        ("MAC 00:1A:2B:3C:4D:5E", []),
        ("aa:3:2", []),
        ("304X stainless steel", []),
        ("10X growth", ["10x"]),
        ("比分定格在2:1", []),
        ("3 times a year", []),
        ("manifold", []),
    ],
)
def test_ratios_are_no_times_of_day_and_no_scores(text: str, expected: list[str]) -> None:
    assert [s.normal for s in figures(text, "ratio")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三成五", ["35%"]),
        ("下降三成", ["-30%"]),
        ("九成立", []),
        ("万分之三", ["0.03%"]),
        ("twenty-five per cent", ["25%"]),
        ("负5.2%", ["-5.2%"]),
        ("minus 5.2%", ["-5.2%"]),
        ("plus or minus 2%", ["2%"]),
        ("正负2%", ["2%"]),
        ("5% minus 2%", ["5%", "2%"]),
        ("降幅收窄0.5个百分点", ["0.5pp"]),
        ("降幅同比收窄0.5个百分点", ["0.5pp"]),
        ("涨幅收窄0.5个百分点", ["-0.5pp"]),
        ("分别下降5.2%、3.1%和2%", ["-5.2%", "-3.1%", "-2%"]),
        ("fell 5.2% and 3.1%, respectively", ["-5.2%", "-3.1%"]),
        ("fell 5 to 6%", ["-5%", "-6%"]),
        ("fell 0.9 percentage points to 51.2%", ["-0.9pp", "51.2%"]),
        ("下调存款准备金率0.5个百分点", ["-0.5pp"]),
        ("cut its policy rate by 25 basis points", ["-0.25pp"]),
        ("a decline in revenue of 5%", ["-5%"]),
        ("decreased by $1.2 million, or 5.2%", ["-5.2%"]),
        ("costs decreased while sales rose by 5%", ["5%"]),
        ("负债率5%", ["5%"]),
        ("赔付率下降1.2个百分点至61.5%", ["-1.2pp", "61.5%"]),
        ("毛利率下降3.6%至61.5%", ["-3.6%", "61.5%"]),
        ("预计下降5%至8%", ["-5%", "-8%"]),
        ("亏损扩大5%", ["5%"]),
    ],
)
def test_direction_words_carry_the_sign(text: str, expected: list[str]) -> None:
    assert [s.normal for s in figures(text, "percent", "percent_points")] == expected


@pytest.mark.parametrize(
    ("text", "qualifier"),
    [
        ("约2.38亿元", "about"),
        ("2.38亿元左右", "about"),
        ("nearly RMB 238 million", "about"),
        ("~8亿元", "about"),
        ("为 ~8亿元", "about"),
        ("不低于5%", "at_least"),
        ("5% or more", "at_least"),
        ("100人以上", "at_least"),
        ("不超过1.5倍", "at_most"),
        ("up to $5m", "at_most"),
        ("no more than 5%", "at_most"),
        ("5.2%以下", "at_most"),
        ("超过2亿元", "more_than"),
        ("300余万元", "more_than"),
        ("over 1,000 employees", "more_than"),
        ("低于5%", "less_than"),
        ("fewer than 200 people", "less_than"),
        ("extends over 15 hectares", ""),
        ("收入2.38亿元", ""),
    ],
)
def test_words_around_a_figure_qualify_it(text: str, qualifier: str) -> None:
    assert [s.qualifier for s in figures(text)] == [qualifier]


@pytest.mark.parametrize(
    "text",
    [
        "库存1500吨，12元/吨，每股0.5元，36家分行，12万人",
        "比例3:2，增长1.5倍，twofold，三成五，60公里/小时",
        "between $10 and $12 million, 5 to 6%, 100-200人, 2-3吨",
        "weighs 5 lb, 100亩, -5℃, 8GB, half a billion yuan",
    ],
)
def test_symbolising_the_index_text_of_figures_changes_nothing(text: str) -> None:
    index_text = LANGUAGE.symbolise(text, tenant="t").index_text
    assert LANGUAGE.symbolise(index_text, tenant="t").index_text == index_text


@pytest.mark.parametrize("text", ["5~8亿元", "5 ~ 8亿元", "5亿元~8亿元", "5%~8%"])
def test_the_mark_of_a_range_does_not_say_about(text: str) -> None:
    assert [s.qualifier for s in figures(text)] == ["", ""]


@pytest.mark.parametrize("text", ["12 500 345", "1 2 3", "| 12 | 500 |"])
def test_groups_without_unit_or_currency_are_figures_of_their_own(text: str) -> None:
    assert figures(text) == []
