"""Speed of the auditor by rules alone: an answer of ten sentences, and sentences a second."""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time

from agent.audit.auditor import Auditor
from agent.audit.figure_set_zh import chinese_statements
from agent.audit.plain import plain_passage
from agent.audit.sentence_set import read_judged
from ingest.evaluation import default_expected
from retrieval.symbols.language import load_language
from retrieval.types import Passage

_ROUNDS = 7
_SENTENCES = 10


def measure() -> None:
    """Print milliseconds an answer (sources unread and read before) and sentences a processor second."""
    auditor = Auditor(load_language(bytes(32)))
    print("| answer | sentences | ms, sources unread | ms, sources read | sentences a processor second |")
    print("| --- | --- | --- | --- | --- |")
    for name, (answer, passages, count) in _answers().items():
        cold, warm, cpu = _time(auditor, answer, passages)
        print(f"| {name} | {count} | {cold:.1f} | {warm:.1f} | {count / cpu:.0f} |")


def _time(auditor: Auditor, answer: str, passages: list[Passage]) -> tuple[float, float, float]:
    labels = {passage.label for passage in passages}
    cold: list[float] = []
    warm: list[float] = []
    cpu: list[float] = []
    for _ in range(_ROUNDS):
        book = auditor.read(passages, tenant="plain")
        for times in (cold, warm):
            start, used = perf_counter(), process_time()
            auditor.audit(
                answer, passages=passages, labels=labels, question="", tier="strong", tenant="plain", book=book
            )
            times.append((perf_counter() - start) * 1000)
            if times is cold:
                cpu.append(process_time() - used)
    return median(cold), median(warm), median(cpu)


def _answers() -> dict[str, tuple[str, list[Passage], int]]:
    judged = read_judged(default_expected().with_name("sentences") / "sentences.jsonl")
    found: dict[str, tuple[str, list[Passage], int]] = {}
    for language in ("zh", "en"):
        own = [one for one in judged if one.language == language and one.kind == "paraphrase"]
        texts = list(dict.fromkeys(one.passage or "" for one in own))[:5]
        passages = [plain_passage(f"doc_a1_s{n}", " ".join(texts[n::5] * 4)) for n in range(5)]
        lines = [
            f"{one.text} [SOURCE: doc_a1_s{texts.index(one.passage or '')}]" for one in own if one.passage in texts
        ]
        found[f"prose, {language}"] = ("\n".join(lines[:_SENTENCES]), passages, _SENTENCES)
    statements = [one for one in chinese_statements() if one.true]
    same = [one for one in statements if one.context == statements[0].context][:_SENTENCES]
    lines = [f"{one.statement} [SOURCE: doc_a1_s0]" for one in same]
    found["figures, zh"] = ("\n".join(lines), [plain_passage("doc_a1_s0", same[0].context)], len(same))
    return found


if __name__ == "__main__":
    measure()
