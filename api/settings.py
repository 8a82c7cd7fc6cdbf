"""Settings: the one place that reads the environment.

Every setting is `ATTEST_<SECTION>_<FIELD>` (for example `ATTEST_LLM_BASE_URL`), or
`[section] field` in `ATTEST_HOME/attest.toml`; the environment wins. A name that is
not known is an error that says so, so that a misspelt setting is never ignored.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import BaseModel, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from agent.cost import Price
from agent.egress import Egress
from agent.settings import (
    AlertSettings,
    AuditSettings,
    BudgetSettings,
    LlmSettings,
    LoopSettings,
    MemorySettings,
    TierSettings,
)
from agent.switches import Switches
from agent.tools.mcp.settings import McpSettings
from api.errors import SettingsError
from ingest.settings import ChunkSettings, IngestSettings, ParserSettings
from retrieval.settings import (
    CacheSettings,
    DecisionSettings,
    EncoderSettings,
    SearchSettings,
    StoreSettings,
    TriggerSettings,
)
from retrieval.types import Value

TUNED = "tuned.toml"
"""What `attest tune-triggers --apply` writes into ATTEST_HOME."""

# Names that others own: the tests' switches.
_FOREIGN_SECTIONS = {"test"}


class ServerSettings(Value):
    """The HTTP door."""

    host: str = "127.0.0.1"
    """Beyond loopback only with `keys_file`."""
    port: int = Field(default=8321, ge=0, le=65535)
    keys_file: Path | None = None
    """TOML file that maps API keys to principals; without it the caller on loopback is the local owner."""
    max_upload_mb: int = Field(default=200, ge=1)
    max_body_kb: int = Field(default=256, ge=1)
    """Largest JSON body."""


class ClientSettings(Value):
    """How the command line reaches a running server."""

    url: str | None = None
    """Server to talk to; None: the one that owns ATTEST_HOME, else none (in process)."""
    key: str | None = Field(default=None, repr=False)


class DatabaseSettings(Value):
    """The SQL database."""

    url: str | None = Field(default=None, repr=False)
    """SQLAlchemy URL; None: SQLite in ATTEST_HOME."""


class SecretKeys(Value):
    """Keys; None: made once in `ATTEST_HOME/keys` (mode 0600)."""

    pseudonym: str | None = Field(default=None, repr=False, min_length=32)
    pseudonym_former: str | None = Field(default=None, repr=False, min_length=32)
    """The pseudonym key before the present one, while a change of keys is under way (`attest keys rotate`)."""
    vault: str | None = Field(default=None, repr=False, min_length=32)
    erasure: str | None = Field(default=None, repr=False, min_length=32)
    """Knows erased values again; never changed."""


class SymbolSettings(Value):
    """The symbol language."""

    folder: Path | None = None
    """Folder with rule files beside the built-in ones: `*.toml` for all tenants, `tenants/<tenant>/*.toml` for one."""


class MetricsSettings(Value):
    """Metrics for Prometheus, at `GET /metrics`."""

    enabled: bool = False
    """For the operator alone: they count over all tenants."""


class TelemetrySettings(Value):
    """What others are told of runs: names and numbers, never text."""

    otlp_endpoint: str | None = None
    """OpenTelemetry collector (OTLP over HTTP) that is sent a span for each run, model call and tool call."""
    logs: Literal["text", "json"] = "text"
    """`json`: the server logs one object a line, with `trace_id` and `run_id`."""


class EvaluationSettings(Value):
    """Where evaluation data lies."""

    data: Path | None = None


class Settings(BaseSettings):
    """All settings, joined."""

    model_config = SettingsConfigDict(
        env_prefix="ATTEST_",
        env_nested_delimiter="_",
        env_nested_max_split=1,
        extra="forbid",
        frozen=True,
    )

    home: Path = Field(default_factory=lambda: user_data_path("attest", appauthor=False))
    """Where all state lives; never in the checkout."""
    server: ServerSettings = ServerSettings()
    api: ClientSettings = ClientSettings()
    database: DatabaseSettings = DatabaseSettings()
    databases: dict[str, SecretStr] = Field(default_factory=dict)
    """Databases to be described as documents: name → SQLAlchemy URL. Only an operator's word names one."""
    keys: SecretKeys = SecretKeys()
    symbols: SymbolSettings = SymbolSettings()
    models: EncoderSettings = Field(default_factory=EncoderSettings, validate_default=True)
    vectors: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    trigger: TriggerSettings = TriggerSettings()
    decisions: DecisionSettings = DecisionSettings()
    cache: CacheSettings = CacheSettings()
    metrics: MetricsSettings = MetricsSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    parser: ParserSettings = ParserSettings()
    chunk: ChunkSettings = ChunkSettings()
    ingest: IngestSettings = IngestSettings()
    llm: LlmSettings = LlmSettings()
    small: TierSettings = TierSettings()
    vision: TierSettings = TierSettings()
    prices: dict[str, Price] = Field(default_factory=dict)
    """What models cost: model name → price per million tokens."""
    budget: BudgetSettings = BudgetSettings()
    run: LoopSettings = LoopSettings()
    memory: MemorySettings = MemorySettings()
    audit: AuditSettings = AuditSettings()
    alerts: AlertSettings = AlertSettings()
    switches: Switches = Switches()
    """What is switched off."""
    egress: Egress = Egress()
    """Which text may reach models on other machines."""
    mcp: McpSettings = McpSettings()
    """MCP servers whose tools runs may call."""
    eval: EvaluationSettings = EvaluationSettings()

    @field_validator("models")
    @classmethod
    def _keep_models_at_home(cls, models: EncoderSettings, info: ValidationInfo) -> EncoderSettings:
        if models.folder is not None or "home" not in info.data:
            return models
        return models.model_copy(update={"folder": info.data["home"] / "models"})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the TOML files of ATTEST_HOME below the environment; what was tuned gives way to what was written."""
        home = Path(os.environ.get("ATTEST_HOME") or user_data_path("attest", appauthor=False))
        return (
            init_settings,
            env_settings,
            TomlConfigSettingsSource(settings_cls, toml_file=home / "attest.toml"),
            TomlConfigSettingsSource(settings_cls, toml_file=home / TUNED),
        )

    @property
    def ingestion(self) -> IngestSettings:
        """Ingestion's settings with the sections `parser` and `chunk` put in."""
        parser = self.parser.model_copy(update={"max_bytes": self.server.max_upload_mb * 1024 * 1024})
        return self.ingest.model_copy(update={"parser": parser, "chunk": self.chunk})

    @property
    def database_url(self) -> str:
        """The database in use."""
        return self.database.url or f"sqlite:///{self.home / 'attest.sqlite3'}"


