"""What a watched folder reports: whole files once, changes, what is gone."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from api.client import ProblemError
from api.commands import watching
from api.commands.folders import FolderState, files_of
from api.commands.watching import _delete, _left_behind, _looks, _take_in, _without_file
from ingest.naming import source_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "below").mkdir(parents=True)
    return folder


def put(folder: Path, name: str, content: str, at: int = 1_000_000_000) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    os.utime(path, ns=(at, at))
    return path


def watched(folder: Path) -> FolderState:
    """Watch by a clock that goes on with every look at a file: two looks suffice."""
    return FolderState(folder, settle_s=1, clock=itertools.count().__next__)


def ready(state: FolderState) -> list[str]:
    return [name for _, name in state.look().ready]


def test_files_of_a_folder_passes_over_hidden_and_unfinished_files(folder: Path) -> None:
    for name in ("a.txt", "below/b.txt", ".hidden/c.txt", ".d.txt", "~$e.docx", "f.tmp", "g.part", "h.txt~", "i.swp"):
        put(folder, name, "text")
    assert [name for _, name in files_of(folder)] == ["papers/a.txt", "papers/below/b.txt"]
    assert [name for _, name in files_of(folder / "below" / "..")] == ["papers/a.txt", "papers/below/b.txt"]


def test_files_of_a_folder_passes_over_links_that_lead_out_and_special_files(folder: Path, tmp_path: Path) -> None:
    inside, outside = put(folder, "a.txt", "text"), put(tmp_path, "outside.txt", "secret")
    put(tmp_path, "elsewhere/x.txt", "secret")
    (folder / "below" / "in.txt").symlink_to(inside)
    (folder / "below" / "chain.txt").symlink_to(folder / "out.txt")
    (folder / "out.txt").symlink_to(outside)
    (folder / "up.txt").symlink_to(Path("..", "outside.txt"))
    (folder / "elsewhere").symlink_to(tmp_path / "elsewhere")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "lost.txt").symlink_to(folder / "missing")
    os.mkfifo(folder / "pipe.txt")
    assert [name for _, name in files_of(folder)] == ["papers/a.txt", "papers/below/in.txt"]
    # A folder given by a link is that folder.
    (tmp_path / "given").symlink_to(folder)
    assert [name for _, name in files_of(tmp_path / "given")] == ["papers/a.txt", "papers/below/in.txt"]


@pytest.mark.parametrize("top", ["papers", "pa\npers", "pa\u0301pers"])
def test_names_of_files_are_sent_whole_for_the_server_to_clean(tmp_path: Path, top: str) -> None:
    folder = tmp_path / top
    (folder / "below").mkdir(parents=True)
    for name in (
        "a\nb.txt",
        "a_b.txt",
        "below/\u202ec.txt",
        os.fsdecode(b"\xff\xfe.txt"),
        os.fsdecode(b"\xfe\xff.txt"),
    ):
        put(folder, name, "text")
    names = [name for _, name in files_of(folder)]
    assert f"{top}/a\nb.txt" in names
    assert len({source_name(name, "?") for name in names}) == 5
    assert all(name.isprintable() or not name.isascii() or "\n" in name for name in names)
    assert all(name.startswith(watched(folder).prefix) for name in names)


def test_folder_state_reports_a_file_once_it_does_not_grow_any_more(folder: Path) -> None:
    state = watched(folder)
    assert state.look().empty
    put(folder, "a.txt", "begin")
    first = state.look()
    assert (first.ready, first.growing, first.empty) == ([], True, False)
    put(folder, "a.txt", "begin and go on")
    assert ready(state) == []
    assert ready(state) == ["papers/a.txt"]
    last = state.look()
    assert (last.ready, last.gone, last.growing) == ([], [], False)


def test_folder_state_reports_changes_of_size_or_time(folder: Path) -> None:
    state = watched(folder)
    put(folder, "a.txt", "one")
    put(folder, "b.txt", "two")
    assert [ready(state), ready(state)] == [[], ["papers/a.txt", "papers/b.txt"]]
    put(folder, "b.txt", "owt", at=2_000_000_000)
    assert [ready(state), ready(state), ready(state)] == [[], ["papers/b.txt"], []]


def test_folder_state_leaves_a_file_that_grows_all_the_time_however_often_it_looks(folder: Path) -> None:
    now = 0.0
    state = FolderState(folder, settle_s=1, clock=lambda: now)
    put(folder, "a.txt", "one")
    assert ready(state) == []
    now += 1
    assert ready(state) == ["papers/a.txt"]
    for length in range(10, 20):
        put(folder, "a.txt", "x" * length)
        looks = [state.look() for _ in range(3)]
        now += 0.5
        looks.append(state.look())
        assert [(list(look.ready), look.growing) for look in looks] == [([], True)] * 4
    now += 0.5
    assert [ready(state), ready(state)] == [["papers/a.txt"], []]


def test_folder_state_reports_what_is_gone_once_and_what_comes_back(folder: Path) -> None:
    state = watched(folder)
    path = put(folder, "below/a.txt", "one")
    put(folder, "b.txt", "two")
    state.look()
    state.look()
    path.unlink()
    assert list(state.look().gone) == ["papers/below/a.txt"]
    assert list(state.look().gone) == []
    assert state.names() == {"papers/b.txt"}
    put(folder, "below/a.txt", "one")
    assert [ready(state), ready(state)] == [[], ["papers/below/a.txt"]]


class _Server:
    """Lists an upload and a document found inside another under one name, and notes what is deleted."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.sources: list[str] = []

    async def every(self, path: str, key: str, *, source: str | None = None, **_filters: str) -> list[dict[str, Any]]:
        if source is None:
            return [{"source": each, "parent_id": None} for each in self.sources]
        return [{"document_id": "upload", "parent_id": None}, {"document_id": "inside", "parent_id": "archive"}]

    async def kept_names(self, sources: Sequence[str]) -> list[str]:
        return [source_name(each.replace("13812345678", "[PHONE_aaaaaaaaaaaaa]"), each) for each in sources]

    async def delete(self, path: str) -> dict[str, Any]:
        self.deleted.append(path)
        return {"deleted_chunks": 1, "deleted_children": 0}


