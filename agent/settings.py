"""Settings of the agent. Plain frozen values: only `api/settings.py` reads the environment."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from retrieval.types import TenantName, Value

AuditPolicy = Literal["annotate", "repair", "withhold"]
"""What follows from an audit that finds fault: its verdicts alone; one more try; no answer if that fails too."""


class TierSettings(Value):
    """One model behind an OpenAI-compatible endpoint."""

    base_url: str | None = None
    """None: there is no such tier."""
    model: str = "default"
    api_key: str = Field(default="none", repr=False)
    form: Literal["xml", "json", "native"] = "xml"
    """How the model writes tool calls."""
    timeout_s: float = Field(default=60.0, gt=0)
    """Hard limit of each silence: until the first token, and between two; the two below refine it."""
    first_token_timeout_s: float | None = Field(default=None, gt=0)
    between_tokens_timeout_s: float | None = Field(default=None, gt=0)
    max_retries: int = Field(default=2, ge=0)
    """Further tries after no connection, 429 and 5xx; `Retry-After` is kept to."""
    max_tokens: int = Field(default=1024, ge=16)
    """Of one reply."""
    window_tokens: int = Field(default=8192, ge=2048)
    """What the model reads and writes in one call; prompts are kept inside it."""
    tokenizer: Path | None = None
    """A `tokenizer.json` of the model on this machine; None: tokens are estimated."""


class LlmSettings(TierSettings):
    """The tier `large`, which serves unless another is asked for; without `base_url` the extractive model serves."""

    fallback: str = Field(default="extractive", pattern=r"^(fail|extractive|small(,extractive)?)$")
    """Who takes over, in this order, when the endpoint is down or does not keep to the form; the answer says so."""

    @property
    def spares(self) -> tuple[str, ...]:
        """The names in `fallback`; empty where the run shall fail."""
        return () if self.fallback == "fail" else tuple(self.fallback.split(","))


class LoopSettings(Value):
    """Guards and limits of a run."""

    max_steps: int = Field(default=8, ge=1)
    format_retries: int = Field(default=2, ge=0)
    tool_timeout_s: float = Field(default=3.0, gt=0)
    retrieval_timeout_s: float = Field(default=10.0, gt=0)
    run_timeout_s: float = Field(default=300.0, gt=0)
    """Without the time that the run waited for people."""
    request_timeout_s: float = Field(default=310.0, gt=0)
    """How long a caller who does not stream waits for the answer; then the run goes on without it."""
    slow_step_s: float = Field(default=2.0, gt=0)
    """Until the first token; past it the reader is told that it takes longer, like past the two below."""
    slow_tool_s: float = Field(default=3.0, gt=0)
    slow_retrieval_s: float = Field(default=1.5, gt=0)
    observation_chars: int = Field(default=6000, ge=200)
    shorten_with: Literal["own", "small"] = "own"
    """How long results of tools are shortened: by their own sentences, or by the tier `small` where there is one."""
    concise_above_tokens: int | None = Field(default=2000, ge=1)
    """Above so many estimated tokens of a prompt the model is asked to be brief; None: never."""
    route_simple: bool = False
    """True: simple questions begin with the tier `small`, where there is one."""


class MemorySettings(Value):
    """What later runs are told of earlier ones, beside their own conversation."""

    experience: bool = False
    """True: the model is shown how questions like this one of the same person were answered before."""


class BudgetSettings(Value):
    """Most tokens (read and written) and money that may be used; None: no limit. Days are those of UTC."""

    run_tokens: int | None = Field(default=None, ge=1)
    run_money: Decimal | None = Field(default=None, gt=0)
    user_tokens: int | None = Field(default=None, ge=1)
    """Of one user in a day."""
    user_money: Decimal | None = Field(default=None, gt=0)
    tenant_tokens: int | None = Field(default=None, ge=1)
    """Of all users of a tenant in a day."""
    tenant_money: Decimal | None = Field(default=None, gt=0)


class AuditSettings(Value):
    """The citation auditor: what follows from its verdicts, and its thresholds.

    Thresholds are shares of a sentence's content terms found in its sources, 0 to 1.
    """

    policy: AuditPolicy = "annotate"
    """`repair` and `withhold` mark what is streamed as a draft; the final answer follows the audit."""
    tenants: dict[TenantName, AuditPolicy] = Field(default_factory=dict[TenantName, AuditPolicy])
    """Policies of single tenants."""
    withhold_at: Literal["medium", "high"] = "medium"
    """The risk from which `withhold` keeps an answer back; `medium`: any sentence that has no support or no source."""
    drafts: bool = True
    """False: under `repair` and `withhold` nothing is shown before it is audited."""
    recall_interval_s: float = Field(default=5.0, gt=0)
    """How often changed documents are looked for, whose past answers are then marked."""
    supported_share: float = Field(default=0.5, ge=0, le=1)
    supported_share_with_figures: float = Field(default=0.35, ge=0, le=1)
    """Enough where a figure or quotation of the sentence was found as well."""
    partly_share: float = Field(default=0.3, ge=0, le=1)
    calibration: Path | None = None
    """Parameters that `attest eval audit --fit` wrote; None: those that come with attest."""
    entailment_model: Path | None = None
    """Folder of a cross-encoder for natural language inference, asked about sentences that no source has verbatim."""

    def policy_of(self, tenant: str) -> AuditPolicy:
        """Return what follows from audits of a tenant's answers."""
        return self.tenants.get(tenant, self.policy)


class AlertSettings(Value):
    """Who hears of risky answers and of stale ones, beside the log."""

    at: Literal["medium", "high"] = "high"
    """The risk from which an answer raises an alert; a withheld one always does."""
    webhook_url: str | None = Field(default=None, repr=False, pattern=r"^https?://")
    """Gets each alert as a signed POST; needs `webhook_secret`."""
    webhook_secret: str | None = Field(default=None, repr=False, min_length=16)
    """Signs (HMAC-SHA256); `whsec_` and base64, or any text."""
    webhook_tries: int = Field(default=6, ge=1, le=20)
    webhook_timeout_s: float = Field(default=10.0, gt=0)

    @model_validator(mode="after")
    def _signed(self) -> AlertSettings:
        if self.webhook_url is not None and self.webhook_secret is None:
            raise ValueError("webhook_url needs webhook_secret: unsigned alerts are not sent")
        return self


class AgentSettings(Value):
    """All of the agent's settings."""

    llm: LlmSettings = LlmSettings()
    small: TierSettings = TierSettings()
    vision: TierSettings = TierSettings()
    loop: LoopSettings = LoopSettings()
    audit: AuditSettings = AuditSettings()
