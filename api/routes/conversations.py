"""Conversations of the caller."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from agent.conversations import Conversation, Turn
from api.auth import Caller, require
from api.container import Wired
from api.database import empty_log
from api.models import Limit
from retrieval.types import Value

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])


class Begun(Value):
    """A new conversation."""

    conversation_id: str


class ConversationDeleted(Value):
    """What was deleted."""

    conversation_id: str
    runs: int


@router.post("", status_code=201)
async def begin(caller: Caller, wired: Wired) -> Begun:
    """Begin a conversation; name its id in `/v1/chat`, so that questions may follow up on each other."""
    require(caller, "chat")
    return Begun(conversation_id=await asyncio.to_thread(wired.talks.book.begin, caller))


@router.get("")
async def conversations(caller: Caller, wired: Wired, limit: Limit = 100) -> list[Conversation]:
    """List the caller's conversations, the one asked in last first."""
    return await asyncio.to_thread(wired.talks.book.list, caller, limit=limit)


@router.get("/{conversation_id}")
async def conversation(conversation_id: str, caller: Caller, wired: Wired) -> list[Turn]:
    """Show the questions and answers of a conversation in order."""
    return await asyncio.to_thread(wired.talks.book.turns, conversation_id, caller)


@router.delete("/{conversation_id}")
async def delete(conversation_id: str, caller: Caller, wired: Wired) -> ConversationDeleted:
    """Delete a conversation with all of its runs; nothing of their texts is left."""
    count = await asyncio.to_thread(wired.talks.book.delete, conversation_id, caller)
    await asyncio.to_thread(empty_log, wired.engine)
    return ConversationDeleted(conversation_id=conversation_id, runs=count)
