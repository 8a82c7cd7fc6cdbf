"""A run's answer in the clear, as far as its reader may see the values. Blocking."""

from __future__ import annotations

from agent.errors import UnknownRunError
from agent.journal import Journal
from api.vault_models import RevealedRun
from ingest.reveals import RevealLog
from ingest.vault import Vault
from retrieval.symbols.pseudonyms import PSEUDONYM, put_in
from retrieval.types import Principal


def reveal_run(
    journal: Journal, vault: Vault, reveals: RevealLog, principal: Principal, run_id: str, reason: str
) -> RevealedRun:
    """Return a run of the principal's own with values in the place of pseudonyms; each is logged.

    Raises:
        NotPermittedError: without the right `reveal`; logged.
        UnknownRunError: no such run, or another user's; logged.
        VaultKeyError: a value was written under another key.
    """
    place = f"run {run_id}"
    vault.permit(principal, [], reason, place=place)
    try:
        run = journal.run(run_id, principal)
    except UnknownRunError:
        reveals.write(principal, [""], reason, "unknown", place=place)
        raise
    answer = run.completed.answer if run.completed is not None else None
    named = {match.group() for text in (run.question, answer or "") for match in PSEUDONYM.finditer(text)}
    values = vault.reveal_all(principal, named, reason, place=place)
    return RevealedRun(
        run_id=run_id,
        question=put_in(run.question, values),
        answer=None if answer is None else put_in(answer, values),
        revealed=tuple(sorted(values)),
        hidden=tuple(sorted(named - set(values))),
    )
