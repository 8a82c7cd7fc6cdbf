"""A remote model that reads only what may leave this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Set
from typing import Any

from agent.egress import Egress
from agent.errors import EgressRefusedError
from agent.llm import ChatModel, ChatPiece, ChatRequest
from agent.protocols.choice import form_of
from agent.protocols.reasons import Form


class GuardedModel:
    """A remote model behind the rule."""

    def __init__(self, model: ChatModel, egress: Egress) -> None:
        self._model, self._egress = model, egress

    @property
    def name(self) -> str:
        """The model's own."""
        return self._model.name

    @property
    def form(self) -> Form:
        """The model's own."""
        return form_of(self._model)

    @property
    def window(self) -> Any:
        """The model's own, where it has one."""
        return getattr(self._model, "window", None)

    def kept(self, labels: Set[str], tenant: str) -> frozenset[str]:
        """Return those of the labels whose text it may not read."""
        return self._egress.kept(labels, tenant)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Pass a request on, if all of its text may leave.

        Raises:
            EgressRefusedError: it may not, or nobody says where it comes from. Nothing was sent.
        """
        if request.labels is None or self._egress.kept(request.labels, request.tenant):
            raise EgressRefusedError(f"text that must not leave this machine was not sent to the model {self.name}")
        stream = self._model.stream(request)
        try:
            async for piece in stream:
                yield piece
        finally:
            aclose = getattr(stream, "aclose", None)
            if aclose is not None:
                await aclose()
