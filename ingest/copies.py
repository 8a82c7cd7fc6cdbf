"""Copies of documents' texts that other rooms keep, and that change with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Copies(Protocol):
    """One place that keeps copies of documents' texts (runs). Other rooms have theirs."""

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Put `change(text)` in the place of every text; repeatable, for `change` done again changes nothing.

        Args:
            tenant: whose copies.
            change: hides what is secret now, and renames pseudonyms.
            document_id: what uses this document is rewritten whatever was done before.
            revision: what was rewritten under this revision of the rules already is passed over.

        Returns:
            How many places were changed.
        """
        ...
