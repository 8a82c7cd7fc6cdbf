"""The tool `ask`: a whole run, its audited answer as text."""

from __future__ import annotations

from agent.budgets import BudgetKeeper
from agent.events import RunCompleted, RunFailed
from agent.run import collect
from api.mcp.desk import Ask
from api.models import ChatBody
from api.runs import RunService
from retrieval.types import Principal


def asking(runs: RunService, budgets: BudgetKeeper) -> Ask:
    """Return what runs a question for a caller and waits for its end."""

    async def ask(principal: Principal, question: str) -> tuple[str, bool]:
        await budgets.admit(principal)
        live = runs.start(ChatBody(question=question), principal)
        match await collect(live.follow()):
            case RunCompleted() as done:
                return f"{done.answer}\n\n(run {live.run_id}, {done.status}, risk {done.audit.risk})", True
            case RunFailed(message=message):
                return message, False
            case _:
                return "The run was cancelled.", False

    return ask
