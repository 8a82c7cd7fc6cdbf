"""Figures must stand in the cited source: same value after normalisation, same subject, same period."""

from __future__ import annotations

import pytest

from agent.audit.auditor import Auditor
from agent.audit.plain import plain_passage
from agent.audit.verdicts import SentenceVerdict
from retrieval.symbols.language import load_language
from retrieval.types import PeriodMatch

LABEL = "doc_7f3a_p5"
ZH = "2024 年第三季度，公司营业收入 2.38 亿元，同比下滑 5.2%。净利润 0.31 亿元。差旅费须在 30 天内报销。"
EN = (
    "Revenue was RMB 238 million in Q3 2024, compared with RMB 251 million in Q3 2023. Net profit fell by 5.2%. "
    "Travel expenses must be claimed within 30 days. The bond is rated BBB+."
)


@pytest.fixture(scope="module")
def auditor() -> Auditor:
    return Auditor(load_language(b"0123456789abcdef"))


def check(
    auditor: Auditor,
    sentence: str,
    source: str,
    *,
    question: str = "",
    title: str = "",
    period_match: PeriodMatch = "not_asked",
) -> SentenceVerdict:
    """Audit one sentence that cites one passage."""
    passage = plain_passage(LABEL, source, title=title, period_match=period_match)
    audit = auditor.audit(
        f"{sentence} [SOURCE: {LABEL}]",
        passages=[passage],
        labels={LABEL},
        question=question,
        tier="strong",
        tenant="t",
    )
    (verdict,) = audit.sentences
    return verdict


@pytest.mark.parametrize(
    ("sentence", "source", "kind"),
    [
        # The same value in another writing.
        ("2024 年第三季度公司营业收入为 238 million 元。", ZH, "supported"),
        ("公司营业收入为 23,800 万元。", ZH, "supported"),
        ("公司营业收入为 ２．３８ 亿元。", ZH, "supported"),
        ("公司营业收入为 238,000,000 元。", ZH, "supported"),
        ("Revenue was RMB 0.238 billion in Q3 2024.", EN, "supported"),
        ("公司营业收入约 2.4 亿元。", ZH, "supported"),
        ("公司营业收入约 2 亿元。", ZH, "supported"),
        ("Revenue was about RMB 240 million in the third quarter of 2024.", EN, "supported"),
        ("差旅费须在三十天内报销。", ZH, "supported"),
        ("Travel expenses must be claimed within thirty days.", EN, "supported"),
        ("公司营业收入超过 2.3 亿元。", ZH, "supported"),
        ("Revenue was over RMB 230 million.", EN, "supported"),
        # Another value for the same thing.
        ("公司营业收入超过 2.4 亿元。", ZH, "contradicted"),
        ("公司营业收入约 2.6 亿元。", ZH, "contradicted"),
        ("公司营业收入为 23.8 亿元。", ZH, "contradicted"),
        ("公司营业收入为 2.5 亿元。", ZH, "contradicted"),
        ("公司营业收入为 2.380001 亿元。", ZH, "unsupported"),
        ("Revenue was RMB 2.38 billion in Q3 2024.", EN, "contradicted"),
        ("Revenue was USD 238 million in Q3 2024.", EN, "contradicted"),
        ("差旅费须在 60 天内报销。", ZH, "contradicted"),
        ("Travel expenses must be claimed within 60 days.", EN, "contradicted"),
        # The direction is part of a percentage.
        ("营业收入同比下降 5.2%。", ZH, "supported"),
        ("营业收入同比增长 5.2%。", ZH, "contradicted"),
        ("Net profit declined 5.2%.", EN, "supported"),
        ("Net profit rose by 5.2%.", EN, "contradicted"),
        # A value of the source on another subject.
        ("公司净利润为 2.38 亿元。", ZH, "contradicted"),
        # The figures stand there; the words are other words.
        ("营收为2.38亿元，较上年同期下降5.2%。", ZH, "partly_supported"),
        ("Q3 revenue was RMB 238 million.", EN, "supported"),
        # Values that the source does not speak of at all.
        ("公司员工共 4,500 人，营业收入 2.38 亿元。", ZH, "partly_supported"),
        ("董事长持股 17.3%。", ZH, "unsupported"),
        # Codes.
        ("The bond is rated BBB+.", EN, "supported"),
    ],
)
def test_auditor_compares_figures_after_normalisation(auditor: Auditor, sentence: str, source: str, kind: str) -> None:
    assert check(auditor, sentence, source).kind == kind


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Revenue was RMB 238 million in Q3 2024.", "partly_supported"),
        ("Revenue was 238 million in Q3 2024.", "partly_supported"),
        ("Revenue was RMB 2.38 billion in Q3 2024.", "contradicted"),
        ("Revenue fell 5.2%.", "partly_supported"),
        ("Revenue rose 5.2%.", "contradicted"),
        ("Revenue was RMB 777 million.", "unsupported"),
    ],
)
def test_auditor_lets_figures_decide_across_languages(auditor: Auditor, sentence: str, kind: str) -> None:
    assert check(auditor, sentence, ZH).kind == kind


