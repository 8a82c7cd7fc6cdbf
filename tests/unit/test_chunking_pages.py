from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking import chunk_document, document_text
from ingest.settings import ChunkSettings
from ingest.types import Block, ParsedDocument
from retrieval.types import Box

PAGE_COUNT = 3


def block(kind: str, text: str, start: int, run: int, boxed: bool) -> Block:
    end = min(PAGE_COUNT, start + run)
    pages = range(start, end + 1)
    boxes = tuple(Box(page_number=page, x0=0, y0=10, x1=90, y1=60) for page in pages) if boxed else ()
    return Block(
        kind="heading" if kind == "heading" else "paragraph",
        text=text,
        level=1 if kind == "heading" else 0,
        page_number=start,
        page_end=end,
        boxes=boxes,
    )


BLOCKS = st.lists(
    st.builds(
        block,
        st.sampled_from(["heading", "paragraph", "paragraph"]),
        st.text(alphabet="本公司制度。，", min_size=1, max_size=150),
        st.integers(1, PAGE_COUNT),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=10,
).map(lambda blocks: sorted(blocks, key=lambda b: b.page_number or 0))


@settings(max_examples=150, deadline=None)
@given(BLOCKS)
def test_chunk_pages_are_pages_of_the_blocks_it_holds(blocks: list[Block]) -> None:
    parsed = ParsedDocument(format="pdf", blocks=tuple(blocks), page_count=PAGE_COUNT)
    text = document_text(parsed)
    at, spans = 0, []
    for each in blocks:
        at = text.index(each.text, at)
        spans.append((at, at + len(each.text), each))
        at += len(each.text)
    for draft in chunk_document(parsed, len, ChunkSettings(max_tokens=64, min_tokens=12), 64):
        held = [each for start, end, each in spans if start < draft.end_char and end > draft.start_char]
        assert min(each.page_number or 0 for each in held) <= draft.page_start
        assert draft.page_start <= draft.page_end <= max(each.page_end or 0 for each in held) <= PAGE_COUNT
        assert all(draft.page_start <= box.page_number <= draft.page_end for box in draft.boxes)
        assert len(set(draft.boxes)) == len(draft.boxes)
