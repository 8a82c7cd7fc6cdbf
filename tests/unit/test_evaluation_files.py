"""The evaluation of ingestion sees what is lost: text, cells, strings, files that end ready and empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from ingest.errors import IngestError, ParserLimitError
from ingest.evaluation import FilesEvaluation, default_expected, read_expected
from ingest.evaluation_report import ExpectedFailure, FilesReport
from ingest.evaluation_tables import best_match, cells_of, evaluate_tables
from ingest.evaluation_text import includes, plain, token_recall
from ingest.fakes import InProcessParsers, ParagraphCutter
from ingest.types import Block, ParsedDocument


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("Total sales 1,496.5", "| Total sales | $1,496.5 |\n|---|---|", (5, 5)),
        ("营业收入增长", "**营业收入**下降", (4, 6)),
        ("one two", "one one two", (2, 3)),
        ("link", "[link](https://example.com/a_(b)) ![picture](p.png) <!-- image -->", (1, 1)),
        ("a_b < c", "a\\_b &lt; c", (3, 3)),
        ("２.38", "2.38", (2, 2)),
    ],
)
def test_token_recall_counts_words_and_not_markup(text: str, reference: str, expected: tuple[int, int]) -> None:
    assert token_recall(text, reference) == expected


def test_plain_text_of_markdown_has_no_list_numbers_or_tags() -> None:
    assert plain("1. first\n<b>bold</b>").split() == ["first", "bold"]


def test_strings_are_compared_without_white_space_and_cell_separators() -> None:
    assert includes("From: a@example.com\nName | Age", "From:  a@example.com")
    assert includes("Name | Age", "Name Age")
    assert not includes("Name | Age", "Age Name")


def test_cells_leave_out_empty_rows_and_columns_on_both_sides() -> None:
    assert cells_of([["", "", ""], ["a", "", "b"], ["c", "", ""]]) == cells_of([["a", "b"], ["c", ""]])
    assert cells_of([["a", "b"]]) != cells_of([["b", "a"]])


def test_best_match_counts_cells_of_further_tables_against_the_parser() -> None:
    def table(*rows: tuple[str, ...]) -> Block:
        return Block(kind="table", text="", rows=rows)

    parsed = ParsedDocument(format="html", blocks=(table(("x", "y")), table(("a", "b"), ("c", "d"))))
    assert best_match(parsed, cells_of([["a", "b"], ["c", "e"]])) == (3, 6)


async def test_tables_that_no_parser_brings_back_score_nothing() -> None:
    report = await evaluate_tables([[["a", "b"], ["c", "d"]]], InProcessParsers(), formats=["html", "xlsx"])
    assert report.metrics == {"cell_f1.html": 0.0, "cell_f1.xlsx": 0.0}
    assert report.formats[1].worst[0].error is not None


class Parsers(InProcessParsers):
    """As its base, but files may be lost in the ways that the evaluation must tell apart."""

    errors: ClassVar[dict[str, IngestError]] = {
        "hang.txt": ParserLimitError("hang.txt: stopped after 60 s"),
        "crash.txt": ParserLimitError("crash.txt: the parser process crashed (signal 11)"),
        "large.txt": ParserLimitError("large.txt: parsing needs more than 256 MB and was stopped"),
    }

    async def parse(self, path: Path, display_name: str, **options: object) -> ParsedDocument:
        if display_name in self.errors:
            raise self.errors[display_name]
        if display_name == "empty.txt":
            return ParsedDocument(format="text", blocks=())
        return await super().parse(path, display_name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = ("good.txt", "hang.txt", "crash.txt", "large.txt", "empty.txt", "blank.txt", "photo.xyz", "cases/said.txt")
    manifest = [{"path": name, "bytes": 1} for name in files] + [
        {"path": "blank.pdf", "pages": 1, "chars": 0, "images": 0}
    ]
    (tmp_path / "MANIFEST.jsonl").write_text("\n".join(json.dumps(each) for each in manifest), encoding="utf-8")
    (tmp_path / "cases").mkdir()
    (tmp_path / "groundtruth").mkdir()
    (tmp_path / "groundtruth" / "good.txt.md").write_text("# one two three four", encoding="utf-8")
    for name in (*files, "blank.pdf"):
        (tmp_path / name).write_text("" if name.startswith("blank") else "one two three", encoding="utf-8")
    case = {"filename": "said.txt", "must_include": ["two three", "four"], "must_not_include": ["one", "five"]}
    (tmp_path / "cases" / "must_include_plain.jsonl").write_text(json.dumps(case), encoding="utf-8")
    return tmp_path


async def run(folder: Path, *expected: ExpectedFailure) -> FilesReport:
    return await FilesEvaluation(folder, parsers=Parsers(), cutter=ParagraphCutter(), expected=expected).run()


async def test_files_are_counted_by_what_became_of_them(folder: Path) -> None:
    metrics = (await run(folder)).metrics
    assert {name: metrics[name] for name in ("files", "ready", "failed", "crashed", "hung", "silent_empty")} == {
        "files": 9,
        "ready": 3,
        "failed": 3,
        "crashed": 1,
        "hung": 1,
        "silent_empty": 1,
    }
    # Not due: the format that nobody promised, and the PDF without a character or a picture.
    assert (metrics["openable"], metrics["textless"]) == (7, 1)
    assert metrics["openable_ready"] == pytest.approx(2 / 7)
    assert (metrics["must_include"], metrics["must_not_include"]) == (0.5, 0.5)
    assert metrics["recall.digital"] == pytest.approx(3 / 4)


async def test_an_expected_failure_is_excused_only_with_its_own_error(folder: Path) -> None:
    report = await run(
        folder,
        ExpectedFailure(path="blank.txt", code="no_text", reason="nothing is on it"),
        ExpectedFailure(path="large.txt", code="no_text", reason="nothing is on it"),
        ExpectedFailure(path="crash.txt", code="parser_limit", reason="a crash is never right"),
    )
    assert [each.path for each in report.files if each.expected] == ["blank.txt"]
    assert [each.path for each in report.exceptions()] == ["hang.txt", "crash.txt", "large.txt", "empty.txt"]


def test_the_list_of_expected_failures_can_be_read() -> None:
    expected = read_expected(default_expected())
    assert expected
    assert all(each.reason and each.code for each in expected)
    assert len({each.path for each in expected}) == len(expected)
