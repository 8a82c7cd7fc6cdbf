"""The plain answer: no protocol tag reaches the reader, whatever the model falls back into."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocols.pieces import AnswerEnd, AnswerText, Malformed, Piece, join_adjacent
from agent.protocols.plain import PlainProtocol
from agent.protocols.tags import OPEN_RE, tag_at


def parse(*texts: str) -> list[Piece]:
    parser = PlainProtocol()
    pieces = [piece for text in texts for piece in parser.feed(text)]
    return join_adjacent([*pieces, *parser.finish()])


def answer(pieces: list[Piece]) -> str | None:
    closed = any(isinstance(p, AnswerEnd) for p in pieces)
    return "".join(p.text for p in pieces if isinstance(p, AnswerText)) if closed else None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Revenue was 238 million [SOURCE: doc_7f3a_p5].", "Revenue was 238 million [SOURCE: doc_7f3a_p5]."),
        ("\n  5  \n", "5"),
        ("<final_answer>yes</final_answer>", "yes"),
        ("Thought: well\n<final_answer>yes, it is so, by all means</final_answer> more", "yes, it is so, by all means"),
        ("yes, it is so, by all means</final_answer> Observation: x", "yes, it is so, by all means"),
        ("<think>\nso <final_answer>no</final_answer>\n</think>\n\nyes", "yes"),
        ("The tag `<tool_name>` begins a call, they say.", "The tag `<tool_name>` begins a call, they say."),
        ("It is <b>5</b>, a < b, and 7 > 6 as well here", "It is <b>5</b>, a < b, and 7 > 6 as well here"),
        ("I see. <final_answer>It is five days a week.</final_answer>", "I see. It is five days a week."),
    ],
)
def test_plain_answer_is_read(reply: str, expected: str) -> None:
    assert answer(parse(reply)) == expected


@pytest.mark.parametrize(
    "reply",
    ["", "  ", "<think>endless", "Thought: I still think", "<tool_name>calculate</tool_name><arguments>{}</arguments>"],
)
def test_plain_reply_without_an_answer_is_malformed(reply: str) -> None:
    pieces = parse(reply)
    assert answer(pieces) is None
    assert any(isinstance(p, Malformed) for p in pieces) or reply.startswith("<tool_name>")


def test_plain_answer_streams_before_its_end() -> None:
    parser = PlainProtocol()
    pieces = parser.feed("Revenue was 238 million in the third quarter, ")
    assert parser.live
    assert join_adjacent(pieces) == [AnswerText("Revenue was 238 million in the third quarter,")]


FRAGMENTS = [
    *("Thought: ", "<final_answer>", "</final_answer>", "<tool_name>", "</tool_name>", "<arguments>", "{}", "`", "yes"),
    *("<think>", "</think>", "<", "＜", "/", ">", " ", "\n", "\ufeff", "[SOURCE: doc_7f3a_p5]", "思考：", "x" * 32),
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.data())
def test_any_cut_of_a_plain_reply_gives_the_same_pieces_and_no_raw_tag(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    whole = parse(text)
    assert parse(text[:cut], text[cut:]) == whole
    assert parse(*text) == whole
    shown = answer(whole) or ""
    if not text.lstrip("\ufeff \n").startswith(("<final_answer>", "Thought:", "思考：", "<tool_name>", "<think>")):
        for found in OPEN_RE.finditer(shown):
            quoted = found.start() > 0 and shown[found.start() - 1] == "`"
            assert quoted or tag_at(shown, found.start(), final=True) is None
