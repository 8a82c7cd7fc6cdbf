"""Any local cross-encoder for natural language inference, through sentence-transformers.

The only import of sentence-transformers in the agent, at load time and by name: importing it costs seconds.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from agent.audit.entailment import Stance
from agent.errors import AuditModelError

_LABELS = ("entailment", "contradiction")


class CrossEncoderEntailment:
    """A model with labels `entailment` and `contradiction` (and `neutral`), read from a folder; nothing is fetched."""

    def __init__(self, folder: Path) -> None:
        """Load the model.

        Raises:
            AuditModelError: the folder holds no such model, or the package is not installed.
        """
        self._model: Any = _load(folder)
        names = {str(name).casefold(): int(index) for index, name in self._model.config.id2label.items()}
        if not set(_LABELS) <= set(names):
            raise AuditModelError(
                f"{folder}: a model for the auditor has the labels {' and '.join(_LABELS)}, this one {sorted(names)}"
            )
        self._entails, self._contradicts = (names[label] for label in _LABELS)
        self._lock = Lock()
        """Guards the model: its tokenizer cannot be used by two threads at once."""

    def judge(self, source: str, sentence: str) -> Stance:
        """Return the probabilities of the model; long sources are cut at its length."""
        with self._lock:
            scores: Any = self._model.predict([(source, sentence)], apply_softmax=True, show_progress_bar=False)[0]
        return Stance(entails=float(scores[self._entails]), contradicts=float(scores[self._contradicts]))


def _load(folder: Path) -> Any:
    if not (folder / "config.json").is_file():
        raise AuditModelError(
            f"{folder}: no model lies there; leave the auditor's entailment_model unset to do without"
        )
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as exc:
        raise AuditModelError(
            "the auditor's entailment_model needs sentence-transformers: install the 'bge' extra"
        ) from exc
    try:
        return library.CrossEncoder(str(folder), device="cpu", local_files_only=True, trust_remote_code=False)
    except Exception as exc:
        # What loading raises has no common root below Exception.
        raise AuditModelError(
            f"{folder}: the model does not load ({type(exc).__name__}); copy the folder again"
        ) from exc
