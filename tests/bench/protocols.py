"""Megabytes a second of the parsers of replies, on one core, and the memory one reply takes.

Replies are made (`tests/shared/transcripts.py`): well formed, deformed and noise, in pieces as an endpoint
streams them. Hostile replies repeat what is slow for parsers until the longest reply is full.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent.protocols.choice import Form, parser_for
from agent.protocols.xml import MAX_REPLY_CHARS
from transcripts import TOOLS, Item, make, make_content, render

_FORMS: tuple[Form, ...] = ("xml", "json", "native")
_PIECE_CHARS = (4, 32, 1_000)
"""About what a token brings, what endpoints often put together, and a reply at once."""
_ROUNDS = 2
_HOSTILE = ("<", "<tool_name>", "{}", '{"thought": "x"} ', '{"action": ', "Thought: ")


def measure() -> None:
    """Print the tables."""
    print("| replies | characters a piece | XML, MB/s | JSON, MB/s | native, MB/s |\n| --- | --- | --- | --- | --- |")
    for name, replies in _replies().items():
        for chars in _PIECE_CHARS:
            speeds = [_speed(form, [_pieces(reply, chars) for reply in replies(form)]) for form in _FORMS]
            print(f"| {name} | {chars} | {' | '.join(f'{speed:.2f}' for speed in speeds)} |")
    print()
    print("| a hostile reply of 200,000 characters, the slowest kind | XML | JSON | native |\n|" + " --- |" * 4)
    slowest = [max((_hostile(form, unit), unit) for unit in _HOSTILE) for form in _FORMS]
    print(f"| seconds | {' | '.join(f'{seconds:.2f} (`{unit[:14]!r}`)' for seconds, unit in slowest)} |")
    print(f"| MB more in use at most | {' | '.join(f'{_memory(form):.1f}' for form in _FORMS)} |\n")


def _replies() -> dict[str, Callable[[Form], list[Sequence[Item]]]]:
    return {
        "short, well formed": lambda form: _made(form, "good", 1_000),
        "short, deformed": lambda form: _made(form, "deformed", 1_000),
        "short, noise": lambda form: _made(form, "noise", 2_000),
        "answers of 20,000 characters": _long,
    }


def _made(form: Form, kind: str, count: int) -> list[Sequence[Item]]:
    rng = random.Random(1)
    return [make(form, rng, kind).items for _ in range(count)]  # type: ignore[arg-type]


def _long(form: Form) -> list[Sequence[Item]]:
    rng = random.Random(1)
    content = make_content(rng)
    said = "2024 年第三季度收入 2.38 亿元 [SOURCE: doc_7f3a_p5]。Revenue fell by 5.2% to RMB 238 million. " * 260
    answer = render(type(content)("I have it.", answer=said.strip()), form, rng)
    return [answer.items] * 8


def _pieces(items: Sequence[Item], chars: int = _PIECE_CHARS[0]) -> list[Item]:
    out: list[Item] = []
    for item in items:
        if isinstance(item, str):
            out += [item[at : at + chars] for at in range(0, len(item), chars)]
        else:
            out.append(item)
    return out


def _read(form: Form, pieces: Sequence[Item]) -> None:
    parser = parser_for(form, TOOLS)
    for piece in pieces:
        if isinstance(piece, str):
            parser.feed(piece)
        else:
            parser.feed_call(piece)
    parser.finish()


def _speed(form: Form, replies: list[list[Item]]) -> float:
    size = sum(len((p if isinstance(p, str) else p.arguments).encode("utf-8", "replace")) for r in replies for p in r)
    best = min(_timed(lambda: [_read(form, reply) for reply in replies]) for _ in range(_ROUNDS))
    return size / 1e6 / best


def _hostile(form: Form, unit: str) -> float:
    pieces = _pieces([(unit * MAX_REPLY_CHARS)[:MAX_REPLY_CHARS]])
    return _timed(lambda: _read(form, pieces))


def _memory(form: Form) -> float:
    most = 0.0
    for unit in ("<", '{"action": '):
        pieces = _pieces([(unit * MAX_REPLY_CHARS)[:MAX_REPLY_CHARS]])
        tracemalloc.start()
        _read(form, pieces)
        most = max(most, tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
    return most


def _timed(work: Callable[[], object]) -> float:
    # Time of this process, so that others on the machine count less.
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    measure()
