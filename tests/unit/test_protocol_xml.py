"""The streamed text protocol: what acts, what does not, and that no cut of the stream matters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocols.pieces import (
    AnswerEnd,
    AnswerText,
    Call,
    Malformed,
    Piece,
    ThoughtText,
    join_adjacent,
)
from agent.protocols.xml import XmlProtocol
from retrieval.neutralise import neutralise

CALL = '<tool_name>search_knowledge</tool_name><arguments>{"question": "Q3"}</arguments>'


def parse(*texts: str) -> list[Piece]:
    parser = XmlProtocol()
    pieces = [piece for text in texts for piece in parser.feed(text)]
    return join_adjacent([*pieces, *parser.finish()])


def calls(pieces: list[Piece]) -> list[tuple[str, dict[str, object]]]:
    return [(p.name, p.arguments) for p in pieces if isinstance(p, Call)]


def answer(pieces: list[Piece]) -> str | None:
    """The answer, None when it was not closed."""
    closed = any(isinstance(p, AnswerEnd) for p in pieces)
    return "".join(p.text for p in pieces if isinstance(p, AnswerText)) if closed else None


def thought(pieces: list[Piece]) -> str:
    return "".join(p.text for p in pieces if isinstance(p, ThoughtText))


def malformed(pieces: list[Piece]) -> list[str]:
    return [p.code for p in pieces if isinstance(p, Malformed)]


def test_thought_then_call_are_told_apart() -> None:
    pieces = parse(f"Thought: I need Q3.\n{CALL}")
    assert thought(pieces) == "I need Q3.\n"
    assert calls(pieces) == [("search_knowledge", {"question": "Q3"})]
    assert malformed(pieces) == []


def test_thought_streams_before_the_call_is_complete() -> None:
    parser = XmlProtocol()
    assert join_adjacent(parser.feed("Thought: I need the ")) == [ThoughtText("I need the ")]


def test_final_answer_ends_the_reply() -> None:
    pieces = parse(
        "思考：够了。\n<final_answer>\n收入 2.38 亿元 [SOURCE: doc_7f3a_p5]。\n</final_answer>\nObservation: x"
    )
    assert answer(pieces) == "收入 2.38 亿元 [SOURCE: doc_7f3a_p5]。"
    assert thought(pieces) == "够了。\n"
    assert malformed(pieces) == []


@pytest.mark.parametrize(
    "mention",
    [
        '`<tool_name>delete_all</tool_name><arguments>{"x": 1}</arguments>`',
        '"use <tool_name>delete_all</tool_name><arguments>{}</arguments>"',
        "“<tool_name>delete_all</tool_name><arguments>{}</arguments>”",
        "the <tool_name> tag",
        "the `<final_answer>` tag",
        '{"action": "delete_all", "action_input": {}}',
        '\n```xml\n<tool_name>delete_all</tool_name><arguments>{"x": 1}</arguments>\n```',
        "\n```\n<final_answer>example</final_answer>\n```",
        "<tool_name>a</tool_name> without arguments",
    ],
)
def test_a_mention_in_a_thought_does_not_act_and_the_real_call_runs(mention: str) -> None:
    pieces = parse(f"Thought: the format is {mention} and so:\n{CALL}")
    assert calls(pieces) == [("search_knowledge", {"question": "Q3"})]
    assert answer(pieces) is None
    assert malformed(pieces) == []


@pytest.mark.parametrize(
    "text",
    [
        "Write `Action: search` and then <tool_name>x</tool_name><arguments>{}</arguments>.",
        "Action: none. Observation: none.",
        "Close it with `</final_answer>` at the end.",
        "a < b, <b>bold</b> and <tool_name",
    ],
)
def test_the_answer_may_talk_about_the_protocol(text: str) -> None:
    pieces = parse(f"Thought: done\n<final_answer>{text}</final_answer>")
    assert answer(pieces) == text
    assert calls(pieces) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Thought: x\n<tool_name>search", "unclosed_call"),
        ("Thought: x\n<tool_name>search_knowledge</tool_na", "unclosed_call"),
        ("Thought: x\n<tool_name>search_knowledge</tool_name>", "unclosed_call"),
        ('Thought: x\n<tool_name>a</tool_name><arguments>{"question": "wh', "unclosed_call"),
        ('Thought: x\n<tool_name>a</tool_name><arguments>{"question": "wh"}</argum', "unclosed_call"),
        ('Thought: x\n<tool_name>a</tool_name><arguments>{"question": "say </arguments> ', "unclosed_call"),
        ("Thought: x\n<final_answer>Revenue was 238", "unclosed_answer"),
        ("Thought: x\n<final_answer>Revenue was 238</final_ans", "unclosed_answer"),
        ("Thought: x\n<final_answer>  </final_answer>", "empty_answer"),
        ("<think>hm, <final_answer>no</final_answer>", "unclosed_think"),
        ("The revenue was 238 million.", "no_action"),
        ("", "no_action"),
    ],
)
def test_a_reply_cut_or_without_action_is_malformed(text: str, code: str) -> None:
    pieces = parse(text)
    assert malformed(pieces) == [code]
    assert calls(pieces) == []
    assert answer(pieces) is None


def test_every_cut_of_a_good_reply_gives_no_answer_and_no_call_too_early() -> None:
    whole = "Thought: x\n<final_answer>Revenue was 238 [SOURCE: doc_7f3a_p5].</final_answer>"
    for end in range(len(whole)):
        assert answer(parse(whole[:end])) is None
    whole = f"Thought: x\n{CALL}"
    for end in range(len(whole)):
        assert calls(parse(whole[:end])) == []


def test_a_closing_tag_inside_a_json_string_is_data() -> None:
    pieces = parse('<tool_name>w</tool_name><arguments>{"t": "a \\" </arguments> </tool_name> b"}</arguments>')
    assert calls(pieces) == [("w", {"t": 'a " </arguments> </tool_name> b'})]


@pytest.mark.parametrize(
    "raw", ["{'question': 'Q3'}", '{"question": "Q3",}', '{question: "Q3"}', '{"question": "Q3"', '{"question": "Q3}']
)
def test_broken_json_is_mended_and_said_to_be(raw: str) -> None:
    pieces = parse(f"<tool_name>search</tool_name><arguments>{raw}</arguments>")
    assert [(p.arguments, p.repaired) for p in pieces if isinstance(p, Call)] == [({"question": "Q3"}, True)]


@pytest.mark.parametrize(
    "raw", ["Q3 revenue", "[1, 2]", "{:::}", "{???}", '{"x": ' * 200, "[" * 5000, '{"a": 1e999}', '{"a":"b}x']
)
def test_arguments_beyond_repair_do_not_run(raw: str) -> None:
    pieces = parse(f"<tool_name>search</tool_name><arguments>{raw}</arguments>")
    assert calls(pieces) == []
    assert len(malformed(pieces)) == 1


def test_an_open_quote_does_not_swallow_the_next_call_as_data() -> None:
    pieces = parse(f'<tool_name>a</tool_name><arguments>{{"q": "abc}}</arguments>\n{CALL}')
    assert calls(pieces) == []
    assert malformed(pieces) == ["bad_arguments"]


def test_two_calls_come_in_order_and_what_follows_them_is_left_out() -> None:
    text = (
        f"Thought: both\n{CALL}\n<tool_name>calculate</tool_name>\n<arguments>{{}}</arguments>\n"
        "Observation: invented\nThought: so\n<final_answer>made up</final_answer>"
    )
    pieces = parse(text)
    assert [name for name, _ in calls(pieces)] == ["search_knowledge", "calculate"]
    assert answer(pieces) is None
    assert "invented" not in thought(pieces)


def test_a_reply_wrapped_in_a_code_fence_acts() -> None:
    pieces = parse(f"Thought: x\n```xml\n{CALL}\n```\n")
    assert calls(pieces) == [("search_knowledge", {"question": "Q3"})]
    assert answer(parse("```\n<final_answer>yes</final_answer>\n```")) == "yes"


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff  **Thought:** need it\n{CALL}",
        '＜tool_name＞search_knowledge＜/tool_name＞＜arguments＞{"question": "Q3"}＜/arguments＞',
        '< Tool_Name >search_knowledge</ tool_name>\n<ARGUMENTS>```json\n{"question": "Q3"}\n```</ARGUMENTS>',
        f"<think>maybe <tool_name>x</tool_name><arguments>{{}}</arguments>?</think>\nThought: yes\n{CALL}",
        f"of course</think>{CALL}",
    ],
)
def test_common_deviations_are_read(text: str) -> None:
    pieces = parse(text)
    assert calls(pieces) == [("search_knowledge", {"question": "Q3"})]
    assert malformed(pieces) == []
    assert "Thought" not in thought(pieces)


def test_unprintable_characters_do_not_pass() -> None:
    pieces = parse('<tool_name>s</tool_name><arguments>{"q": "a\\ud800b\\u0000"}</arguments>')
    assert calls(pieces) == [("s", {"q": "a\ufffdb\ufffd"})]
    assert answer(parse("<final_answer>a\ud800b\x00</final_answer>")) == "a\ufffdb\ufffd"


def test_ended_is_told_as_soon_as_nothing_can_change() -> None:
    parser = XmlProtocol()
    parser.feed("<final_answer>yes</final_answer>")
    assert parser.ended
    parser = XmlProtocol()
    parser.feed(f"{CALL}\n")
    assert not parser.ended
    parser.feed("Obs")
    assert parser.ended


HOSTILE = [
    "<",
    "<tool_name>",
    "`<think>",
    f"```\n{CALL}\n```\n",
    "<final_answer></final_answe",
    '<tool_name>a</tool_name><arguments>"</arguments>',
    "Thought: ",
    "   \n",
    "<final_answer>a \n",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_replies_are_read_in_linear_time(unit: str) -> None:
    # Well under a second each; a quadratic parser runs into the time-out.
    text = (unit * 60_000)[:60_000]
    assert parse(*(text[i : i + 7] for i in range(0, len(text), 7))) == parse(text)


def test_a_reply_without_end_is_cut() -> None:
    parser = XmlProtocol()
    pieces = [p for _ in range(30) for p in parser.feed("word " * 2_000)] + parser.finish()
    assert malformed(pieces) == ["too_long"]


FRAGMENTS = [
    *("Thought:", "思考：", "**", " ", "\n", "`", "```", '"', "“", "”", "x", "Action: ", "Observation: ", "{", "}"),
    *("<tool_name>", "</tool_name>", "<arguments>", "</arguments>", "<final_answer>", "</final_answer>", "<think>"),
    *(
        "</think>",
        "search",
        '{"q": "a"}',
        '{"q": "</arguments>"}',
        "{'q': 1",
        "\\",
        "<",
        "＜",
        ">",
        "＞",
        "/",
        "\ufeff",
    ),
    *("<tool_na", "me>", "</final", "_answer>", "a b", "\ud800", "＜tool_name＞", CALL, "[SOURCE: doc_7f3a_p5]"),
]
REPLIES = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4)), max_size=16).map("".join)


@settings(max_examples=600, deadline=None)
@given(REPLIES, st.data())
def test_any_cut_of_any_reply_gives_the_same_pieces(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = parse(text)
    assert parse(*parts) == whole
    assert parse(*text) == whole


@settings(max_examples=300, deadline=None)
@given(REPLIES)
def test_every_reply_has_an_outcome_and_one_answer_at_most(text: str) -> None:
    pieces = parse(text)
    assert any(isinstance(p, Call | AnswerEnd | Malformed) for p in pieces)
    shown = parse(f"<final_answer>{text}")
    assert sum(isinstance(p, AnswerEnd) for p in shown) <= 1


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.text(max_size=8), st.text() | st.integers() | st.booleans() | st.none(), max_size=4), st.data()
)
def test_any_json_arguments_come_through_whole(arguments: dict[str, object], data: st.DataObject) -> None:
    raw = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
    pieces = parse(f"Thought: x\n<tool_name>t</tool_name><arguments>{raw}</arguments>")
    expected = json.loads(raw.replace("\x00", "\ufffd").replace("\\u0000", "\\ufffd"))
    assert calls(pieces) == [("t", expected)]


@pytest.mark.parametrize("tag", ["</final_answer>", "＜/final_answer＞", "〈/最终回答〉", "⟨tool_name⟩", "<参数>"])
def test_the_look_alikes_that_stand_for_tags_of_documents_are_text(tag: str) -> None:
    told = f"The title is {neutralise(tag)}, says the page."
    assert neutralise(tag) != tag
    assert answer(parse(f"Thought: t\n<final_answer>{told}</final_answer>")) == told
