from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.symbols.rules import FixedRules, TenantRules
from retrieval.symbols.values.calendar import Span, normal_of, parse_span
from retrieval.symbols.values.clock import find_times
from retrieval.symbols.values.durations import find_durations
from retrieval.symbols.values.fiscal import FiscalYear
from retrieval.symbols.values.periods import find_periods

KEY = b"0123456789abcdef"
LANGUAGE = load_language(KEY)
BASE = date(2024, 11, 5)
ZH = "〇一二三四五六七八九"
MONTHS = [date(2024, month, 1).strftime("%B") for month in range(1, 13)]


def found(text: str, base: date | None = None, fiscal: FiscalYear | None = None) -> list[tuple[str, str]]:
    periods = find_periods(fold(text), base, fiscal or FiscalYear())
    return [(text[f.start : f.end], f.normal) for f in periods]


@pytest.mark.parametrize(
    ("text", "surface", "normal"),
    [
        ("于2024.7.1生效", "2024.7.1", "2024-07-01"),
        ("2024年7月1号", "2024年7月1号", "2024-07-01"),
        ("日期：20240701", "20240701", "2024-07-01"),
        ("dated 20240701.", "20240701", "2024-07-01"),
        ("the 1st of July, 2024", "1st of July, 2024", "2024-07-01"),
        ("7/1/2024", "7/1/2024", "2024-07-01"),
        ("1.7.2024", "1.7.2024", "2024-07-01"),
        ("born on 3/2/64", "3/2/64", "1964-03-02"),
        ("01/31/24", "01/31/24", "2024-01-31"),
        ("31-Dec-23", "31-Dec-23", "2023-12-31"),
        ("07/2024", "07/2024", "2024-07"),
        ("Jul '24", "Jul '24", "2024-07"),
        ("民国113年7月1日", "民国113年7月1日", "2024-07-01"),
        ("民國元年", "民國元年", "1912"),
        ("24年三季度", "24年三季度", "2024Q3"),
        ("98年7月1日", "98年7月1日", "1998-07-01"),
        ("2024年三季报", "2024年三季报", "2024Q3"),
        ("in the 1990s", "1990s", "1990/1999"),
        ("1990年代", "1990年代", "1990/1999"),
        ("20世纪90年代", "20世纪90年代", "1990/1999"),
        ("上世纪八十年代", "上世纪八十年代", "1980/1989"),
        ("founded in 1898", "1898", "1898"),
        ("the Civil Rights Act of 1974 protects", "1974", "1974"),
        ("截至2024年9月30日止九个月", "截至2024年9月30日止九个月", "2024-01/2024-09"),
        ("the three years ended December 31, 2019", "three years ended December 31, 2019", "2017/2019"),
        ("52 weeks ended 28 September 2024", "52 weeks ended 28 September 2024", "2023-10-01/2024-09-28"),
        ("the six months to 30 June 2024", "six months to 30 June 2024", "2024H1"),
        ("Nine months to September 2024", "Nine months to September 2024", "2024-01/2024-09"),
        ("three months ended September 2024", "three months ended September 2024", "2024Q3"),
        ("extended by six months to 30 June 2024", "30 June 2024", "2024-06-30"),
        ("2024年7月3日、5号楼", "2024年7月3日", "2024-07-03"),
        ("2024年7月3日和30日内", "2024年7月3日", "2024-07-03"),
        ("自2024年7月1日起至2024年9月30日止", "2024年7月1日起至2024年9月30日", "2024Q3"),
        ("between July 1, 2024 and July 15, 2024", "July 1, 2024 and July 15, 2024", "2024-07-01/2024-07-15"),
        ("2023年12月至2024年2月", "2023年12月至2024年2月", "2023-12/2024-02"),
    ],
)
def test_a_written_date_or_period_needs_no_base_date(text: str, surface: str, normal: str) -> None:
    assert found(text) == [(surface, normal)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7/1/2024 and 31/12/2023", ["2024-01-07", "2023-12-31"]),
        ("7/1/2024 and 12/31/2023", ["2024-07-01", "2023-12-31"]),
        ("2024年6月30日和7月31日", ["2024-06-30", "2024-07-31"]),
        ("2024年6月、7月和8月", ["2024-06", "2024-07", "2024-08"]),
        ("2024年7月3日、6日和9日", ["2024-07-03", "2024-07-06", "2024-07-09"]),
        ("2024年6月30日、7月3日、6日", ["2024-06-30", "2024-07-03", "2024-07-06"]),
        ("2024年7月3日、6日至9日", ["2024-07-03", "2024-07-06/2024-07-09"]),
        ("2023年12月1日至1月31日", ["2023-12/2024-01"]),
        ("July 1 and August 15, 2023", ["2023-07-01", "2023-08-15"]),
        ("Q1, Q2 and Q3 of 2023", ["2023Q1", "2023Q2", "2023Q3"]),
        ("the first and second quarters of 2023", ["2023Q1", "2023Q2"]),
        ("2023年第三季度2.38亿元，上年同期2.51亿元", ["2023Q3", "2022Q3"]),
        ("In Q3 2023 it rose, against the same period last year", ["2023Q3", "2022Q3"]),
    ],
)
def test_neighbours_say_what_is_not_written(text: str, expected: list[str]) -> None:
    assert [normal for _, normal in found(text)] == expected
    assert [normal for _, normal in found(text, BASE)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "version 2024.7.1", "订单20240701", "No. 07/2024", "2006/07", "7月1日", "July 1", "三季度", "Q3", "昨天",
        "上年同期", "去年同期", "it may 5 times", "we march 10 miles", "in 2000 employees", "GB 2024",
        "$2024", "30/30/2024", "2024/13/01", "21世纪", "六七十年代", "FY2023/24",
    ],
)  # fmt: skip
def test_without_a_base_date_there_is_no_date_in(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7月1日", "2024-07-01"),
        ("七月一日", "2024-07-01"),
        ("July 1st", "2024-07-01"),
        ("1 July", "2024-07-01"),
        ("in July", "2024-07"),
        ("三月份", "2024-03"),
        ("三季度", "2024Q3"),
        ("前三季度", "2024-01/2024-09"),
        ("the third quarter", "2024Q3"),
        ("the first nine months", "2024-01/2024-09"),
        ("Q3", "2024Q3"),
        ("12月1日至1月31日", "2024-12/2025-01"),
        ("昨天", "2024-11-04"),
        ("今日", "2024-11-05"),
        ("大后天", "2024-11-08"),
        ("the day before yesterday", "2024-11-03"),
        ("tomorrow", "2024-11-06"),
        ("上上季度", "2024Q2"),
        ("下一季度", "2025Q1"),
        ("上上个月", "2024-09"),
        ("本月15日", "2024-11-15"),
        ("上周", "2024-10-28/2024-11-03"),
        ("上周五", "2024-11-01"),
        ("本周三", "2024-11-06"),
        ("next week", "2024-11-11/2024-11-17"),
        ("前年", "2022"),
        ("后年", "2026"),
        ("明年三季度", "2025Q3"),
        ("去年7月1日", "2023-07-01"),
        ("年初至今", "2024-01-01/2024-11-05"),
        ("year to date", "2024-01-01/2024-11-05"),
        ("最近一个季度", "2024Q3"),
        ("the most recent quarter", "2024Q3"),
    ],
)
def test_a_base_date_resolves(text: str, expected: str) -> None:
    assert [normal for _, normal in found(text, BASE)] == [expected]
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "今日头条", "明日之星", "后天性", "齐明天皇", "上周期", "每年7月1日", "March 15 and September 15 of each year",
        "三个月",
        "四个季度", "十月革命", "六月期", "January Jones", "Q1: What is it?", "the third quarter of the game",
        "last quarter of the moon in 3D", "the second half of the match",
    ],
)  # fmt: skip
def test_with_a_base_date_there_is_still_no_date_in(text: str) -> None:
    assert found(text, BASE) == []


