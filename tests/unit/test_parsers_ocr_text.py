"""What a recogniser writes and what a text layer says: figures made plain, noise and garbling told from text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.parsers.pdf.legibility import illegible_ratio, is_in_foreign_script
from ingest.parsers.pictures.ocr import is_blank, turned_box
from ingest.parsers.pictures.ocr_text import is_noise, mend_forms

ENGLISH = (
    "The company recognises revenue when control of the goods passes to the customer, which is usually on delivery. "
    "Trade receivables are due within thirty days and are measured at amortised cost, less expected credit losses."
)
CHINESE = (
    "本公司的收入在客户取得相关商品控制权时确认，通常为交付之日。应收账款在三十日内到期，以摊余成本计量，"
    "并扣除预期信用损失。报告期内，公司实现营业收入与上年同期相比有所增长，主要由于新产品的销售。"
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2．38亿元", "2.38亿元"),
        ("2。38亿元", "2.38亿元"),
        ("１２，３４５．６％", "12,345.6%"),
        ("同比增长12．5％。", "同比增长12.5%。"),
        ("－3.5％", "-3.5%"),
        ("12：30－14：00", "12:30-14:00"),
        ("ＡＢＣ有限公司", "ABC有限公司"),
        ("收入，成本：均下降。", "收入，成本：均下降。"),
        ("was$1,234 and US$5", "was $1,234 and US$5"),
        ("98.6℉", "98.6°F"),
    ],
)
def test_ocr_text_has_plain_figures(written: str, meant: str) -> None:
    assert mend_forms(written) == meant


@given(st.text(max_size=40))
def test_ocr_text_mended_twice_is_mended_once(text: str) -> None:
    once = mend_forms(text)
    assert mend_forms(once) == once


@pytest.mark.parametrize(
    ("lines", "noise"), [(["L"], True), (["-", "."], True), ([], True), (["OK"], False), (["印"], False)]
)
def test_ocr_text_of_a_speck_is_noise(lines: list[str], noise: bool) -> None:
    assert is_noise(lines) is noise


@given(
    st.sampled_from([0, 90, 180, 270]),
    st.tuples(st.integers(0, 50), st.integers(0, 80), st.integers(0, 50), st.integers(0, 80)),
)
def test_turned_boxes_stay_on_the_page_and_come_back(turn: int, corners: tuple[int, int, int, int]) -> None:
    x0, x1 = sorted(corners[::2])
    y0, y1 = sorted(corners[1::2])
    width, height = (50, 80) if turn in (0, 180) else (80, 50)
    turned = turned_box((x0, y0, x1, y1), turn, 50, 80)
    assert 0 <= turned[0] <= turned[2] <= width
    assert 0 <= turned[1] <= turned[3] <= height
    assert turned_box(turned, (360 - turn) % 360, width, height) == (x0, y0, x1, y1)


def shifted(text: str, by: int) -> str:
    return "".join(chr((ord(c) - 97 + by) % 26 + 97) if "a" <= c <= "z" else c for c in text.lower())


@pytest.mark.parametrize("by", [1, 3, 13, 22])
def test_legibility_knows_a_shifted_alphabet(by: int) -> None:
    assert illegible_ratio(shifted(ENGLISH * 2, by)) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH * 2,
        CHINESE,
        ENGLISH.upper() * 2,
        "",
        "Ergebnis je Aktie: 4,20 €; größer als üblich – „für uns“ naïve café œuvre " * 5,
        "AAPL 187.44 MSFT 402.10 NVDA 721.33 TSLA 199.95 " * 8,
        "營業收入較去年同期增加，主要係因新產品銷售成長所致，本公司對於未來的發展仍然審慎樂觀。" * 2,
        "当社の売上高は前年同期比で増加しました。主な要因は新製品の販売が好調であったことによります。" * 2,
        "ÀÉÎÕÜ ÄÖÜ ÇA ÂGE",
        "Languages: العربية, हिन्दी, ไทย, 한국어, Русский, Ελληνικά, עברית, A股",
    ],
)
def test_legibility_leaves_real_text_alone(text: str) -> None:
    assert illegible_ratio(text) == 0.0


@pytest.mark.parametrize(
    ("text", "at_least"),
    [
        ("\ufffd\ufffd\ufffd\ufffd ab", 0.6),
        ("\ue001\ue002\ue003\ue004", 1.0),
        (CHINESE.encode().decode("latin-1"), 0.8),
        ("It’s “new” – café".encode().decode("cp1252", "ignore"), 0.3),
        (CHINESE.encode()[:120].decode("gb18030", "ignore"), 0.5),
        ("".join(chr(0x4E00 + (ord(c) * 7919) % 20000) for c in CHINESE), 1.0),
        ("(cid:12)(cid:3)(cid:45) (cid:7)", 0.9),
        ("/g12 /g45 /g7 /g101", 0.9),
        ("ಆಊᢹ儛ڸ葋ಊᄜҲ" * 2, 1.0),
    ],
)
def test_legibility_knows_text_that_is_not_what_the_page_shows(text: str, at_least: float) -> None:
    assert illegible_ratio(text) >= at_least


@given(st.text(max_size=300))
def test_legibility_is_a_share(text: str) -> None:
    assert 0.0 <= illegible_ratio(text) <= 1.0


def test_legibility_knows_scripts_that_the_recogniser_does_not() -> None:
    assert is_in_foreign_script("보안기술 발전 방향 2024")
    assert is_in_foreign_script("الإنترنت العالمي")
    assert not is_in_foreign_script(ENGLISH + CHINESE)
    assert not is_in_foreign_script("\ufffd\ue001 12")


def test_blank_pictures_are_blank() -> None:
    import numpy as np

    paper = np.full((400, 300, 3), 235, dtype=np.uint8)
    assert is_blank(paper)
    paper[100:110, 50:90] = 20
    assert not is_blank(paper)
