"""Chat: the streamed and the plain answer fold the same events."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from agent.events import RunCompleted, RunFailed
from agent.run import collect
from api.auth import Caller, require
from api.container import Wired
from api.models import ChatBody
from api.problems import problem
from api.run_models import Standing
from api.sse import event_stream

router = APIRouter(prefix="/v1/chat", tags=["chat"])


@router.post("", response_model=RunCompleted)
async def chat(body: ChatBody, caller: Caller, wired: Wired) -> Response | RunCompleted:
    """Ask a question. `stream: true` gives server-sent events, else the terminal event as JSON.

    Where the run comes to wait for a person, or takes longer than `ATTEST_RUN_REQUEST_TIMEOUT_S`, a plain
    caller gets 202 and its address; it goes on in the background.
    """
    require(caller, "chat")
    await wired.budgets.admit(caller)
    talk = await wired.talks.take_up(body, caller)
    live = wired.runs.start(body, caller, talk)
    if talk is not None:
        await wired.talks.note(talk, live.run_id, caller)
    if body.stream:
        return event_stream(live.follow())
    if not await wired.runs.ends(live):
        standing = Standing(run_id=live.run_id, state="running", waiting=live.control.waiting)
        return JSONResponse(standing.model_dump(), 202, headers={"Location": f"/v1/runs/{live.run_id}"})
    match await collect(live.follow()):
        case RunCompleted() as completed:
            return completed
        case RunFailed(code=code, message=message):
            return problem(code, message, run_id=live.run_id)
        case _:
            return problem("run_cancelled", "the run was cancelled", status=409, run_id=live.run_id)