@pytest.mark.parametrize(
    "text", ["2019年成立，7月1日上市", "In 2019 it closed on 1 July", "| December 31, | \n| 2019 | 2018 |"]
)
def test_a_date_without_a_year_beside_another_year_is_left_alone(text: str) -> None:
    assert all(normal in ("2019", "2018") for _, normal in found(text, BASE))


@given(st.dates(date(1951, 1, 1), date(2048, 12, 31)))
@settings(deadline=None, max_examples=60)
def test_relative_dates_move_with_the_base_date_as_the_calendar_does(base: date) -> None:
    def months(first: int, last: int) -> str:
        index = base.year * 12 + base.month - 1
        begin, end = divmod(index + first, 12), divmod(index + last, 12)
        return normal_of(
            Span(date(begin[0], begin[1] + 1, 1), date(end[0], end[1] + 1, monthrange(end[0], end[1] + 1)[1]))
        )

    into_quarter = (base.month - 1) % 3
    monday = base - timedelta(days=base.weekday())
    expected = {
        "上月": months(-1, -1),
        "next month": months(1, 1),
        "本季度": months(-into_quarter, 2 - into_quarter),
        "last quarter": months(-into_quarter - 3, -into_quarter - 1),
        "上上季度": months(-into_quarter - 6, -into_quarter - 4),
        "去年": f"{base.year - 1}",
        "next year": f"{base.year + 1}",
        "昨天": (base - timedelta(days=1)).isoformat(),
        "tomorrow": (base + timedelta(days=1)).isoformat(),
        "下周二": (monday + timedelta(days=8)).isoformat(),
        "上周": normal_of(Span(monday - timedelta(days=7), monday - timedelta(days=1))),
    }
    assert {text: [n for _, n in found(text, base)] for text in expected} == {t: [n] for t, n in expected.items()}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("FY2024", (1, 12)),
        ("FY24", (1, 12)),
        ("fiscal 2024", (1, 12)),
        ("fiscal year 2024", (1, 12)),
        ("2024财年", (1, 12)),
        ("2024财政年度", (1, 12)),
        ("2024年会计年度", (1, 12)),
        ("24财年", (1, 12)),
        ("fiscal Q3 2024", (7, 9)),
        ("Q3 FY2024", (7, 9)),
        ("Q3 FY24", (7, 9)),
        ("3QFY24", (7, 9)),
        ("FY2024 Q3", (7, 9)),
        ("third quarter of fiscal 2024", (7, 9)),
        ("fiscal third quarter 2024", (7, 9)),
        ("2024财年第三季度", (7, 9)),
        ("2024财年上半年", (1, 6)),
        ("H2 FY2024", (7, 12)),
        ("first nine months of fiscal year 2024", (1, 9)),
    ],
)
@pytest.mark.parametrize("start", range(1, 13))
@pytest.mark.parametrize("named_by", ["start", "end"])
def test_fiscal_writings_follow_the_tenant(text: str, part: tuple[int, int], start: int, named_by) -> None:
    begins = 2024 - (named_by == "end" and start > 1)
    first, last = (begins * 12 + start - 1 + month - 1 for month in part)
    span = parse_span(found(text, None, FiscalYear(start, named_by))[0][1])
    assert (span.first.year * 12 + span.first.month - 1, span.last.year * 12 + span.last.month - 1) == (first, last)
    assert [s for s, _ in found(text, None, FiscalYear(start, named_by))] == [text]


