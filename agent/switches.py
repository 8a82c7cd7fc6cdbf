"""What an operator switched off: tools, tiers, models, features; for everyone or for one tenant."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from retrieval.types import TenantName, Tier, Value

Kind = Literal["tool", "tier", "model", "feature"]
FEATURES: Final = frozenset({"answer_cache", "artifacts", "databases", "external_tools", "mcp_server"})
_SWITCH_RE = re.compile(r"(tool|tier|model|feature):(\S{1,128})")
_BELOW: Final[dict[Tier, Tier]] = {"strong": "weak", "weak": "none"}


def _known(switch: str) -> str:
    match = _SWITCH_RE.fullmatch(switch)
    if match is None:
        raise ValueError("a switch is written tool:NAME, tier:NAME, model:NAME or feature:NAME")
    kind, name = match.groups()
    if kind == "feature" and name not in FEATURES:
        raise ValueError(f"there is no feature {name!r}; there are {', '.join(sorted(FEATURES))}")
    if kind == "tier" and name not in _BELOW:
        raise ValueError("only the tiers strong and weak can be switched off")
    return switch


Switch = Annotated[str, AfterValidator(_known)]


class Switches(Value):
    """Everything is on that does not stand here. Names of tools may be those of tools to come."""

    off: frozenset[Switch] = frozenset()
    """For all tenants."""
    tenants: dict[TenantName, frozenset[Switch]] = Field(default_factory=dict[TenantName, frozenset[Switch]])
    """For one tenant, beside what is off for all."""

    def is_on(self, kind: Kind, name: str, tenant: str) -> bool:
        """Tell whether a tenant may use something."""
        switch = f"{kind}:{name}"
        return switch not in self.off and switch not in self.tenants.get(tenant, frozenset())

    def tier(self, decided: Tier, tenant: str) -> Tier:
        """Return the decided tier, or the next one below it that is on."""
        tier = decided
        while tier != "none" and not self.is_on("tier", tier, tenant):
            tier = _BELOW[tier]
        return tier