@pytest.mark.parametrize(
    ("sentence", "source", "kind"),
    [
        ("2023 年第三季度公司营业收入 2.38 亿元。", ZH, "contradicted"),
        ("Revenue was RMB 238 million in Q3 2023.", EN, "contradicted"),
        ("Revenue was RMB 251 million in Q3 2023.", EN, "supported"),
        (
            "2023 年第三季度营业收入 2.51 亿元。",
            "2023 年第三季度营业收入 2.51 亿元，2024 年同期 2.38 亿元。",
            "supported",
        ),
        (
            "2024 年第三季度营业收入 2.51 亿元。",
            "2023 年第三季度营业收入 2.51 亿元，2024 年第三季度营业收入 2.38 亿元。",
            "contradicted",
        ),
    ],
)
def test_auditor_checks_the_period_a_figure_belongs_to(auditor: Auditor, sentence: str, source: str, kind: str) -> None:
    assert check(auditor, sentence, source).kind == kind


def test_auditor_flags_a_figure_of_another_period_than_was_asked_for(auditor: Auditor) -> None:
    source = "2023 年第三季度，公司营业收入 2.51 亿元。"
    question = "2024 年第三季度营业收入是多少？"
    silent = check(auditor, "营业收入为 2.51 亿元。", source, question=question)
    assert (silent.kind, silent.flags) == ("partly_supported", ("off_question",))
    assert any(e.rule == "period" and not e.passed for e in silent.evidence)
    forged = check(auditor, "2024 年第三季度营业收入为 2.51 亿元。", source, question=question)
    assert forged.kind == "contradicted"
    honest = check(auditor, "2023 年第三季度营业收入为 2.51 亿元。", source, question=question)
    assert (honest.kind, honest.flags) == ("supported", ())


def test_auditor_flags_a_passage_whose_period_does_not_match(auditor: Auditor) -> None:
    verdict = check(
        auditor,
        "公司主要风险为汇率波动。",
        "公司主要风险为汇率波动。",
        question="2024 年第三季度的主要风险是什么？",
        period_match="mismatch",
    )
    assert (verdict.kind, verdict.flags) == ("partly_supported", ("off_question",))


def test_auditor_takes_the_period_from_the_title(auditor: Auditor) -> None:
    sentence, source = "2024 年第三季度营业收入为 2.38 亿元。", "营业收入为 2.38 亿元。"
    assert check(auditor, sentence, source, title="2024 年第三季度财务简报").kind == "supported"
    assert check(auditor, sentence, source, title="2023 年第三季度财务简报").kind == "contradicted"


def test_auditor_does_not_take_the_questions_figures_for_claims(auditor: Auditor) -> None:
    source = "大额支出由总经理审批。"
    question = "超过 5000 元的支出谁审批？"
    assert check(auditor, "超过 5000 元的大额支出由总经理审批。", source, question=question).kind == "supported"
    assert check(auditor, "超过 8000 元的大额支出由总经理审批。", source, question=question).kind != "supported"


TABLE = (
    "（单位：亿元）\n| 指标 | 2024Q3 | 2023Q3 |\n|---|---|---|\n| 营业收入 | 2.38 | 2.51 |\n| 净利润 | 0.31 | 0.33 |"
)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("2024 年第三季度营业收入为 2.38 亿元。", "supported"),
        ("2023 年第三季度营业收入为 2.51 亿元。", "supported"),
        ("2024 年第三季度营业收入为 2.51 亿元。", "contradicted"),
        ("2024 年第三季度净利润为 2.38 亿元。", "contradicted"),
        ("2024 年第三季度营业收入为 2.38 万元。", "contradicted"),
    ],
)
def test_auditor_reads_tables_with_their_unit_and_column_period(auditor: Auditor, sentence: str, kind: str) -> None:
    assert check(auditor, sentence, TABLE).kind == kind


