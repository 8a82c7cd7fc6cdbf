from __future__ import annotations

from datetime import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.language import load_language
from retrieval.symbols.values.clock import find_times

LANGUAGE = load_language(b"0123456789abcdef")


def times(text: str) -> list[tuple[str, str]]:
    return [(text[f.start : f.end], f.normal) for f in sorted(find_times(fold(text)), key=lambda f: f.start)]


@pytest.mark.parametrize(
    ("text", "surface", "normal"),
    [
        ("14:30开会", "14:30", "14:30"),
        ("１４：３０开会", "１４：３０", "14:30"),
        ("14:30:05", "14:30:05", "14:30:05"),
        ("下午2点30分召开", "下午2点30分", "14:30"),
        ("下午2点30召开", "下午2点30", "14:30"),
        ("下午两点半", "下午两点半", "14:30"),
        ("上午九点一刻", "上午九点一刻", "09:15"),
        ("下午2:30", "下午2:30", "14:30"),
        ("14时30分", "14时30分", "14:30"),
        ("零时9分9秒", "零时9分9秒", "00:09:09"),
        ("3点整", "3点整", "03:00"),
        ("7月1日14时", "14时", "14:00"),
        ("14点前到账", "14点", "14:00"),
        ("中午12点", "中午12点", "12:00"),
        ("中午1点", "中午1点", "13:00"),
        ("晚上12点", "晚上12点", "00:00"),
        ("夜里2点", "夜里2点", "02:00"),
        ("晚上8点", "晚上8点", "20:00"),
        ("at 2:30 pm sharp", "2:30 pm", "14:30"),
        ("at 2:30 p.m. sharp", "2:30 p.m.", "14:30"),
        ("by 9am", "9am", "09:00"),
        ("12 pm", "12 pm", "12:00"),
        ("12:15 AM", "12:15 AM", "00:15"),
        ("at 9:15 on Monday", "9:15", "09:15"),
        ("营业时间：9:00", "9:00", "09:00"),
        ("2024-07-01T14:30:00Z", "14:30:00", "14:30:00"),
        ("2024-07-01 14:30:05", "14:30:05", "14:30:05"),
    ],
)
def test_a_time_is_read_in_24_hours(text: str, surface: str, normal: str) -> None:
    assert times(text) == [(surface, normal)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9:00-17:00", ["09:00", "17:00"]),
        ("9:00 至 17:00", ["09:00", "17:00"]),
        ("上午9:30-11:30，下午13:30-17:00", ["09:30", "11:30", "13:30", "17:00"]),
        ("下午2点至5点", ["14:00", "17:00"]),
        ("上午9点到11点30分", ["09:00", "11:30"]),
        ("8-17时", ["08:00", "17:00"]),
        ("2-3 pm", ["14:00", "15:00"]),
        ("11-1 pm", ["11:00", "13:00"]),
        ("2:30 to 4:00 pm", ["14:30", "16:00"]),
        ("10:00 to 2:00 pm", ["10:00", "14:00"]),
        ("09:00:00-17:00:00", ["09:00:00", "17:00:00"]),
    ],
)
def test_both_ends_of_a_range_are_times(text: str, expected: list[str]) -> None:
    assert [normal for _, normal in times(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "比例为1:10",
        "a ratio of 12:30",
        "按3:20的比例",
        "比分3:20",
        "16:9",
        "1:10",
        "25:30",
        "14:60",
        "12:345",
        "00:1A:2B:12:34:56",
        "2001:db8::12:34",
        "八点建议",
        "三点意见",
        "上涨3000点",
        "0.5点",
        "5个百分点",
        "第3点",
        "那时候",
        "I am 3",
        "PM2.5",
        "GMT+08:00",
        "http://localhost:8080",
        "main.py:12:30",
    ],
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert times(text) == []


@settings(deadline=None, max_examples=60)
@given(st.times())
def test_every_time_is_read_back_from_its_writings(moment: time) -> None:
    whole = f"{moment:%H:%M:%S}"
    short = f"{moment:%H:%M}"
    hour = moment.hour % 12 or 12
    half = "am" if moment.hour < 12 else "pm"
    word = "凌晨" if moment.hour < 12 else "下午"
    for text, normal in [
        (whole, whole),
        (short, short),
        (f"{moment.hour}时{moment.minute}分", short),
        (f"{moment.hour}时{moment.minute}分{moment.second}秒", whole),
        (f"{hour}:{moment.minute:02} {half}", short),
        (f"{word}{hour}点{moment.minute}分", short),
    ]:
        assert times(text) == [(text, normal)]
        (symbol,) = LANGUAGE.read(text, tenant="t")
        assert (symbol.kind, symbol.normal, symbol.token) == ("time", normal, f"[TIME_{normal}]")
        assert time.fromisoformat(symbol.normal) == moment.replace(
            second=moment.second if normal == whole else 0, microsecond=0
        )


def test_a_time_in_the_index_text_is_not_read_again() -> None:
    once = LANGUAGE.symbolise("14:30开会，90分钟内结束", tenant="t").index_text
    assert once == "[TIME_14:30]开会，[DURATION_PT90M]内结束"
    assert LANGUAGE.symbolise(once, tenant="t").index_text == once
