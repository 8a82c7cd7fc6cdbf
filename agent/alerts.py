"""Alerts: who must hear that an answer is risky, or that past answers have become stale.

An alert carries ids, verdict counts and risk; no question, no answer, no text of a document.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, Protocol

from pydantic import Field

from agent.audit.verdicts import Action, Risk
from agent.clock import Clock, SystemClock
from agent.events import RunCompleted
from retrieval.types import Value

log = logging.getLogger(__name__)

_RANK: Final[dict[Risk, int]] = {"low": 0, "medium": 1, "high": 2}
_AT_ONCE: Final = 500
"""Runs that one alert names."""


class Alert(Value):
    """One alert."""

    kind: Literal["risky_answer", "stale_answers"]
    tenant: str
    at: datetime
    run_ids: tuple[str, ...]
    risk: Risk | None = None
    action: Action | None = None
    verdicts: dict[str, int] = Field(default_factory=dict[str, int])
    """Sentences by verdict."""
    violations: int = 0


class AlertSink(Protocol):
    """Takes alerts on their way; never blocks and never raises."""

    def take(self, alert: Alert) -> None:
        """Pass an alert on."""
        ...


class Alarms:
    """Decides what is an alert, writes it to the log and hands it to the sinks."""

    def __init__(self, sinks: Sequence[AlertSink] = (), *, at: Risk = "high", clock: Clock | None = None) -> None:
        """Take the sinks; `at` is the risk from which an answer raises an alert. A withheld answer always does."""
        self._sinks = tuple(sinks)
        self._at: Risk = at
        self._clock = clock or SystemClock()

    def completed(self, done: RunCompleted, tenant: str) -> None:
        """Raise an alert where an answer needs one."""
        audit = done.audit
        if _RANK[audit.risk] < _RANK[self._at] and audit.action != "withheld":
            return
        log.warning("run %s: risk %s, action %s", done.run_id, audit.risk, audit.action)
        self._raise(
            Alert(
                kind="risky_answer",
                tenant=tenant,
                at=done.at,
                run_ids=(done.run_id,),
                risk=audit.risk,
                action=audit.action,
                verdicts=dict(Counter(each.kind for each in audit.sentences)),
                violations=len(audit.violations),
            )
        )

    async def stale(self, tenant: str, run_ids: Sequence[str]) -> None:
        """Raise alerts for answers that rely on documents which are replaced or deleted now."""
        now = self._clock.now()
        for at in range(0, len(run_ids), _AT_ONCE):
            some = tuple(run_ids[at : at + _AT_ONCE])
            self._raise(Alert(kind="stale_answers", tenant=tenant, at=now, run_ids=some))

    def _raise(self, alert: Alert) -> None:
        for sink in self._sinks:
            sink.take(alert)
