"""Reports of audits: what stands in them for whom, and a page on which nothing hostile comes alive."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from agent.audit.plain import plain_passage
from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.audit_report import AuditReport, report_of
from agent.audits import AuditRow, AuditSource, text_sha256
from agent.events import RunCompleted
from api.audit_page import render_audit

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) \"'><a href='http://evil.example'>"
)
TEXT = f"Revenue was 5 million. {HOSTILE}"


def report(text: str = TEXT, *, texts: bool = True, hashed: str = TEXT, **source: Any) -> AuditReport:
    checks = (
        Evidence(rule="figure", passed=False, detail=HOSTILE, label="doc_7f3a_p5", source_span=(12, 21)),
        Evidence(rule="support", passed=True, detail="ok", label="doc_7f3a_p5", source_span=(0, 22)),
        Evidence(rule="quote", passed=True, detail="ok", label="doc_7f3a_p5", source_span=(0, 7)),
    )
    verdict = SentenceVerdict(
        index=0,
        start=0,
        end=10,
        text=HOSTILE,
        kind="contradicted",
        labels=("doc_7f3a_p5", "doc_9999_p1"),
        unknown_labels=("doc_9999_p1",),
        evidence=checks,
        proposed=(Evidence(rule="proposal", passed=False, detail=HOSTILE, label="doc_7f3a_p5"),),
    )
    done = RunCompleted(
        run_id="r1",
        trace_id="t1",
        seq=1,
        at=NOW,
        status="answered",
        answer=HOSTILE,
        audit=Audit(risk="high", sentences=(verdict,), violations=(HOSTILE,)),
        passages=(plain_passage("doc_7f3a_p5", text, title=HOSTILE),),
        tier="strong",
        model="m",
        encoder="e",
        steps=1,
        prompt_tokens=1,
        completion_tokens=1,
        latency_ms=1.0,
    )
    row = AuditRow(
        run_id="r1",
        user=HOSTILE,
        at=NOW,
        risk="high",
        action="none",
        status="answered",
        **dict.fromkeys(("sentences", "supported", "partly_supported", "contradicted"), 1),
        **dict.fromkeys(("unsupported", "uncited", "violations"), 1),
        sources=(
            AuditSource(label="doc_7f3a_p5", document_id="d", chunk_id="c", text_sha256=text_sha256(hashed), **source),
        ),
    )
    return report_of(row, done, HOSTILE, texts=texts)


class Elements(HTMLParser):
    """All elements and attributes of a page, and the words that are marked."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.marked: list[tuple[str, str]] = []
        self._mark = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._mark = dict(attrs).get("class") or "" if tag == "mark" else ""

    def handle_endtag(self, tag: str) -> None:
        self._mark = ""

    def handle_data(self, data: str) -> None:
        if self._mark:
            self.marked.append((self._mark, data))


def test_nothing_hostile_comes_alive_on_the_page() -> None:
    page = Elements(render_audit(report()))
    assert not page.tags & {"script", "img", "a", "iframe", "form", "object", "link", "svg", "base"}
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "class"}


def test_the_place_that_decided_is_marked_and_a_failed_check_wins() -> None:
    marked = Elements(render_audit(report())).marked
    assert ("no", "5 million") in marked
    assert ("yes", "Revenue") in marked
    assert not any(words.startswith("Revenue was") for _, words in marked)


@pytest.mark.parametrize(
    ("changes", "standing"),
    [
        ({}, "unchanged"),
        ({"hashed": "as it was"}, "rewritten"),
        ({"stale": "replaced"}, "replaced"),
        ({"text": "[deleted; SHA-256 of the text 00]"}, "deleted"),
    ],
)
def test_a_report_says_how_each_source_stands(changes: dict[str, Any], standing: str) -> None:
    (source,) = report(**changes).sources
    assert source.standing == standing


def test_a_report_without_texts_has_verdicts_references_and_hashes_alone() -> None:
    found = report(texts=False).model_copy(update={"user": "wu"})
    assert "alert" not in found.model_dump_json()
    assert "evil" not in found.model_dump_json()
    assert "million" not in found.model_dump_json()
    assert found.sentences[0].labels == ("doc_7f3a_p5",)
    assert found.sources[0].text_sha256 == text_sha256(TEXT)
    assert "(text not shown)" in render_audit(found)
