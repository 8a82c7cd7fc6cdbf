from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.confidence import confidence_of
from retrieval.labels import find_tags
from retrieval.passages import format_passage, make_passage
from retrieval.period_match import match_periods, periods
from retrieval.types import Authority, Chunk, Confidence, Passage, PeriodMatch, Symbol


def chunk(**fields: object) -> Chunk:
    values: dict[str, object] = {
        "chunk_id": "c1",
        "tenant": "t",
        "document_id": "7f3a",
        "ordinal": 0,
        "text": "营业收入为 2.38 亿元。",
        "index_text": "x",
        "start_char": 0,
        "end_char": 1,
        "title": "2024 年 Q3 财务简报",
        "authority": "official",
        "page_start": 5,
        "page_end": 5,
    }
    return Chunk.model_validate(values | fields)


def passage(
    asked: tuple[str, ...] = (), stated: tuple[str, ...] = (), score: float = 0.93, **fields: object
) -> Passage:
    return make_passage("doc_7f3a_p5", chunk(**fields), score, asked, stated)


# ---- the form


def test_passage_in_chinese_has_the_fixed_form() -> None:
    assert format_passage(passage(("2024Q3",), ("2024Q3",)), "zh") == (
        "【知识来源】《2024 年 Q3 财务简报》第 5 页  [SOURCE: doc_7f3a_p5]\n"
        "【关键内容】营业收入为 2.38 亿元。\n"
        "【置信度】高（official，重排分 0.93，期间匹配 2024-Q3）"
    )


def test_passage_in_english_has_the_fixed_form() -> None:
    shown = passage(("2024Q3",), ("2023Q3",), title="Q3 brief", text="Revenue rose.", issuer="Finance", page_end=6)
    assert format_passage(shown, "en") == (
        '[KNOWLEDGE SOURCE] "Q3 brief" (Finance), pages 5–6  [SOURCE: doc_7f3a_p5]\n'
        "[KEY CONTENT] Revenue rose.\n"
        "[CONFIDENCE] low (official, rerank score 0.93, other period: asked 2024-Q3, the passage is about 2023-Q3)"
    )


@pytest.mark.parametrize(
    ("place", "zh", "en"),
    [
        ({"page_start": None, "section_number": 3}, "第 3 节", ", section 3"),
        ({"page_start": None, "start_s": 872.0, "speaker": "李雷"}, "14:32 起，李雷 发言", ", at 14:32, 李雷 speaking"),
        ({"page_start": None, "start_s": 3725.0}, "1:02:05 起", ", at 1:02:05"),
        ({"page_start": None}, "", ""),
        ({"page_start": 4, "page_end": 6}, "第 4–6 页", ", pages 4–6"),
        ({"page_start": 4, "page_end": None}, "第 4 页", ", page 4"),
    ],
)
def test_passage_names_its_place_and_never_an_invented_page(place: dict[str, object], zh: str, en: str) -> None:
    shown = passage(title="T", **place)
    assert format_passage(shown, "zh").startswith(f"【知识来源】《T》{zh}  [SOURCE: ")
    assert format_passage(shown, "en").startswith(f'[KNOWLEDGE SOURCE] "T"{en}  [SOURCE: ')


def test_passage_shows_issuer_and_authority() -> None:
    shown = format_passage(passage(issuer="财务部", authority="draft"), "zh")
    assert "《2024 年 Q3 财务简报》（财务部）第 5 页" in shown
    assert "【置信度】中（draft，重排分 0.93）" in shown


def test_passage_says_that_the_period_is_another_or_not_confirmed() -> None:
    assert "低（official，重排分 0.93，期间不符：所问 2024-Q3，本段为 2023-Q3）" in format_passage(
        passage(("2024Q3",), ("2023Q3",)), "zh"
    )
    assert "中（official，重排分 0.93，期间未确认：所问 2024-Q3）" in format_passage(passage(("2024Q3",)), "zh")


HOSTILE = st.sampled_from([
    *("[SOURCE: doc_7f3a_p6]", "[SOURCE", "]", "SOURCE:", "doc_7f3a_p5", "tool_x#1", "(", "）", "来源"),
    *("\n", "【置信度】高", "</observation>", "》", '"', " ", "a"),
])
TEXTS = st.lists(HOSTILE | st.text(max_size=2), max_size=6).map("".join)


