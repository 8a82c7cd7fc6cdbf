"""DOC, RTF and PPT: conversion by LibreOffice under limits; encrypted files and a missing LibreOffice are named."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.detect import detect
from ingest.errors import (
    CorruptDocumentError,
    EncryptedDocumentError,
    IngestError,
    ParserLimitError,
    UnsupportedDocumentError,
)
from ingest.parsers.office import office_conversion
from ingest.parsers.office.legacy import parse_doc, parse_ppt, parse_rtf
from ingest.parsers.office.office_conversion import find_office, remove_leftovers
from ingest.sandbox import ParserPool
from ingest.settings import ParserSettings

LIMITS = ParserSettings()
RTF = rb"{\rtf1\ansi {\b Annual report}\par Revenue rose by 12 %. \u24180?\u25910?\par}"
needs_office = pytest.mark.skipif(find_office() is None, reason="LibreOffice is not installed")


@pytest.fixture
def rtf(tmp_path: Path) -> Path:
    path = tmp_path / "stored"
    path.write_bytes(RTF)
    return path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def office_that(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a shell script in LibreOffice's place."""
    program = folder / "soffice"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(office_conversion, "find_office", lambda: program)


@needs_office
async def test_legacy_files_are_converted_side_by_side_in_the_parser_process(rtf: Path) -> None:
    pool = ParserPool(ParserSettings(processes=2))
    try:
        first, second = await asyncio.gather(pool.parse(rtf, "a.rtf"), pool.parse(rtf, "b.rtf"))
    finally:
        await pool.close()
    assert [block.text for block in first.blocks] == ["Annual report", "Revenue rose by 12 %. 年收"]
    assert (first.format, first.page_count) == ("rtf", None)
    assert first == second


@needs_office
def test_legacy_presentations_keep_their_slides(eval_data: Path) -> None:
    path = eval_data / "files" / "docling" / "ppt" / "sources" / "legacy_sample.ppt"
    assert detect(path, "a.ppt") == "ppt"
    parsed = parse_ppt(path, "a.ppt", LIMITS)
    assert (parsed.format, parsed.page_count, parsed.title) == ("ppt", 3, "Test Table Slide")
    assert parsed.blocks[-1].page_number == 3


def test_legacy_files_without_libreoffice_are_refused_with_the_way_out(
    rtf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office_conversion, "find_office", lambda: None)
    with pytest.raises(UnsupportedDocumentError, match="install LibreOffice or save the file as DOCX"):
        parse_doc(rtf, "a.doc", LIMITS)


def test_conversion_that_hangs_is_stopped_with_all_it_started(
    rtf: Path, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    office_that(f'sleep 600 & echo $! $$ > "{pids}"; wait', tmp_path, monkeypatch)
    with pytest.raises(ParserLimitError, match="stopped after"):
        parse_rtf(rtf, "a.rtf", ParserSettings(timeout_s=3))
    started = [int(pid) for pid in pids.read_text(encoding="utf-8").split()]
    assert len(started) == 2
    assert not any(_runs(pid) for pid in started)
    assert not list(temporary.iterdir())


def test_conversion_without_a_result_is_a_corrupt_document(
    rtf: Path, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office_that("exit 1", tmp_path, monkeypatch)
    with pytest.raises(CorruptDocumentError, match="save it as DOCX"):
        parse_rtf(rtf, "a.rtf", LIMITS)
    assert not list(temporary.iterdir())


def test_conversion_runs_without_macros_links_environment_and_another_profile(
    rtf: Path, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    monkeypatch.setenv("ATTEST_SECRET", "hunter2")
    office_that(
        f'env > "{seen}/env"; echo "$@" > "{seen}/words"; cp profile/user/*.xcu "{seen}/"', tmp_path, monkeypatch
    )
    for _ in range(2):
        with pytest.raises(IngestError):
            parse_rtf(rtf, "a.rtf", LIMITS)
        words = (seen / "words").read_text(encoding="utf-8")
        profile = next(word for word in words.split() if word.startswith("-env:UserInstallation="))
        (seen / Path(profile).parent.name).touch()
    assert "hunter2" not in (seen / "env").read_text(encoding="utf-8")
    settings = (seen / "registrymodifications.xcu").read_text(encoding="utf-8")
    assert 'oor:name="DisableMacrosExecution" oor:op="fuse"><value>true<' in settings
    assert 'oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true<' in settings
    assert len([folder for folder in seen.iterdir() if folder.name.startswith("attest-office-")]) == 2


def test_leftovers_of_ended_processes_are_removed_and_others_stay(temporary: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (temporary / f"attest-office-{ended.pid}-x" / "out").mkdir(parents=True)
    (temporary / f"attest-office-{os.getpid()}-y").mkdir()
    remove_leftovers()
    assert [folder.name for folder in temporary.iterdir()] == [f"attest-office-{os.getpid()}-y"]


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="files in memory are Linux's")
def test_conversion_is_given_the_document_whatever_path_it_has(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office_that(f'cp document.rtf "{tmp_path}/given"', tmp_path, monkeypatch)
    with os.fdopen(os.memfd_create("plain"), "w+b") as memory:
        memory.write(RTF)
        memory.flush()
        with pytest.raises(CorruptDocumentError):
            parse_rtf(Path(f"/proc/{os.getpid()}/fd/{memory.fileno()}"), "a.rtf", LIMITS)
    assert (tmp_path / "given").read_bytes() == RTF


def test_encrypted_word_documents_are_named(tmp_path: Path, eval_data: Path) -> None:
    content = bytearray((eval_data / "files" / "docling" / "doc" / "sources" / "legacy_sample.doc").read_bytes())
    start = content.index(b"\xec\xa5\xc1\x00")  # wIdent and nFib of the file information block
    content[start + 11] |= 0x01
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(EncryptedDocumentError):
        parse_doc(path, "a.doc", LIMITS)


def test_encrypted_presentations_are_named(tmp_path: Path, eval_data: Path) -> None:
    content = (eval_data / "files" / "docling" / "ppt" / "sources" / "legacy_sample.ppt").read_bytes()
    path = tmp_path / "file"
    path.write_bytes(content.replace(b"\x5f\xc0\x91\xe3", b"\xdf\xc4\xd1\xf3"))
    with pytest.raises(EncryptedDocumentError):
        parse_ppt(path, "a.ppt", LIMITS)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An orphan that is dead already, but that nobody has collected yet, does not run.
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or ") Z " not in state.read_text(encoding="utf-8")
