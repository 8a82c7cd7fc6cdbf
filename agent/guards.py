"""The guard against a model that goes round in circles."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

RepetitionVerdict = Literal["fresh", "repeated", "stuck"]


class RepetitionGuard:
    """Counts equal calls with equal results over one run."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def look(self, tool: str, arguments: dict[str, Any], result: str) -> RepetitionVerdict:
        """Note a call: the second equal one is `repeated` (tell the model to decide), the third `stuck`."""
        text = json.dumps([tool, arguments, result], ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        count = self._counts[key] = self._counts.get(key, 0) + 1
        return "fresh" if count == 1 else "repeated" if count == 2 else "stuck"
