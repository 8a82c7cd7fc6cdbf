"""Frames: whatever pieces a stream comes in, the same messages come out; what is no frame is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.frames import MAX_BODY, BrokenFrameError, Frame, FrameKind, FrameReader, pack

FRAMES = st.lists(st.builds(Frame, st.sampled_from(FrameKind), st.binary(max_size=60)), max_size=12)


@given(FRAMES, st.data())
def test_frames_are_the_same_however_the_stream_is_split(frames: list[Frame], data: st.DataObject) -> None:
    stream = b"".join(pack(*frame) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    reader = FrameReader()
    edges = [0, *cuts, len(stream)]
    read = [frame for start, end in pairwise(edges) for frame in reader.feed(stream[start:end])]
    assert read == frames


@given(FRAMES, st.integers(1, 64))
def test_frames_of_a_stream_that_breaks_off_are_those_that_are_whole(frames: list[Frame], missing: int) -> None:
    stream = b"".join(pack(*frame) for frame in frames)
    read = list(FrameReader().feed(stream[: max(0, len(stream) - missing)]))
    assert read == frames[: len(read)]
    assert len(read) < len(frames) or not frames


@pytest.mark.parametrize(
    "stream",
    [b"\x00\x00\x00\x00\x00", b"\xff\x00\x00\x00\x01x", bytes([FrameKind.PIECE]) + (MAX_BODY + 1).to_bytes(4, "big")],
)
def test_frames_refuse_a_stream_that_is_none(stream: bytes) -> None:
    with pytest.raises(BrokenFrameError):
        list(FrameReader().feed(stream))


def test_frames_refuse_a_body_that_is_too_large() -> None:
    with pytest.raises(BrokenFrameError):
        pack(FrameKind.PIECE, bytes(MAX_BODY + 1))
