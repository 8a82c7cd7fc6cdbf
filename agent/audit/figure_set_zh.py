"""Chinese statements of the figure set: reports with seeded random values, and what is true and false of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from agent.audit.figure_writing import FigureStatement, change_digit, grouped

_COMPANIES = ("华澜资产管理", "远川证券", "江汉电力", "恒岳制造", "北辰医药", "金陵水务", "云岭航空", "东湖软件")
_ITEMS = (
    "公募基金管理费收入", "专户业务收入", "财富代销收入", "投资顾问收入", "销售费用", "研发费用", "管理费用",
    "归属于母公司股东的净利润", "经营活动现金流量净额", "应收账款", "存货余额", "利息支出",
)  # fmt: skip
_PERIODS = (("2024年第三季度", "2023年第三季度"), ("2023年度", "2022年度"), ("2024年上半年", "2023年上半年"))
_REPORTS = 24
_ROWS = 5


@dataclass(frozen=True, slots=True)
class _Row:
    item: str
    now: Decimal
    then: Decimal


def chinese_statements(seed: int = 11) -> Iterator[FigureStatement]:
    """Yield statements about random reports; the same ones for the same seed."""
    randoms = random.Random(seed)
    for number in range(_REPORTS):
        company = _COMPANIES[number % len(_COMPANIES)]
        now, then = _PERIODS[number % len(_PERIODS)]
        rows = [_row(item, randoms) for item in randoms.sample(_ITEMS, _ROWS)]
        if len({v for r in rows for v in (r.now, r.then)}) < 2 * _ROWS:
            continue
        text = _table(company, now, then, rows) if number % 2 else _prose(company, now, then, rows)
        for row in rows:
            yield from _of_row(text, company, now, then, row, rows, randoms)


def _row(item: str, randoms: random.Random) -> _Row:
    now = Decimal(randoms.randint(1100, 9899)) / 100
    then = (now * Decimal(randoms.randint(60, 140)) / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return _Row(item, now, then if then != now else then + 1)


def _table(company: str, now: str, then: str, rows: list[_Row]) -> str:
    lines = [
        f"下表列示{company}{now}与{then}的主要数据，单位为亿元。",
        "",
        f"| 项目 | {now} | {then} |",
        "| --- | --- | --- |",
    ]
    return "\n".join([*lines, *(f"| {r.item} | {r.now} | {r.then} |" for r in rows)])


def _prose(company: str, now: str, then: str, rows: list[_Row]) -> str:
    return "".join(f"{now}，{company}{r.item}为 {r.now} 亿元，{then}为 {r.then} 亿元。" for r in rows)


def _of_row(
    text: str, company: str, now: str, then: str, row: _Row, rows: list[_Row], randoms: random.Random
) -> Iterator[FigureStatement]:
    question = f"{company}{now}的{row.item}是多少？"
    values = {v for r in rows for v in (r.now, r.then)}

    def say(value: str, true: bool, kind: str) -> FigureStatement:
        form = randoms.choice((
            "{p}{c}{i}为 {v}。",
            "{c}{p}的{i}达到 {v}。",
            "{p}，{i}为 {v}。",
            "{c}在{p}实现{i} {v}。",
        ))
        return FigureStatement(text, question, form.format(p=now, c=company, i=row.item, v=value), true, kind, "zh")

    yield say(f"{row.now} 亿元", True, "stated")
    yield say(f"{grouped(row.now * 10000)} 万元", True, "rescaled")
    yield say(f"{grouped(row.now * 100)} 百万元", True, "rescaled")
    rounded = row.now.quantize(Decimal("0.1"), ROUND_HALF_UP)
    yield say(f"{rounded} 亿元", True, "rounded")
    wrong = rounded + (Decimal("0.1") if rounded >= row.now else -Decimal("0.1"))
    yield say(f"{wrong} 亿元", False, "rounding")
    changed = change_digit(row.now, randoms)
    if changed not in values:
        yield say(f"{changed} 亿元", False, "digit")
    yield say(f"{row.now} 万元", False, "scale")
    yield say(f"{row.now}%", False, "unit")
    yield say(f"{row.then} 亿元", False, "period")
    yield say(f"{randoms.choice([r for r in rows if r is not row]).now} 亿元", False, "subject")
    yield from _computed(text, now, then, row, rows, randoms)


def _computed(
    text: str, now: str, then: str, row: _Row, rows: list[_Row], randoms: random.Random
) -> Iterator[FigureStatement]:
    gap = row.now - row.then
    growth = (abs(gap) / row.then * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
    verb, turned = ("增长", "下降") if gap > 0 else ("下降", "增长")
    question = f"{row.item}变化了多少？"

    def say(statement: str, true: bool, kind: str) -> FigureStatement:
        return FigureStatement(text, question, statement, true, kind, "zh")

    if growth >= 1:
        yield say(f"{now}{row.item}同比{verb} {growth}%。", True, "growth")
        yield say(f"{now}{row.item}同比{turned} {growth}%。", False, "sign")
        yield say(f"{now}{row.item}同比{verb} {change_digit(growth, randoms)}%。", False, "recomputed")
    yield say(f"{now}{row.item}比{then}{'增加' if gap > 0 else '减少'} {abs(gap)} 亿元。", True, "difference")
    other = randoms.choice([r for r in rows if r is not row])
    total = row.now + other.now
    yield say(f"{now}{row.item}与{other.item}合计 {total} 亿元。", True, "sum")
    yield say(f"{now}{row.item}与{other.item}合计 {change_digit(total, randoms)} 亿元。", False, "recomputed")
    average = ((row.now + row.then) / 2).quantize(Decimal("0.01"), ROUND_HALF_UP)
    yield say(f"{row.item}{then}与{now}的平均值为 {average} 亿元。", True, "average")
