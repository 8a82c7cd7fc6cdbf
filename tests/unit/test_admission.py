"""The admission policy: thin and garbled documents are told, or refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingest.admission import admit, garbled_ratio
from ingest.errors import AdmissionRejectedError
from ingest.settings import IngestSettings
from ingest.types import Block, Document, DocumentMeta, PageYield, ParsedDocument

DOCUMENT = Document(
    document_id="d" * 32,
    tenant="acme",
    source="a.pdf",
    version=1,
    state="pending",
    meta=DocumentMeta(),
    title="a",
    size_bytes=1,
    created_by="ann",
    created_at=datetime(2024, 1, 1, tzinfo=UTC),
)


def paged(*characters: int, garbled: float = 0.0) -> ParsedDocument:
    pages = tuple(
        PageYield(page_number=number, characters=count, garbled_ratio=garbled)
        for number, count in enumerate(characters, 1)
    )
    return ParsedDocument(format="pdf", blocks=(Block(kind="paragraph", text="x"),), page_count=len(pages), pages=pages)


def text(content: str) -> ParsedDocument:
    return ParsedDocument(format="text", blocks=(Block(kind="paragraph", text=content),))


def test_admission_measures_the_yield_over_all_pages() -> None:
    settings = IngestSettings(min_yield=20)
    assert admit(paged(60, 0, 0), DOCUMENT, settings) == ()
    (warning,) = admit(paged(50, 0, 0), DOCUMENT, settings)
    assert warning == "its 3 pages give 16.7 characters a page, the least is 20 (min_yield)"


def test_admission_measures_no_yield_where_there_are_no_pages() -> None:
    assert admit(text("short"), DOCUMENT, IngestSettings(min_yield=1000)) == ()


@pytest.mark.parametrize(
    ("content", "ratio"),
    [
        ("clean text", 0.0),
        ("资料。\n\t", 0.0),
        ("ab\ufffd\ufffd", 0.5),
        ("\ue000\x07ab", 0.5),
        ("", 0.0),
        ("é\x9axy", 1 / 4),
    ],
)
def test_garbled_ratio_of_text_counts_characters_without_meaning(content: str, ratio: float) -> None:
    assert garbled_ratio(text(content)) == pytest.approx(ratio)


def test_garbled_ratio_of_pages_is_weighted_by_their_characters() -> None:
    pages = (
        PageYield(page_number=1, characters=90, garbled_ratio=0.0),
        PageYield(page_number=2, characters=10, garbled_ratio=1.0),
    )
    assert garbled_ratio(paged().model_copy(update={"pages": pages})) == pytest.approx(0.1)


def test_admission_rejects_with_measured_value_limit_and_advice() -> None:
    settings = IngestSettings(admission="reject", max_garbled_ratio=0.25)
    assert admit(paged(100, garbled=0.25), DOCUMENT, settings) == ()
    with pytest.raises(AdmissionRejectedError) as caught:
        admit(paged(10, garbled=0.5), DOCUMENT, settings)
    message = str(caught.value)
    for said in ("a.pdf", "10.0 characters a page", "min_yield", "50%", "25%", "better copy", "ATTEST_INGEST_"):
        assert said in message