def load_settings(**overrides: Any) -> Settings:
    """Read the environment and `attest.toml`.

    Raises:
        SettingsError: a name is unknown or a value does not fit; the message names it.
    """
    known = set(Settings.model_fields) - {"home"} | _FOREIGN_SECTIONS
    for name in os.environ:
        if name.startswith("ATTEST_"):
            section = name.removeprefix("ATTEST_").lower().split("_", 1)[0]
            if section not in known and name != "ATTEST_HOME":
                sections = ", ".join(sorted(known - _FOREIGN_SECTIONS))
                raise SettingsError(f"{name}: there is no setting section {section!r}; sections are {sections}")
    try:
        return Settings(**overrides)
    except ValidationError as exc:
        problems = "; ".join(_problem(error) for error in exc.errors(include_input=False))
        raise SettingsError(f"settings do not fit: {problems}") from None
    except ValueError as exc:  # TOML syntax, JSON in a section variable
        raise SettingsError(f"settings cannot be read: {exc}") from None


def _problem(error: ErrorDetails) -> str:
    """Name a setting in both of its writings and say what is wrong with it."""
    path = [str(part) for part in error["loc"]]
    name = f"ATTEST_{'_'.join(path).upper()} ({'.'.join(path)})"
    if error["type"] != "extra_forbidden":
        return f"{name}: {error['msg']}"
    section = Settings.model_fields.get(path[0])
    fields = section.annotation if section is not None else Settings
    if isinstance(fields, type) and issubclass(fields, BaseModel):
        return f"{name}: there is no such setting; there are {', '.join(fields.model_fields)}"
    return f"{name}: there is no such setting"
