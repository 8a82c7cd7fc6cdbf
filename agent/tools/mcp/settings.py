"""Settings of the MCP servers whose tools runs may call."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints, model_validator

from retrieval.types import Value

ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,15}$")]


class McpServer(Value):
    """One server: a command that speaks over its standard streams, or an address."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = Field(default_factory=dict)
    """What the command finds in its environment besides PATH, HOME and their like; nothing of ours is passed on."""
    url: str | None = None
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent with each request to `url`, for example `Authorization`."""
    tools: tuple[str, ...]
    """The allow-list: names of its tools that may be called. What is not named does not exist for us."""
    harmless: tuple[str, ...] = ()
    """Those of `tools` that only read. All others are taken to act, so that a person is asked before each call."""
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    """Of one call."""
    connect_timeout_s: float = Field(default=10.0, gt=0, le=120)

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("an MCP server has either a command or a url")
        if unknown := set(self.harmless) - set(self.tools):
            raise ValueError(f"harmless names what tools does not: {', '.join(sorted(unknown))}")
        return self


class McpSettings(Value):
    """All servers, by the name their tools begin with."""

    servers: dict[ServerName, McpServer] = Field(default_factory=dict[ServerName, McpServer])
