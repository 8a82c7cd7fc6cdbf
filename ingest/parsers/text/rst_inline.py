"""Inline markup of reStructuredText with a bound: docutils takes time quadratic in the marks of one paragraph."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from docutils.utils import unescape

_MARK = re.compile(r"[`*|_]+")
_MOST_MARKS = 500
"""In one paragraph; beyond them nobody wrote markup."""
_MOST_PROBLEMS = 1_000
"""In one document: each leaves nodes that later passes of docutils walk over again."""


class BoundedInliner(Inliner):
    """Leaves a paragraph of too many marks, and all that follows too many problems, as it stands."""

    def __init__(self) -> None:
        super().__init__()
        self._problems = 0

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> tuple[list[Any], list[Any]]:
        """Return the nodes of a text and what was wrong with it."""
        marks = sum(1 for _ in _MARK.finditer(text))
        if marks > _MOST_MARKS or self._problems > _MOST_PROBLEMS:
            return [nodes.Text(unescape(text, restore_backslashes=True))], []
        found, messages = super().parse(text, lineno, memo, parent)
        self._problems += len(messages)
        return found, messages


# Docutils looks its patterns up in the instance's class alone, not in the bases of that.
for _name, _pattern in vars(Inliner).items():
    if isinstance(_pattern, str) and not _name.startswith("__"):
        setattr(BoundedInliner, _name, _pattern)
