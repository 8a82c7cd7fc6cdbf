"""No answer holds a live link, however it is streamed."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agent.audit.folding import fold
from agent.links import InertText, inert

LIVE_RE = re.compile(r"\]\(|\]:|<[A-Za-z/!?]|://\S|\bwww\.\w", re.IGNORECASE)
pieces = st.lists(
    st.sampled_from(["[", "]", "(", ":", "/", "<", "w", "W", ".", "img", " ", "!", "http", "价"]), max_size=40
)


def test_links_pictures_and_tags_are_taken_apart() -> None:
    assert inert("![x](https://evil.example/?q=1)") == "![x] (https:// evil.example/?q=1)"
    assert inert("[ref]: //evil.example\n<img src=x>") == "[ref] : //evil.example\n< img src=x>"
    assert inert("see www.evil.example") == "see www. evil.example"
    plain = "Revenue < 5 and > 3 [SOURCE: doc_7f3a_p5][SOURCE: doc_7f3a_p6]。价格：1/2"
    assert inert(plain) == plain


def test_a_verbatim_quotation_stays_verbatim() -> None:
    text = "Apply at https://hr.example.com/leave or [here](https://hr.example.com)."
    assert fold(inert(text)).text == fold(text).text


@given(pieces)
def test_no_cut_and_no_repetition_brings_a_link_to_life(parts: list[str]) -> None:
    whole = inert("".join(parts))
    assert LIVE_RE.search(whole) is None
    stream = InertText()
    assert "".join(stream.feed(part) for part in parts) == whole
    assert inert(whole) == whole