@pytest.mark.parametrize("text", ["fiscal years 2024 and 2023", "fiscal 2024, 2023", "Fiscal 2024 or 2023"])
def test_all_years_of_a_list_of_fiscal_years_are_fiscal(text: str) -> None:
    normals = [normal for _, normal in found(text, fiscal=FiscalYear(7))]
    assert normals == ["2024-07/2025-06", "2023-07/2024-06"]


def test_days_listed_behind_one_without_a_year_have_its_year() -> None:
    assert [normal for _, normal in found("7月3日、6日和9日", BASE)] == ["2024-07-03", "2024-07-06", "2024-07-09"]
    assert found("7月3日、6日和9日") == []


def test_calendar_writings_do_not_follow_the_fiscal_year() -> None:
    fiscal = FiscalYear(4, "end")
    for text in ("Q3 2024", "2024年第三季度", "third quarter of 2024", "3Q24"):
        assert [n for _, n in found(text, None, fiscal)] == ["2024Q3"]
    assert normal_of(Span(date(2024, 1, 1), date(2024, 12, 31))) in [n for _, n in found("2024年度", None, fiscal)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("this fiscal year", "2024-04/2025-03"),
        ("last fiscal year", "2023-04/2024-03"),
        ("本财年", "2024-04/2025-03"),
        ("上一财年", "2023-04/2024-03"),
        ("last fiscal quarter", "2024Q3"),
        ("FY2023/24", "2023-04/2024-03"),
        ("fiscal 2023-24", "2023-04/2024-03"),
    ],
)
def test_relative_fiscal_years_are_those_of_the_tenant(text: str, expected: str) -> None:
    assert [n for _, n in found(text, BASE, FiscalYear(4, "end"))] == [expected]


def test_the_rules_of_a_tenant_reach_the_reading() -> None:
    rules = TenantRules(fiscal_year_start=7, fiscal_year_named_by="end")
    language = SymbolLanguage(FixedRules(rules), KEY)
    (symbol,) = language.read("FY2024 revenue", tenant="t")
    assert (symbol.normal, symbol.token) == ("2023-07/2024-06", "[PERIOD_2023-07/2024-06]")


