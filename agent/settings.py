"""Settings of the agent. Plain frozen values: only `api/settings.py` reads the environment."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from retrieval.types import Value


class LlmSettings(Value):
    """The OpenAI-compatible endpoint; without `base_url` the extractive model serves."""

    base_url: str | None = None
    model: str = "default"
    api_key: str = Field(default="none", repr=False)
    timeout_s: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=2, ge=0)
    max_tokens: int = Field(default=1024, ge=16)
    fallback: Literal["extractive", "fail"] = "extractive"
    """What happens when the endpoint is down; the answer says so."""


class LoopSettings(Value):
    """Guards and limits of a run."""

    max_steps: int = Field(default=8, ge=1)
    format_retries: int = Field(default=2, ge=0)
    tool_timeout_s: float = Field(default=3.0, gt=0)
    retrieval_timeout_s: float = Field(default=10.0, gt=0)
    run_timeout_s: float = Field(default=300.0, gt=0)
    observation_chars: int = Field(default=6000, ge=200)


class AuditSettings(Value):
    """Thresholds of the citation auditor: shares of a sentence's content terms found in its sources, 0 to 1."""

    supported_share: float = Field(default=0.5, ge=0, le=1)
    supported_share_with_figures: float = Field(default=0.35, ge=0, le=1)
    """Enough where a figure or quotation of the sentence was found as well."""
    partly_share: float = Field(default=0.3, ge=0, le=1)


class AgentSettings(Value):
    """All of the agent's settings."""

    llm: LlmSettings = LlmSettings()
    loop: LoopSettings = LoopSettings()
    audit: AuditSettings = AuditSettings()
