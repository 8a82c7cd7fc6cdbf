from __future__ import annotations

import json
import runpy
import zipfile
from pathlib import Path

import pymupdf
import pytest
from stdnum import luhn
from stdnum.cn import ric

NOT_INGESTED = {"questions.json"}


def test_samples_questions_name_existing_documents(samples: Path) -> None:
    questions = json.loads((samples / "questions.json").read_text(encoding="utf-8"))
    files = {path.name for path in samples.iterdir()} - NOT_INGESTED
    assert len({question["id"] for question in questions}) == len(questions) >= 8
    for question in questions:
        assert question["tier"] in {"strong", "weak", "none"}
        assert question["language"] in {"zh", "en"}
        if question["source"]:
            assert question["source"]["file"] in files
            assert (question["source"]["page"] is not None) == question["source"]["file"].endswith(".pdf")
        else:
            assert question["tier"] == "none" or question["id"] == "not-in-documents"


def test_samples_readme_lists_every_document(samples: Path) -> None:
    listed = {
        line.split("`")[1]
        for line in (samples.parent / "README.md").read_text(encoding="utf-8").split("\n")
        if line.startswith("| `")
    }
    assert listed == {path.name for path in samples.iterdir()} - NOT_INGESTED


def test_samples_complaint_record_has_personal_data_with_right_check_digits(samples: Path) -> None:
    text = (samples / "complaint-record.txt").read_text(encoding="utf-8")
    fields = dict(line.split("：", 1) for line in text.split("\n") if line.count("：") == 1)
    assert ric.is_valid(fields["身份证号"])
    assert luhn.is_valid(fields["银行卡号"].replace(" ", ""))


@pytest.mark.parametrize(
    "name", ["q3-2024-brief.pdf", "annual-compliance-report-2024.pdf", "reimbursement-policy.docx"]
)
def test_samples_binary_documents_are_what_the_script_builds(samples: Path, tmp_path: Path, name: str) -> None:
    build = runpy.run_path(str(samples.parent / "build_samples.py"))
    maker = {"q": "build_brief", "a": "build_compliance_report", "r": "build_reimbursement_policy"}[name[0]]
    build[maker](tmp_path / name)
    assert _content(tmp_path / name) == _content(samples / name)


def _content(path: Path) -> list[str]:
    """Text by page, or the document part: the compressed bytes depend on the machine's zlib."""
    if path.suffix == ".docx":
        with zipfile.ZipFile(path) as archive:
            return [archive.read("word/document.xml").decode()]
    with pymupdf.open(path) as document:
        return [page.get_text() for page in document]