@given(st.dates(date(1951, 1, 1), date(2048, 12, 31)))
@settings(deadline=None, max_examples=60)
def test_every_day_is_read_back_from_its_writings(day: date) -> None:
    def small(n: int) -> str:
        tens, ones = divmod(n, 10)
        return (("" if tens == 1 else ZH[tens]) + "十" if tens else "") + (ZH[ones] if ones else "")

    year_zh = "".join(ZH[int(c)] for c in str(day.year))
    name = MONTHS[day.month - 1]
    texts = [
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.year} 年 {day.month} 月 {day.day} 日",
        f"{year_zh}年{small(day.month)}月{small(day.day)}日",
        f"民国{day.year - 1911}年{day.month}月{day.day}日",
        f"{day.year}/{day.month}/{day.day}",
        f"{day.year}.{day.month}.{day.day}",
        f"{day.month}/{day.day}/{day.year}",
        f"{day.day:02} {name[:3]} {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{name[:3]}. {day.day}, {day.year}",
        f"{day.day}-{name[:3]}-{day.year}",
    ]
    for text in texts:
        assert found(f"（{text}）") == [(text, day.isoformat())]
    for text in (f"{day.month}月{day.day}日", f"{name} {day.day}", f"{day.day} {name}"):
        assert found(f"（{text}）", date(day.year, 1, 1)) == [(text, day.isoformat())]


@given(st.integers(1951, 2048), st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_every_period_is_read_back_from_its_writings(year: int, month: int) -> None:
    quarter, half = (month + 2) // 3, 1 if month <= 6 else 2
    number = ("first", "second", "third", "fourth")[quarter - 1]
    nth, which = ("first", "second")[half - 1], "上下"[half - 1]
    writings = {
        "{0}": ["{0}年", "{0}年度", "FY{0}", "fiscal {0}", "calendar year {0}"],
        "{0}Q{1}": ["{0}年第{2}季度", "{0}年{1}季度", "Q{1} {0}", "{0}Q{1}", "{3} quarter of {0}", "{3}-quarter {0}"],
        "{0}H{4}": ["{0}年{6}半年", "H{4} {0}", "{5} half of {0}"],
        "{0}-{7:02}": ["{0}年{7}月", "{0}年{7}月份", "{8} {0}", "{7:02}/{0}", "{0}-{7:02}"],
    }
    values = (year, quarter, ZH[quarter], number, half, nth, which, month, MONTHS[month - 1])
    for normal, patterns in writings.items():
        for text in (pattern.format(*values) for pattern in patterns):
            assert found(f"（{text}）") == [(text, normal.format(*values))]


@pytest.mark.parametrize(
    "piece",
    [
        "2024-", "2024年", "7月", "7月、", "July 1 and ", "Q1, ", "上年同期", "first and ", "1.7.", "1/1/", "2024/07/",
        "24年", "民国", "年代", "同期", "third quarter of ", "last ", "most recent ", "1990", "FY", "周",
        "上", "截至", "May ",
        "12:", "9:00-", "点", "三年", "a ", "twenty-", "one hundred and ", "3-", "month ", "2024财年",
        "下午2点至", " | July 1",
    ],
    ids=repr,
)  # fmt: skip
def test_text_of_20_kb_that_repeats_how_dates_begin_is_read_to_its_end(piece: str) -> None:
    text = piece * (20_000 // len(piece)) + "，2024年12月31日14时30分起90天"
    found = [*find_periods(text, BASE), *find_times(text), *find_durations(text)]
    assert {"date", "time", "duration"} <= {f.kind for f in found if f.start > len(text) - 30}


_PIECES = (
    *(
        "2024年",
        "第三季度",
        "7月1日",
        "至",
        "和",
        "、",
        "，",
        " ",
        "上年同期",
        "去年",
        "三年",
        "3",
        "-",
        "5年",
        "下午2点",
    ),
    *("14:30", "14时", "30日", "内", "July 1", ", 2024", " to ", " and ", "Q3", "FY24", "fiscal ", "third quarter"),
    *(
        " of ",
        "1990s",
        "年代",
        "90",
        "last ",
        "quarter",
        "three ",
        "months",
        " ended ",
        "截至",
        "止",
        "九个月",
        "7/1/2024",
    ),
    *("31/12/2023", "20240701", "dated ", "2019", " | ", "\n", "(30) ", "days", "两", "半", "个", "小时", "pm", "2"),
    *("民国", "上周", "五", "今天", "。", "1"),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
@settings(deadline=None, max_examples=120)
def test_what_is_read_once_is_not_read_again(text: str) -> None:
    first = LANGUAGE.symbolise(text, tenant="t", base_date=BASE)
    again = LANGUAGE.symbolise(first.text, tenant="t", base_date=BASE)
    assert (again.text, again.index_text, again.symbols) == (first.text, first.index_text, first.symbols)
    for symbol in first.symbols:
        if symbol.kind in ("date", "period"):
            assert normal_of(parse_span(symbol.normal)) == symbol.normal
