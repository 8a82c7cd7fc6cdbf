"""Which text may reach a model on another machine, by the labels of the documents it comes from.

Labels add up over a run: once text that must stay is in it, everything written from it must stay too, so
that no prompt of the rest of the run goes to a remote model. The guard sits at the model itself
(`agent.models.guarded`); whoever asks one without naming the labels of the text is refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Set
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from pydantic import Field

from retrieval.types import TenantName, Value

UNLABELLED = ""
"""Stands for the text of a document without labels."""


class Egress(Value):
    """The rule. As it comes, all text may leave."""

    stays: frozenset[str] = frozenset()
    """Labels whose text never reaches a remote model."""
    leaves: frozenset[str] | None = None
    """Where this is set, only text whose every label stands here may leave."""
    unlabelled: bool = True
    """False: text of documents without labels stays."""
    tenants: dict[TenantName, frozenset[str]] = Field(default_factory=dict[TenantName, frozenset[str]])
    """Labels that stay for one tenant, beside those that stay for all."""
    local_hosts: frozenset[str] = frozenset()
    """Hosts of the house: a model there may read everything, as one on this machine may."""

    @property
    def binds(self) -> bool:
        """Tell whether anything has to stay."""
        return bool(self.stays or self.leaves is not None or not self.unlabelled or any(self.tenants.values()))

    def kept(self, labels: Set[str], tenant: str) -> frozenset[str]:
        """Return those of the labels whose text must stay; `UNLABELLED` among them for text without one."""
        stays = self.stays | self.tenants.get(tenant, frozenset())
        named = frozenset(labels) - {UNLABELLED}
        kept = named & stays if self.leaves is None else (named & stays) | (named - self.leaves)
        return kept | {UNLABELLED} if UNLABELLED in labels and not self.unlabelled else kept

    def is_local(self, base_url: str) -> bool:
        """Tell whether an endpoint is on this machine or on a host of the house."""
        host = (urlsplit(base_url).hostname or "").rstrip(".")
        if host in {"localhost", ""} or host in {each.casefold() for each in self.local_hosts}:
            return host != ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


@runtime_checkable
class Guarded(Protocol):
    """A model that may not read everything."""

    def kept(self, labels: Set[str], tenant: str) -> frozenset[str]:
        """Return those of the labels whose text it may not read."""
        ...


def document_labels(*labels: Set[str]) -> frozenset[str]:
    """Join the labels of documents; one without any counts as `UNLABELLED`."""
    return frozenset(label for each in labels for label in each or {UNLABELLED})


def may_read(model: object, labels: Set[str], tenant: str) -> bool:
    """Tell whether a model may read text under these labels."""
    return not isinstance(model, Guarded) or not model.kept(labels, tenant)
