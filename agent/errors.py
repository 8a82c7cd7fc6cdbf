"""Everything the agent can raise.

AgentError
├── ModelUnavailableError     the chat model gave no answer (retry)
│   ├── ReplyCutError         its reply broke off half-way (retry)
│   └── EgressRefusedError    the text must not leave this machine (permanent)
├── MalformedModelOutputError the model would not keep to the protocol (permanent)
├── BudgetExceededError       a step, token or time budget of the run is spent (permanent)
├── AuditCalibrationError     the auditor's parameters cannot be read (permanent)
├── UnknownConversationError  no such conversation for this principal (permanent)
├── ConversationBusyError     a question of the conversation is being answered (retry)
├── UnknownRunError           no such run for this principal (permanent)
├── RunConflictError          the run is not in a state for this (permanent)
├── NotResumableError         a run that broke off cannot go on (permanent)
├── ReplayEndedError          a replayed run asks for more than was recorded (permanent)
└── ToolError                 shown to the model as an observation, never to the user
    ├── UnknownToolError      the name is not on the run's whitelist
    ├── ToolArgumentsError    the arguments do not fit the tool's schema
    ├── ToolUnavailableError  what the tool needs cannot be reached (retry)
    └── ToolTimeoutError      the tool did not answer in time (retry)
"""

from __future__ import annotations

from typing import ClassVar


class AgentError(Exception):
    """Root of the agent's errors. The message says what failed, on what, and what to do."""

    code: ClassVar[str] = "agent_failed"
    retryable: ClassVar[bool] = False


class ModelUnavailableError(AgentError):
    """The chat model gave no answer."""

    code = "model_unavailable"
    retryable = True


class ReplyCutError(ModelUnavailableError):
    """The chat model's reply broke off half-way; the same call may well succeed."""


class EgressRefusedError(ModelUnavailableError):
    """The model is on another machine, and some of the text must stay on this one; nothing was sent."""

    code = "egress_refused"
    retryable = False


class MalformedModelOutputError(AgentError):
    """The model would not keep to the protocol, retries included."""

    code = "malformed_model_output"


class BudgetExceededError(AgentError):
    """A step, token or time budget of the run is spent."""

    code = "budget_exceeded"


class AuditCalibrationError(AgentError):
    """The file with the auditor's fitted parameters cannot be read."""

    code = "audit_calibration"


class AuditModelError(AgentError):
    """The model that the auditor asks about meaning cannot be loaded."""

    code = "audit_model"


class UnknownConversationError(AgentError):
    """There is no such conversation, or it belongs to somebody else."""

    code = "unknown_conversation"


class ConversationBusyError(AgentError):
    """A question of the conversation is being answered."""

    code = "conversation_busy"
    retryable = True


class UnknownRunError(AgentError):
    """No such run for this principal; the same answer for another tenant's."""

    code = "unknown_run"


class RunConflictError(AgentError):
    """The run is not in a state for what is wanted of it."""

    code = "run_conflict"


class NotResumableError(AgentError):
    """A run that broke off cannot go on from where its journal ends."""

    code = "interrupted"


class ReplayEndedError(AgentError):
    """A replayed run asks for more than was recorded."""

    code = "replay_ended"


class ToolError(AgentError):
    """A tool call that failed; the message is written for the model."""

    code = "tool_failed"


class UnknownToolError(ToolError):
    """The tool's name is not on the run's whitelist."""

    code = "unknown_tool"


class ToolArgumentsError(ToolError):
    """The arguments do not fit the tool's schema."""

    code = "tool_arguments"


class ToolUnavailableError(ToolError):
    """What the tool needs cannot be reached."""

    code = "tool_unavailable"
    retryable = True


class ToolTimeoutError(ToolError):
    """The tool did not answer in time."""

    code = "tool_timeout"
    retryable = True
