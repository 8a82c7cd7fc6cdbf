"""Long texts that a run's context holds by reference: documents that tools wrote, originals of what was shortened.

They live as long as the run. A run that is resumed makes its documents again from its tape, so that no
store of texts lies beside the journal and nothing is left when documents are erased.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

SUMMARY_CHARS = 200
_MOST_CHARS = 20_000_000
_TITLE_CHARS = 120
_MOST_NESTED = 8


@dataclass(frozen=True, slots=True)
class Artifact:
    """A stored text."""

    name: str
    """What arguments name it by: `artifact_1` for a document, `original_1` for what was shortened."""
    title: str
    text: str

    @property
    def summary(self) -> str:
        """At most 200 characters: its beginning, on one line."""
        line = " ".join(self.text.split())
        return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1].rstrip() + "…"


class OriginalStore(Protocol):
    """Keeps texts of one run by name."""

    def put(self, artifact: Artifact) -> None:
        """Keep a text."""
        ...

    def get(self, name: str) -> Artifact | None:
        """Return a text; None where it was never kept, or is kept no more."""
        ...


class MemoryOriginals:
    """Keeps texts in the process; beyond twenty million characters the oldest go."""

    def __init__(self, most_chars: int = _MOST_CHARS) -> None:
        self._most_chars = most_chars
        self._kept: dict[str, Artifact] = {}
        self._chars = 0

    def put(self, artifact: Artifact) -> None:
        """Keep a text."""
        self._kept[artifact.name] = artifact
        self._chars += len(artifact.text)
        while self._chars > self._most_chars and len(self._kept) > 1:
            oldest = next(iter(self._kept))
            self._chars -= len(self._kept.pop(oldest).text)

    def get(self, name: str) -> Artifact | None:
        """Return a text."""
        return self._kept.get(name)


class RunArtifacts:
    """The artifacts of one run."""

    def __init__(self, store: OriginalStore | None = None) -> None:
        self._store = store or MemoryOriginals()
        self._documents = self._originals = 0

    def write(self, title: str, text: str) -> Artifact:
        """Keep a document that a tool wrote."""
        self._documents += 1
        return self._put(Artifact(f"artifact_{self._documents}", title[:_TITLE_CHARS], text))

    def keep_original(self, title: str, text: str) -> Artifact:
        """Keep the whole of what the context holds shortened."""
        self._originals += 1
        return self._put(Artifact(f"original_{self._originals}", title[:_TITLE_CHARS], text))

    def get(self, name: str) -> Artifact | None:
        """Return an artifact by its name."""
        return self._store.get(name.strip())

    def expand(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments in which each text that is the name of an artifact is replaced by the whole of it."""
        return cast("dict[str, Any]", self._expanded(dict(arguments), 0))

    def _put(self, artifact: Artifact) -> Artifact:
        self._store.put(artifact)
        return artifact

    def _expanded(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            found = self.get(value) if len(value) < 40 else None
            return value if found is None else found.text
        if depth < _MOST_NESTED and isinstance(value, dict):
            return {k: self._expanded(v, depth + 1) for k, v in cast("dict[str, Any]", value).items()}
        if depth < _MOST_NESTED and isinstance(value, list):
            return [self._expanded(each, depth + 1) for each in cast("list[Any]", value)]
        return value
