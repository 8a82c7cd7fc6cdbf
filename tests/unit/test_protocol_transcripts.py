"""Ten thousand made-up replies in three forms: no cut of a stream matters, nothing raises, nothing said is lost."""

from __future__ import annotations

import random

import pytest

from agent.protocols.choice import Form, parser_for
from agent.protocols.pieces import AnswerEnd, AnswerText, Call, Malformed, Piece, ThoughtText, join_adjacent
from transcripts import Content, Item, cut_at, length, make, make_content, parse, render

FORMS: tuple[Form, ...] = ("xml", "json", "native")
SHARES = 4
"""Parts of the ten thousand, so that workers share them."""
COUNTS: dict[Form, int] = {"xml": 3_800, "json": 2_000, "native": 4_200}
"""Ten thousand; fewer of the form whose replies are longest."""
EVERY_CUT_UP_TO = 200
SOME_CUTS = 24


def said(pieces: list[Piece]) -> Content:
    """What was read, in the terms of what was to be said."""
    thought = "".join(p.text for p in pieces if isinstance(p, ThoughtText)).strip()
    calls = tuple((p.name, p.arguments) for p in pieces if isinstance(p, Call))
    answer = "".join(p.text for p in pieces if isinstance(p, AnswerText)) if AnswerEnd() in pieces else None
    return Content(thought, calls, answer)


def in_pieces(items: list[Item] | tuple[Item, ...], rng: random.Random) -> list[Item]:
    """Cut a reply in several places at once."""
    cut = list(items)
    for _ in range(rng.randint(2, 8)):
        cut = cut_at(cut, rng.randint(0, length(cut)))
    return cut


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("form", FORMS)
def test_no_cut_of_a_reply_matters(form: Form, share: int) -> None:
    for number in range(COUNTS[form] // SHARES):
        rng = random.Random(f"{form} {share} {number}")
        reply = make(form, rng, rng.choice(("good", "deformed", "deformed", "noise")))
        whole = parse(form, reply.items)
        size = length(reply.items)
        points = range(1, size) if size <= EVERY_CUT_UP_TO else [rng.randint(1, size) for _ in range(SOME_CUTS)]
        for point in points:
            assert parse(form, cut_at(reply.items, point)) == whole, (reply, point)
        cut = in_pieces(reply.items, rng)
        assert parse(form, cut) == whole, (reply, cut)
        outcomes = [p for p in whole if not isinstance(p, ThoughtText | AnswerText)]
        assert outcomes, reply
        assert sum(isinstance(p, AnswerEnd) for p in whole) <= 1, reply
        if reply.content is not None and form != "native":
            assert said(whole) == Content(reply.content.thought.strip(), reply.content.calls, reply.content.answer), (
                reply
            )


@pytest.mark.parametrize("form", FORMS)
def test_prose_without_an_action_is_shown_whole(form: Form) -> None:
    words = [
        "Revenue",
        "238",
        "年假",
        "<b>",
        "a < b",
        '"quoted"',
        "`code`",
        "\n",
        "{x}",
        "[SOURCE: doc_7f3a_p5]",
        "😀",
        "}",
    ]
    for number in range(300):
        rng = random.Random(number)
        text = " ".join(rng.choice(words) for _ in range(rng.randint(1, 12))).strip() or "so"
        pieces = parse(form, [text])
        if form == "native":
            assert pieces == [AnswerText(text), AnswerEnd()]
        else:
            assert [p for p in pieces if not isinstance(p, Malformed)] == [ThoughtText(text)]


def test_three_forms_say_the_same() -> None:
    """What holds for the pieces; the events of a run are compared where runs are tested."""
    compared = 0
    for number in range(1500):
        rng = random.Random(number)
        content = make_content(rng)
        # A plain answer shows no tag of the text form, has no room for a thought, and is not a call alone.
        if content.answer is not None and any(sign in content.answer for sign in "<{"):
            continue
        read = {form: said(parse(form, in_pieces(render(content, form, rng).items, rng))) for form in FORMS}
        assert read["xml"] == read["json"]
        assert (read["native"].calls, read["native"].answer) == (read["json"].calls, read["json"].answer), content
        if content.calls:
            assert read["native"] == read["json"]
        compared += 1
    assert compared > 1000


@pytest.mark.parametrize("form", FORMS)
def test_thoughts_and_answers_stream_before_their_end(form: Form) -> None:
    parser = parser_for(form, ())
    begun = {"xml": "Thought: I need the ", "json": '{"thought": "I need the ', "native": "Thought: I need the "}
    assert join_adjacent(parser.feed(begun[form])) == [ThoughtText("I need the ")]
    if form == "json":
        parser.feed('figure", "action": "final_answer", "action_input": {"answer": "')
        assert join_adjacent(parser.feed("Revenue \\ud83d\\ude00 was")) == [AnswerText("Revenue 😀 was")]


HOSTILE = (
    *(
        "{",
        '{"',
        '{"a":',
        '{"a": [',
        '{"thought": "',
        '{"thought": "x" ',
        '"',
        "\\",
        "\\u",
        "{'",
        "[",
        "{“",
        "｛",
        "{ ",
    ),
    *(
        '{"action": "calculate", "action_input": {"expression": "1"}}',
        "```json\n{",
        '{"action": "final_answer", ',
        "<|",
    ),
    *('{"thought": "a" "b", ', '{"a": 1}', "Action: finish\nAction Input: {", "<think>", "`{", '{"a": "\n\n\n'),
    *("〈", "<工具名>", "<tool_call>", '{"action_input": {"answer": "', "{}", '{"a":"\\ud83d', "[{", "{a: "),
)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("form", FORMS[:2])
def test_hostile_replies_are_read_in_linear_time(form: Form, unit: str) -> None:
    # Well under a second each; a quadratic parser runs into the time-out.
    text = (unit * 40_000)[:40_000]
    assert parse(form, [text[i : i + 7] for i in range(0, len(text), 7)]) == parse(form, [text])


@pytest.mark.parametrize("form", FORMS)
def test_a_reply_without_end_is_cut_and_little_of_it_is_kept(form: Form) -> None:
    parser = parser_for(form, ())
    begin = {"xml": "Thought: ", "json": '{"thought": "', "native": ""}[form]
    pieces = [p for _ in range(40) for p in parser.feed(begin + "word " * 2_000)] + parser.finish()
    assert [p.code for p in pieces if isinstance(p, Malformed)] == ["too_long"]
