"""The tools of runs, for a caller who is no run: the same executor, limits, rights and switches."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from agent.errors import UnknownToolError
from agent.ports import Library, Searcher
from agent.settings import LoopSettings
from agent.switches import Switches
from agent.tools.base import Tool, ToolContext, ToolSpec
from agent.tools.builtin.plan import PlanCreate, PlanUpdate
from agent.tools.executor import ToolExecutor
from agent.tools.registry import ToolRegistry
from agent.tools.whitelist import offer
from retrieval.labels import LabelBook
from retrieval.language_id import language_of
from retrieval.types import Principal, SearchFilter

_OF_RUNS = frozenset({"finish", "ask_user", "hand_over", "reason"})
"""Tools that steer a run; without one they do nothing."""
PLAN = frozenset({"plan_create", "plan_update"})
_MOST = 200
_IDLE_S = 30 * 60.0

Ask = Callable[[Principal, str], Awaitable[tuple[str, bool]]]
"""Runs a question and returns the audited answer, and whether there is one."""

ASK = ToolSpec(
    name="ask",
    description="Ask the documents a question. Gives an answer in which every factual sentence names its source "
    "and was checked against it; takes longer than a search.",
    arguments={
        "type": "object",
        "properties": {"question": {"type": "string", "minLength": 1, "maxLength": 4000}},
        "required": ["question"],
        "additionalProperties": False,
    },
)


@dataclass(slots=True)
class _Session:
    context: ToolContext
    used: float


class ToolDesk:
    """Runs tools for callers. Each session of a principal has its own labels, kept texts and plan."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        searcher: Searcher,
        library: Library,
        settings: LoopSettings,
        switches: Switches,
        hide: Callable[[str, str], str],
        ask: Ask,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the parts.

        Args:
            tools: of runs; those that act outside are left out, since nobody could be asked for approval here.
            searcher: as runs have it.
            library: likewise.
            settings: how long an observation may be.
            switches: what is off, by tenant.
            hide: puts pseudonyms for the secrets of a text, by tenant.
            ask: runs a question.
            monotonic: for tests.
        """
        kept = {t.spec.name: t for t in tools if not t.spec.side_effects and t.spec.name not in _OF_RUNS}
        for plan in (PlanCreate(), PlanUpdate()):
            kept.setdefault(plan.spec.name, plan)
        self._registry = ToolRegistry(kept.values())
        self._searcher, self._library = searcher, library
        self._max_chars = settings.observation_chars
        self._switches = switches
        self._hide = hide
        self._ask = ask
        self._monotonic = monotonic
        self._executor = ToolExecutor()
        self._sessions: OrderedDict[tuple[str, str, str], _Session] = OrderedDict()

    async def offered(self, principal: Principal) -> tuple[ToolSpec, ...]:
        """Return the declarations of what this principal may call."""
        specs = await offer(self._registry, self._switches, principal, SearchFilter(), knowledge=True)
        if principal.may("chat") and self._switches.is_on("tool", ASK.name, principal.tenant):
            return (ASK, *specs)
        return specs

    async def call(self, principal: Principal, session: str, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Call a tool by its exact name and return its text, with whether it did what was asked.

        Raises:
            UnknownToolError: it is not offered to this principal.
        """
        names = {spec.name for spec in await self.offered(principal)}
        if name not in names:
            raise UnknownToolError(f"There is no tool {name[:60]!r}. The tools are: {', '.join(sorted(names))}.")
        hidden = cast("dict[str, Any]", self._hidden(arguments, principal.tenant))
        if name == ASK.name:
            question = hidden.get("question")
            if not isinstance(question, str) or not question.strip():
                return "ask needs a question.", False
            return await self._ask(principal, question)
        context = self._context(principal, session)
        context.language = "zh" if language_of(" ".join(str(v) for v in hidden.values())) == "zh" else "en"
        tool = self._registry.resolve(name, names).tool
        outcome = await self._executor.execute(tool, hidden, context)
        context.passages.add(outcome.result.passages)
        return outcome.observation, outcome.result.ok

    def _context(self, principal: Principal, session: str) -> ToolContext:
        now = self._monotonic()
        while self._sessions and (
            len(self._sessions) > _MOST or now - next(iter(self._sessions.values())).used > _IDLE_S
        ):
            self._sessions.popitem(last=False)
        key = (principal.tenant, principal.user, session)
        found = self._sessions.get(key)
        if found is None or found.context.principal != principal:
            # Rights may have changed since: a session never keeps those of its beginning.
            found = _Session(self._new_context(principal), now)
        self._sessions[key] = found
        self._sessions.move_to_end(key)
        found.used = now
        return found.context

    def _new_context(self, principal: Principal) -> ToolContext:
        return ToolContext(
            principal=principal,
            language="en",
            book=LabelBook(),
            searcher=self._searcher,
            library=self._library,
            filter=SearchFilter(),
            max_chars=self._max_chars,
        )

    def _hidden(self, value: object, tenant: str) -> object:
        """Return arguments without secrets: what is typed here is logged and searched like a question."""
        match value:
            case str():
                return self._hide(value, tenant)
            case dict():
                return {k: self._hidden(v, tenant) for k, v in cast("dict[str, object]", value).items()}
            case list():
                return [self._hidden(item, tenant) for item in cast("list[object]", value)]
            case _:
                return value
