"""What an evaluation over real files found, file by file and in figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Literal

from retrieval.types import Value

Outcome = Literal["ready", "failed", "crashed", "hung", "silent_empty"]


class ExpectedFailure(Value):
    """A file that cannot become ready, by the judgement of a person who looked at it."""

    path: str
    code: str
    reason: str


class Recall(Value):
    """Tokens of another parser's output that are in ours."""

    found: int
    wanted: int

    @property
    def share(self) -> float:
        """Found over wanted, 0 to 1."""
        return self.found / self.wanted


class StringFault(Value):
    """A string that should be there and is not, or the reverse."""

    kind: Literal["missing", "forbidden"]
    text: str


class FileResult(Value):
    """What became of one file."""

    path: str
    ending: str
    openable: bool = True
    """It is in a format that is promised, and some reader opens it."""
    textless: bool = False
    """No reader finds a character or a picture in it: a failure that says "no text" is the right end."""
    expected: str | None = None
    """Why its failure is right, where somebody looked at it and it fails with the error that he named."""
    outcome: Outcome = "failed"
    error_code: str | None = None
    error: str | None = None
    seconds: float = 0.0
    format: str | None = None
    pages: int | None = None
    ocr_pages: int = 0
    blocks: int = 0
    chunks: int = 0
    characters: int = 0
    attachments: int = 0
    recall: Recall | None = None
    must_include: int = 0
    must_not_include: int = 0
    string_faults: tuple[StringFault, ...] = ()


class FilesReport(Value):
    """The whole evaluation."""

    files: tuple[FileResult, ...]

    @property
    def metrics(self) -> dict[str, float]:
        """Counts of outcomes, and shares.

        `openable_ready`: ready ones among the openable that have text. `must_include` and `must_not_include`:
        share of the strings that were found (1 and 0 are right). `recall.*`: tokens of the other parser's
        output that were found, over all files together; `recall.*.mean`: by file.
        """
        count = Counter(file.outcome for file in self.files)
        due = self.due()
        values: dict[str, float] = {
            "files": len(self.files),
            "ready": count["ready"],
            "failed": count["failed"],
            "crashed": count["crashed"],
            "hung": count["hung"],
            "silent_empty": count["silent_empty"],
            "openable": len(due),
            "openable_ready": sum(f.outcome == "ready" for f in due) / max(len(due), 1),
            "textless": sum(f.textless for f in self.files),
            "expected_failures": sum(f.expected is not None for f in self.files),
        }
        for kind, field in (("missing", "must_include"), ("forbidden", "must_not_include")):
            asked = sum(getattr(f, field) for f in self.files)
            faults = sum(fault.kind == kind for f in self.files for fault in f.string_faults)
            values[field] = (asked - faults if kind == "missing" else faults) / max(asked, 1)
        for name, group in self._compared().items():
            found, wanted = sum(r.found for r in group), sum(r.wanted for r in group)
            values[f"recall.{name}"] = found / wanted
            values[f"recall.{name}.mean"] = sum(r.share for r in group) / len(group)
        return values

    def due(self) -> list[FileResult]:
        """Return the files that ought to be ready: promised format, openable, with text or a picture of it."""
        return [f for f in self.files if f.openable and not f.textless and f.expected is None]

    def exceptions(self) -> list[FileResult]:
        """Return those of `due` that are not ready."""
        return [f for f in self.due() if f.outcome != "ready"]

    def worst(self, count: int = 10) -> list[FileResult]:
        """Return the files with the lowest recall, worst first."""
        compared = [f for f in self.files if f.recall is not None]
        return sorted(compared, key=lambda f: f.recall.share if f.recall else 1.0)[:count]

    def by_ending(self) -> dict[str, dict[str, float]]:
        """Return ending → files, each outcome, and seconds in all."""
        table: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for file in self.files:
            row = table[file.ending]
            row["files"] += 1
            row[file.outcome] += 1
            row["seconds"] += file.seconds
            row["slowest"] = max(row["slowest"], file.seconds)
        return {ending: dict(row) for ending, row in sorted(table.items())}

    def _compared(self) -> dict[str, list[Recall]]:
        groups: dict[str, list[Recall]] = defaultdict(list)
        for file in self.files:
            if file.recall is not None:
                groups["pdf" if file.ending == "pdf" else "digital"].append(file.recall)
        return groups
