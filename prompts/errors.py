"""Everything prompts can raise.

PromptError
├── MissingVariableError   a template needs a variable that was not given (permanent)
└── UnknownTemplateError   no such template, or not in that language (permanent)
"""

from __future__ import annotations

from typing import ClassVar


class PromptError(Exception):
    """Root of the errors of prompts. The message names the template."""

    code: ClassVar[str] = "prompt_failed"
    retryable: ClassVar[bool] = False


class MissingVariableError(PromptError):
    """A template needs a variable that was not given."""

    code = "missing_variable"


class UnknownTemplateError(PromptError):
    """There is no such template."""

    code = "unknown_template"