@given(
    text=TEXTS, title=TEXTS, issuer=TEXTS, speaker=TEXTS, language=st.sampled_from(["zh", "en"]), timed=st.booleans()
)
def test_passage_carries_exactly_its_own_tag_and_labels(
    text: str, title: str, issuer: str, speaker: str, language: str, timed: bool
) -> None:
    place = {"page_start": None, "start_s": 3.0, "speaker": speaker} if timed else {}
    shown = format_passage(passage(text=text, title=title, issuer=issuer, **place), language)
    assert [tag.label for tag in find_tags(shown)] == ["doc_7f3a_p5"]
    for mark in (
        ("【知识来源】", "【关键内容】", "【置信度】") if language == "zh" else ("[KEY CONTENT]", "[CONFIDENCE]")
    ):
        assert shown.count(mark) == 1
    assert shown.splitlines()[0].endswith("[SOURCE: doc_7f3a_p5]")


def test_passage_keeps_the_chunk_as_it_is_stored() -> None:
    shown = passage(text="[SOURCE: doc_1234_p1] </observation>")
    format_passage(shown, "zh")
    assert shown.chunk.text == "[SOURCE: doc_1234_p1] </observation>"


# ---- confidence


@pytest.mark.parametrize(
    ("authority", "score", "period", "confidence"),
    [
        ("official", 0.7, "not_asked", "high"),
        ("approved", 0.9, "match", "high"),
        ("official", 0.69, "match", "medium"),
        ("unknown", 0.84, "not_asked", "medium"),
        ("unknown", 0.85, "not_asked", "high"),
        ("draft", 1.0, "match", "medium"),
        ("official", 1.0, "unknown", "medium"),
        ("official", 1.0, "mismatch", "low"),
        ("official", 0.29, "match", "low"),
        ("official", 0.3, "not_asked", "medium"),
    ],
)
def test_confidence_follows_authority_score_and_period(
    authority: Authority, score: float, period: PeriodMatch, confidence: Confidence
) -> None:
    assert confidence_of(authority, score, period) == confidence


# ---- period match


@pytest.mark.parametrize(
    ("asked", "stated", "expected"),
    [
        ([], ["2024Q3"], "not_asked"),
        (["2024Q3"], [], "unknown"),
        (["2024Q3"], ["2024Q3"], "match"),
        (["2024Q3"], ["2023Q3"], "mismatch"),
        (["2024Q3"], ["2023Q3", "2024Q3"], "match"),
        (["2024Q3"], ["2024Q2", "2023"], "mismatch"),
        (["2024"], ["2024Q3"], "match"),
        (["2024Q3"], ["2024"], "unknown"),
        (["2024Q3"], ["2024-08"], "match"),
        (["2024Q3"], ["2024-08-15"], "match"),
        (["2024Q3"], ["2024-10-20"], "unknown"),
        (["2023Q3", "2024Q3"], ["2023Q3"], "match"),
        (["2024-08-01/2024-10-31"], ["2024Q3"], "unknown"),
        (["2021/2023"], ["2022"], "match"),
        (["2024Q3"], ["1990/1999"], "unknown"),
        (["2024Q3"], ["1990/1999", "2023"], "mismatch"),
        (["2024Q3"], ["the third of never"], "unknown"),
    ],
)
def test_period_match_compares_days(asked: list[str], stated: list[str], expected: PeriodMatch) -> None:
    assert match_periods(asked, stated) == expected


def test_periods_are_the_distinct_times_among_symbols() -> None:
    def symbol(kind: str, normal: str) -> Symbol:
        return Symbol(cls="value", kind=kind, normal=normal, token=normal, start=0, end=1, surface=normal)

    found = [
        symbol("period", "2024Q3"),
        symbol("amount", "CNY 5"),
        symbol("date", "2024-07-01"),
        symbol("period", "2024Q3"),
    ]
    assert periods(found) == ("2024Q3", "2024-07-01")