async def test_watching_leaves_what_lies_in_an_archive_under_the_name_of_a_file_that_is_gone() -> None:
    server: Any = _Server()
    assert [each.document_id for each in await _delete(server, ["papers/a.txt"])] == ["upload"]
    assert server.deleted == ["/v1/documents/upload"]


async def test_watching_misses_no_file_whose_name_the_server_stores_altered(folder: Path) -> None:
    put(folder, "a\nb.txt", "text")
    state, server = watched(folder), _Server()
    state.look()
    server.sources = [source_name("papers/a\nb.txt", "?"), "papers/gone.txt", "others/x.txt"]
    client: Any = server
    assert await _without_file(client, state.prefix, state.names()) == ["papers/gone.txt"]


async def test_watching_misses_no_file_with_a_secret_in_its_name(folder: Path) -> None:
    put(folder, "13812345678.txt", "text")
    state, server = watched(folder), _Server()
    state.look()
    server.sources = ["papers/[PHONE_aaaaaaaaaaaaa].txt", "papers/gone.txt"]
    client: Any = server
    assert await _without_file(client, state.prefix, state.names()) == ["papers/gone.txt"]
    names = {"papers/13812345678.txt"}
    assert await _left_behind(client, ["papers/13812345678.txt", "papers/gone.txt"], names) == ["papers/gone.txt"]


class _Failing(_Server):
    """Fails uploads for a reason, and deletes where there is no server."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure

    async def upload(self, path: Path, source: str, fields: dict[str, Any]) -> dict[str, Any]:
        raise self.failure


@pytest.mark.parametrize(
    ("failure", "comes_again"),
    [
        (httpx.ConnectError("refused"), True),
        (ProblemError("store_unavailable", "the store is away", 503), True),
        (ProblemError("http", "the server answered with status 429", 429), True),
        (PermissionError("locked by another program"), True),
        (ProblemError("document_too_large", "too large", 413), False),
    ],
)
async def test_watching_tries_a_file_again_that_failed_for_a_passing_reason(
    folder: Path, failure: Exception, comes_again: bool
) -> None:
    put(folder, "a.txt", "one")
    now = [0.0]
    state = FolderState(folder, settle_s=1, clock=lambda: now[0])
    state.look()
    now[0] += 1
    client: Any = _Failing(failure)
    (outcome,) = await _take_in(client, state, state.look().ready, {})
    assert outcome.state == "failed"
    later = state.look()
    assert (later.ready, later.growing) == ([], comes_again)
    now[0] += 60
    assert bool(ready(state)) == comes_again
    assert ready(state) == []


def test_folder_state_reports_a_file_to_be_tried_again_as_gone_when_it_goes(folder: Path) -> None:
    path = put(folder, "a.txt", "one")
    state = watched(folder)
    state.look()
    assert ready(state) == ["papers/a.txt"]
    state.try_again(path, 30)
    path.unlink()
    assert list(state.look().gone) == ["papers/a.txt"]


async def test_watching_goes_on_after_an_event_of_a_file_whose_name_is_no_utf8(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = itertools.count()

    async def awatch(*_paths: Path, **_options: Any) -> AsyncIterator[set[str]]:
        if next(starts) == 0:
            raise ExceptionGroup("in a task group", [WatchfilesRustInternalError("Unable to decode path")])
        yield {"changed"}

    monkeypatch.setattr(watching, "awatch", awatch)
    monkeypatch.setattr(watching, "_SETTLE_MS", 0)
    put(folder, "a.txt", "text")
    looks = [look async for look in _looks(folder, watched(folder))]
    assert [[name for _, name in look.ready] for look in looks] == [[], ["papers/a.txt"], []]
