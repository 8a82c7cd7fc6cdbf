"""Social security numbers of the United States: 123-45-6789 with an area and a group that are issued."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.labels import is_ordinary, is_social_labelled
from retrieval.symbols.secrets.runs import Candidate, Run

_NUMBER = re.compile(r"(?!000|666|9)[0-9]{3}(?!00)[0-9]{2}(?!0000)[0-9]{4}")


def read_social_security(run: Run) -> Iterator[Candidate]:
    """Yield the social security numbers of a run."""
    for first in range(len(run.groups)):
        if first == 0 and run.is_continued:
            continue
        for digits, last in run.windows(first, 9):
            if len(digits) == 9 and _NUMBER.fullmatch(digits) and _stands(run, first, last):
                yield Candidate("social_security", digits, first, last, run.starts[first], run.end(last))


def _stands(run: Run, first: int, last: int) -> bool:
    if run.is_joined(first, last):
        return False
    if run.is_labelled(is_social_labelled, first):
        return True
    if run.lengths(first, last) != (3, 2, 4) or is_ordinary(run.text, run.starts[first], run.end(last)):
        return False
    return all(gap.strip(" \n") and "." not in gap and ")" not in gap for gap in run.inner_gaps(first, last))