def test_auditor_reads_the_answers_own_table_by_its_header(auditor: Auditor) -> None:
    tag = f"[SOURCE: {LABEL}]"
    answer = f"| 指标 | 2023Q3 | 2024Q3 |\n|---|---|---|\n| 营业收入 | 2.38 亿元 | 2.51 亿元 {tag} |"
    audit = auditor.audit(
        answer, passages=[plain_passage(LABEL, TABLE)], labels={LABEL}, question="", tier="strong", tenant="t"
    )
    assert audit.sentences[1].kind != "supported"


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("营业收入由 2.51 亿元降至 2.38 亿元，减少 0.13 亿元。", "supported"),
        ("营业收入由 2.51 亿元降至 2.38 亿元，减少 0.23 亿元。", "contradicted"),
    ],
)
def test_auditor_recomputes_a_difference_of_cited_figures(auditor: Auditor, sentence: str, kind: str) -> None:
    source = (
        "营业收入 2.38 亿元，上年为 2.51 亿元，营业收入减少 0.13 亿元。"
        if kind == "contradicted"
        else ("本年营业收入 2.38 亿元，上年营业收入 2.51 亿元。")
    )
    assert check(auditor, sentence, source).kind == kind


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Total sales in 2019 were $1,496.5 million.", "supported"),
        ("Total sales in 2018 were $1,496.5 million.", "contradicted"),
        ("Total sales in 2019 were $1,496.5 thousand.", "contradicted"),
        ("The average of total sales in 2018 and 2019 was $1,349.7 million.", "supported"),
        ("The average of total sales in 2018 and 2019 was $1,431.2 million.", "partly_supported"),
    ],
)
def test_auditor_takes_bare_years_of_a_table_for_its_columns(auditor: Auditor, sentence: str, kind: str) -> None:
    table = "| (in millions) | 2019 | 2018 |\n| Other sales | 44.1 | 56.7 |\n| Total sales | $1,496.5 | $1,202.9 |"
    assert check(auditor, sentence, table).kind == kind


def test_auditor_says_when_a_table_names_no_unit(auditor: Auditor) -> None:
    verdict = check(
        auditor, "Total sales in 2019 were 1,496.5 million.", "| | 2019 | 2018 |\n| Total sales | 1,496.5 | 1,202.9 |"
    )
    assert verdict.kind == "partly_supported"
    assert any("does not name the unit" in e.detail for e in verdict.evidence)


@pytest.mark.parametrize(("amount", "kind"), [("251", "supported"), ("238", "contradicted")])
def test_auditor_pairs_figures_and_periods_listed_respectively(auditor: Auditor, amount: str, kind: str) -> None:
    source = "Revenue in 2024 and 2023 was RMB 238 million and RMB 251 million, respectively."
    assert check(auditor, f"Revenue in 2023 was RMB {amount} million.", source).kind == kind


@pytest.mark.parametrize(("page", "passed"), [(15, True), (16, False)])
def test_auditor_takes_the_cited_page_for_no_figure_of_the_text(auditor: Auditor, page: int, passed: bool) -> None:
    passage = plain_passage(LABEL, ZH, title="财务简报")
    chunk = passage.chunk.model_copy(update={"page_start": 15, "page_end": 15})
    audit = auditor.audit(
        f"《财务简报》第 {page} 页：“公司营业收入 2.38 亿元”。[SOURCE: {LABEL}]",
        passages=[passage.model_copy(update={"chunk": chunk})],
        labels={LABEL},
        question="",
        tier="strong",
        tenant="t",
    )
    assert (audit.sentences[0].kind == "supported") is passed


def test_auditor_compares_secrets_by_pseudonym(auditor: Auditor) -> None:
    language = load_language(b"0123456789abcdef")
    source = language.symbolise("联系人电话 13812345678。", tenant="t").text
    same = language.symbolise("联系人电话是 13812345678。", tenant="t").text
    other = language.symbolise("联系人电话是 13987654321。", tenant="t").text
    assert check(auditor, same, source).kind == "supported"
    assert check(auditor, other, source).kind == "contradicted"


def test_auditor_gives_spans_of_both_sides_of_a_figure(auditor: Auditor) -> None:
    sentence = "公司营业收入为 2.5 亿元。"
    verdict = check(auditor, sentence, ZH)
    evidence = next(e for e in verdict.evidence if e.rule == "figure" and not e.passed)
    assert evidence.answer_span is not None
    assert evidence.source_span is not None
    assert sentence[slice(*evidence.answer_span)] == "2.5 亿元"
    assert ZH[slice(*evidence.source_span)] == "2.38 亿元"
    assert "2.38 亿元" in evidence.detail
