"""Joins what files say of a tenant with what owners have said through attest: corrections and erasures."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from retrieval.symbols.rules import Correction, ErasedText, RuleSource, TenantRules, revised


class Kept(NamedTuple):
    """What a store keeps of one tenant."""

    corrections: tuple[Correction, ...] = ()
    erased: frozenset[str] = frozenset()
    """Fingerprints of erased values (`pseudonyms.fingerprint`)."""
    erased_texts: tuple[ErasedText, ...] = ()


class KeptRules(Protocol):
    """Gives the corrections and erasures of a tenant; asked for every text, so it answers from memory."""

    def kept(self, tenant: str) -> Kept:
        """Return what is kept of a tenant; the same object as long as nothing changed."""
        ...

    def look_again(self, tenant: str) -> None:
        """Give at the next question what is kept then, not what was in memory."""
        ...


class _Combined(NamedTuple):
    base: TenantRules
    kept: Kept
    rules: TenantRules


class CombinedRules:
    """A `RuleSource` that adds what is kept to the rules of another source. Safe to share between threads."""

    def __init__(self, files: RuleSource, kept: KeptRules) -> None:
        self._files, self._kept = files, kept
        self._combined: dict[str, _Combined] = {}

    def rules(self, tenant: str) -> TenantRules:
        """Return the rules of a tenant; see `RuleSource`."""
        base, kept = self._files.rules(tenant), self._kept.kept(tenant)
        known = self._combined.get(tenant)
        if known is not None and known.base is base and known.kept is kept:
            return known.rules
        rules = revised(
            base.model_copy(
                update={
                    "corrections": (*base.corrections, *kept.corrections),
                    "erased": base.erased | kept.erased,
                    "erased_texts": (*base.erased_texts, *kept.erased_texts),
                }
            )
        )
        if known is not None and known.rules.revision == rules.revision:
            rules = known.rules  # said again, but nothing new: nothing is built again
        # Two threads at once may both build it: their rules are equal, and the last stays.
        self._combined[tenant] = _Combined(base, kept, rules)
        return rules

    def look_again(self, tenant: str) -> None:
        """Look at what is kept; see `RuleSource`."""
        self._kept.look_again(tenant)

    def problems(self, tenant: str) -> tuple[str, ...]:
        """Return what is wrong with the files; see `RuleSource`."""
        return self._files.problems(tenant)
