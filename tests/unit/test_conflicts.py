"""Which pairs of passages contradict each other, and which only look like it."""

from __future__ import annotations

from datetime import date
from typing import get_args

import pytest

from retrieval.conflicts import find_conflicts
from retrieval.labels import find_tags
from retrieval.language_id import language_of
from retrieval.passages import format_passage, make_passage
from retrieval.symbols.language import load_language
from retrieval.types import Chunk, Qualifier

LANGUAGE = load_language(bytes(32))


def chunk(text: str, document_id: str, **fields: object) -> Chunk:
    read = LANGUAGE.symbolise(text, tenant="t")
    values: dict[str, object] = {
        "chunk_id": f"{document_id}/{text}",
        "tenant": "t",
        "document_id": document_id,
        "ordinal": 0,
        "text": read.text,
        "index_text": read.index_text,
        "symbols": read.symbols,
        "start_char": 0,
        "end_char": len(text),
        "language": language_of(text),
        "title": "T",
    }
    return Chunk.model_validate(values | fields)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("员工每年享有带薪年假 15 天。", "年假为 10 天。"),
        ("住宿费报销上限为每晚 500 元。", "住宿费每晚最高报销 800 元。"),
        ("2024 年第三季度营业收入为 2.38 亿元。", "2024年第三季度营业收入2.83亿元。"),
        ("客户风险等级每 12 个月重新评估一次。", "客户风险等级每24个月重新评估。"),
        ("申购起点金额为 1 万元。", "申购起点为5万元。"),
        ("The hotel limit is 500 yuan per night.", "Hotels: 800 yuan per night."),
        ("Hotels: at most 500 yuan per night.", "Hotels: at most 800 yuan per night."),
        ("Annual leave is 15 days.", "Employees have 10 days of annual leave."),
        ("Revenue in Q3 2024 was RMB 238 million.", "Q3 2024 revenue: RMB 283 million."),
        ("The management fee is 1.2% a year.", "Management fee: 1.5% a year"),
    ],
)
def test_conflicts_are_found_between_two_values_of_one_thing(one: str, other: str) -> None:
    [found] = find_conflicts([chunk(one, "d1"), chunk(other, "d2")])
    assert (found.first, found.second) == (0, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("北京住宿费报销上限为每晚 500 元。", "上海住宿费报销上限为每晚 400 元。"),
        ("2023 年营业收入为 2.21 亿元。", "2024 年营业收入为 2.38 亿元。"),
        ("年假 15 天。", "病假 10 天。"),
        ("营业收入为 2.38 亿元。", "净利润为 0.5 亿元。"),
        ("营业收入为 2.38 亿元。", "营业收入为 238,000,000 元。"),
        ("营业收入为 2.38 亿元。", "营业收入约 2.4 亿元。"),
        ("A 基金管理费为 1.2%。", "B 基金管理费为 1.5%。"),
        ("报销须在 30 天内提交。", "报销金额超过 5000 元须经理批准。"),
        ("Revenue in Q3 2023 was 221 million yuan.", "Revenue in Q3 2024 was 238 million yuan."),
        ("Hotels in Beijing: up to 800 yuan per night.", "Hotels in Shanghai: up to 500 yuan per night."),
        ("Annual leave is 15 days.", "Sick leave is 10 days."),
        ("The deposit is 10%.", "The deposit was raised from 8% to 10%."),
        ("Annual leave is 15 days.", "年假为 10 天。"),
    ],
    ids=str,
)
def test_conflicts_are_not_seen_between_other_things_other_times_or_equal_values(one: str, other: str) -> None:
    assert find_conflicts([chunk(one, "d1"), chunk(other, "d2")]) == []


def test_conflicts_are_not_seen_within_one_document_or_between_reports_of_two_years() -> None:
    one, other = "Annual leave is 15 days.", "Annual leave is 10 days."
    assert find_conflicts([chunk(one, "d1"), chunk(other, "d1")]) == []
    old, new = chunk(one, "d1", title="Report 2023"), chunk(other, "d2", title="Report 2024")
    assert find_conflicts([old, new]) == []
    assert find_conflicts([old, new.model_copy(update={"title": "Report 2023"})]) != []


def test_conflicts_are_looked_for_with_the_first_ones_alone() -> None:
    chunks = [chunk(f"Annual leave is {n} days.", f"d{n}") for n in (5, 6, 7)]
    assert [(c.first, c.second) for c in find_conflicts(chunks)] == [(0, 1), (0, 2), (1, 2)]
    assert [(c.first, c.second) for c in find_conflicts(chunks, first=1)] == [(0, 1), (0, 2)]


@pytest.mark.parametrize("qualifier", [q for q in get_args(Qualifier) if q])
def test_conflicts_of_two_bounds_of_one_kind_are_seen(qualifier: str) -> None:
    def bounded(chunk: Chunk) -> Chunk:
        symbols = tuple(s.model_copy(update={"qualifier": qualifier}) for s in chunk.symbols)
        return chunk.model_copy(update={"symbols": symbols})

    one, other = (bounded(chunk(f"The deposit is {n}%.", f"d{n}")) for n in (10, 30))
    assert len(find_conflicts([one, other])) == 1


def test_passage_shows_who_disagrees_with_authority_and_date() -> None:
    shown = make_passage(
        "doc_7f3a_p5", chunk("年假 15 天。", "7f3a", authority="official", effective_from=date(2024, 1, 1)), 0.9, (), ()
    ).model_copy(update={"conflicts_with": ("doc_9b21_p1",)})
    zh, en = format_passage(shown, "zh"), format_passage(shown, "en")
    assert zh.endswith("【说法冲突】同一事项的数值与 [SOURCE: doc_9b21_p1] 不同；本来源：official，2024-01-01 起生效")
    assert en.endswith(
        "[CONFLICT] [SOURCE: doc_9b21_p1] gives another value for the same thing;"
        " this source: official, in force from 2024-01-01"
    )
    assert {tag.label for tag in find_tags(en)} == {"doc_7f3a_p5", "doc_9b21_p1"}


def test_passage_says_until_when_an_older_edition_was_in_force() -> None:
    shown = make_passage("doc_7f3a_p5", chunk("年假 15 天。", "7f3a"), 0.9, (), ()).model_copy(
        update={"superseded_from": date(2025, 1, 1)}
    )
    assert "【有效期】非最新版本：至 2025-01-01 前有效" in format_passage(shown, "zh")
    assert "[VALIDITY] not the newest edition: in force until 2025-01-01" in format_passage(shown, "en")
    assert "VALIDITY" not in format_passage(shown.model_copy(update={"superseded_from": None}), "en")
