from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.language_id import language_of
from retrieval.sentences import sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("收入为2.38亿元。同比下滑5.2%！为什么？", ["收入为2.38亿元。", "同比下滑5.2%！", "为什么？"]),
        ("甲方负责；乙方配合。", ["甲方负责；", "乙方配合。"]),
        ("Revenue fell 5.2%. Costs rose.", ["Revenue fell 5.2%.", "Costs rose."]),
        (
            "Use v1.2.3 of the tool. It is at a.b/c?d=e. Done!",
            ["Use v1.2.3 of the tool.", "It is at a.b/c?d=e.", "Done!"],
        ),
        ("See Fig. 3 and No. 5, e.g. in the U.S. market.", ["See Fig. 3 and No. 5, e.g. in the U.S. market."]),
        ("They left the U.S. The firm Foo Inc. grew.", ["They left the U.S.", "The firm Foo Inc. grew."]),
        ("Mr. J. Smith met Dr. Li.", ["Mr. J. Smith met Dr. Li."]),
        ("1. 差旅费\n2. 住宿费", ["1. 差旅费", "2. 住宿费"]),
        ("1.差旅费2.住宿费。完", ["1.差旅费2.住宿费。", "完"]),
        ("1.2. Scope. It applies.", ["1.2. Scope.", "It applies."]),
        ("他等了……又等。好", ["他等了……又等。", "好"]),
        ("Wait... what? No... Yes.", ["Wait... what?", "No...", "Yes."]),
        ("他说：“我同意。明天开始。”大家散会。", ["他说：“我同意。明天开始。”", "大家散会。"]),
        ("《出发！》票房很好。", ["《出发！》票房很好。"]),
        ("“为什么？”的问题没人答。", ["“为什么？”的问题没人答。"]),
        ('"Why now?" he asked. "Because." She left.', ['"Why now?" he asked.', '"Because."', "She left."]),
        ("The base was low (see note 3. It moved). Next.", ["The base was low (see note 3. It moved).", "Next."]),
        ("收入下滑。[SOURCE: doc_7f3a_p5] [SOURCE: doc_7f3a_p6]。利润上升。", None),
        ("Revenue fell. [SOURCE: doc_7f3a_p5] It rose [SOURCE: doc_7f3a_p6].", None),
        ("收入下滑。\n[SOURCE: doc_7f3a_p5]\n利润上升。", None),
        ("OCR 写作 2．38亿元。完．", ["OCR 写作 2．38亿元。", "完．"]),
        ("a &amp; b; c", ["a &amp; b;", "c"]),
        ("Plan A. We go. See App. 5.", ["Plan A.", "We go.", "See App. 5."]),
        ("其母S.K.母亲由 Apple Inc. 于2024年聘用。完", ["其母S.K.母亲由 Apple Inc. 于2024年聘用。", "完"]),
        ("Sony (Japan Inc.) 负责发行。", ["Sony (Japan Inc.) 负责发行。"]),
        ("生于-{zh-cn:米; zh-tw:公尺}-处。", ["生于-{zh-cn:米; zh-tw:公尺}-处。"]),
        ("It rose [SOURCE: doc_7f3a_p5]. It fell.", ["It rose [SOURCE: doc_7f3a_p5].", "It fell."]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentences_split_where_a_reader_would(text: str, expected: list[str] | None) -> None:
    if expected is None:
        sentences = split(text)
        assert len(sentences) == 2
        assert "SOURCE" in sentences[0]
    else:
        assert split(text) == expected


def test_sentences_split_a_quote_that_is_longer_than_the_limit() -> None:
    text = "他说：“" + "我们同意这一条。" * 40 + "”"
    assert len(split(text)) > 10


def test_sentences_of_a_tag_before_the_full_stop_stay_one() -> None:
    text = "收入为 2.38 亿元 [SOURCE: doc_7f3a_p5]。利润另计。"
    assert split(text) == ["收入为 2.38 亿元 [SOURCE: doc_7f3a_p5]。", "利润另计。"]


PIECES = st.lists(
    st.sampled_from(
        ["收入", "Inc.", "5.2%", "。", ".", "！", "?", "；", ";", "“", "”", '"', "(", ")", "（", "）", " ", "\n", "The",
         "a", "1.", "…", "[SOURCE: doc_7f3a_p5]", "[SOURCE:", "]", "U.S.", "》", "《", "\u3000", "．"]
    ),
    max_size=60,
)  # fmt: skip


@given(PIECES.map("".join) | st.text(max_size=200))
def test_sentences_cover_all_text_in_order(text: str) -> None:
    spans = sentence_spans(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@given(PIECES.map("".join))
def test_sentences_never_cut_a_tag(text: str) -> None:
    tag = "[SOURCE: doc_7f3a_p5]"
    whole = text.count(tag)
    assert sum(piece.count(tag) for piece in split(text)) == whole


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("华澜资产管理的报销制度是什么？", "zh"),
        ("怎么申请 AWS access 权限", "zh"),
        ("How do I apply for AWS access?", "en"),
        ("Who runs 华澜资产管理?", "en"),
        ("Hualan (华澜) reported revenue of RMB 238 million.", "en"),
        ("これは日本語の文章です", "other"),
        ("Это по-русски", "other"),
        ("12345 %", "other"),
        ("", "other"),
    ],
)
def test_language_of_reads_the_carrying_script(text: str, language: str) -> None:
    assert language_of(text) == language
