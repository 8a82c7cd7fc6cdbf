"""The citation auditor: one verdict for every sentence of an answer, by rules and, where set, a model of inference."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from agent.audit.calibration import LinearRule, load_calibration
from agent.audit.claims import Sentence, read_sentences
from agent.audit.computed import OPERATION_WORDS
from agent.audit.entailment import CONTRADICTS_AT, Entailment, Stance
from agent.audit.figure_finding import FOUND, FigureContext, is_minor
from agent.audit.figures import check_figures, figures_of
from agent.audit.findings import (
    figure_evidence,
    flip_evidence,
    quote_evidence,
    restrictor_evidence,
    stance_evidence,
    substitution_evidence,
    support_evidence,
)
from agent.audit.flips import find_flip
from agent.audit.judging import Findings, judge, risk_of
from agent.audit.off_question import Placed, are_off, features_of
from agent.audit.periods import times
from agent.audit.quotes import check_quotes
from agent.audit.restrictors import find_restrictor
from agent.audit.sources import Source, SourceBook, SymbolReader, outside_titles
from agent.audit.substitution import find_substitution
from agent.audit.support import Support, measure_support
from agent.audit.tags import check_tags, cited_sources, is_unknown, violations
from agent.audit.verdicts import Audit, Evidence, Flag, SentenceVerdict, VerdictKind
from agent.audit.wording import AnswerLanguage, say
from agent.settings import AuditSettings
from retrieval.language_id import language_of
from retrieval.symbols.compare import compare
from retrieval.types import Passage, Symbol, Tier

_FIRM_KINDS = frozenset({"amount", "percent", "percent_points"})


class Auditor:
    """Checks an answer against the passages it cites. Pure: same answer, same audit; safe to share between threads.

    Raises:
        AuditCalibrationError: the file of parameters that the settings name cannot be read.
    """

    def __init__(
        self,
        language: SymbolReader,
        settings: AuditSettings | None = None,
        entailment: Entailment | None = None,
    ) -> None:
        self._reader = language
        self._settings = settings or AuditSettings()
        self._entailment = entailment
        self._calibration = load_calibration(self._settings.calibration)

    def audit(
        self,
        answer: str,
        *,
        passages: Sequence[Passage],
        labels: Container[str],
        question: str,
        tier: Tier,
        tenant: str,
        tool_results: Mapping[str, str] | None = None,
        book: SourceBook | None = None,
    ) -> Audit:
        """Return the verdicts on `answer`, ordered, their spans not overlapping. Never raises on any text.

        Args:
            answer: The answer as the reader sees it, tags included.
            passages: All passages of the run.
            labels: Every label handed out in the run; a cited label outside it is a violation.
            question: The question, secrets already replaced.
            tier: With `none`, sentences that cite nothing are `general`.
            tenant: Whose pseudonyms secrets are compared by.
            tool_results: Text by label for labels that are not passages (`tool_calculate#1`).
            book: Passages and results as `read` returned them; several answers then share what was read.
        """
        run = self._run(
            answer, book or self.read(passages, tool_results, tenant=tenant), labels, question, tier, tenant
        )
        verdicts = [run.verdict(index, sentence) for index, sentence in enumerate(read_sentences(answer))]
        verdicts = run.flag_off_question(verdicts, self._calibration.off_question)
        found = tuple(dict.fromkeys(violations(answer, labels, run.book, question, run.language)))
        return Audit(risk=risk_of(verdicts, found), sentences=tuple(verdicts), violations=found)

    def read(
        self, passages: Sequence[Passage], tool_results: Mapping[str, str] | None = None, *, tenant: str
    ) -> SourceBook:
        """Return the sources of a run, each read when first cited and then kept. Not to be kept beyond the run."""
        return SourceBook(passages, tool_results or {}, self._reader, tenant)

    def off_question_rows(
        self, answer: str, *, passages: Sequence[Passage], question: str, tenant: str
    ) -> list[Mapping[str, float]]:
        """Return what the rule for `off_question` weighs, per sentence of `answer`: what it is fitted on."""
        book = self.read(passages, tenant=tenant)
        run = self._run(answer, book, {p.label for p in passages}, question, "strong", tenant)
        for index, sentence in enumerate(read_sentences(answer)):
            run.verdict(index, sentence)
        return features_of(question, run.placed, self._reader, tenant)

    def _run(
        self,
        answer: str,
        book: SourceBook,
        labels: Container[str],
        question: str,
        tier: Tier,
        tenant: str,
    ) -> _Run:
        return _Run(
            reader=self._reader,
            settings=self._settings,
            entailment=self._entailment,
            tenant=tenant,
            tier=tier,
            question=question,
            labels=labels,
            book=book,
            language=_say_in(answer, question),
            asked=figures_of(question, self._reader.read(question, tenant=tenant)),
        )


def _say_in(answer: str, question: str) -> AnswerLanguage:
    """The language of the question; quotations may carry most of an answer in another one."""
    language = language_of(question)
    return "zh" if "zh" in (language, language_of(answer) if language == "other" else "") else "en"


@dataclass(slots=True)
class _Run:
    """The state of one audit: what was asked, and what the sentences read so far established."""

    reader: SymbolReader
    settings: AuditSettings
    entailment: Entailment | None
    tenant: str
    tier: Tier
    question: str
    labels: Container[str]
    book: SourceBook
    language: AnswerLanguage
    asked: Sequence[Symbol]
    paragraph: int = -1
    period: Symbol | None = None
    cited_figures: list[Symbol] = field(default_factory=list[Symbol])
    """Source figures that this paragraph's sentences were found to state."""
    placed: list[Placed] = field(default_factory=list[Placed])
    """Sentences that stand verbatim in a source, and where."""
    answers: int = 0
    """Sentences that may answer the question without standing verbatim in a source."""

    def verdict(self, index: int, sentence: Sentence) -> SentenceVerdict:
        """Judge the next sentence."""
        if sentence.paragraph != self.paragraph:
            self.paragraph, self.period, self.cited_figures = sentence.paragraph, None, []
        symbols = self.reader.read(sentence.text, tenant=self.tenant) if sentence.text else ()
        symbols = outside_titles(symbols, sentence.text, cited_sources(sentence, self.labels, self.book))
        evidence = check_tags(sentence, self.labels, self.book, self.language)
        flags: tuple[Flag, ...] = ()
        kind: VerdictKind
        if not self._is_claim(sentence, symbols):
            kind = "not_a_claim"
        elif not sentence.tags:
            kind = "general" if self.tier == "none" else "uncited"
            evidence.append(self._plain_evidence(sentence, kind))
        else:
            kind, found, flags = self._check(index, sentence, symbols)
            evidence += found
        stated = times(symbols)
        self.period = stated[-1] if stated else self.period
        return SentenceVerdict(
            index=index,
            start=sentence.start,
            end=sentence.end,
            text=sentence.text,
            kind=kind,
            labels=tuple(tag.label for tag in sentence.tags),
            unknown_labels=tuple(tag.label for tag in sentence.tags if is_unknown(tag, self.labels)),
            flags=flags,
            evidence=tuple(evidence),
        )

    def _is_claim(self, sentence: Sentence, symbols: Sequence[Symbol]) -> bool:
        """A heading, a question or a greeting that brings a figure of its own states something."""
        match sentence.role:
            case "claim":
                return True
            case "mark" | "table_header":
                return False
            case "lead_in" | "source_line":
                kinds = _FIRM_KINDS
            case "heading" | "question" | "courtesy" | "disclaimer":
                kinds = _FIRM_KINDS | {"quantity"}
        return any(
            symbol.kind in kinds and not any(compare(symbol, asked) == "equal" for asked in self.asked)
            for symbol in symbols
        )

    def _plain_evidence(self, sentence: Sentence, kind: VerdictKind) -> Evidence:
        general = kind == "general"
        return Evidence(
            rule="tag",
            passed=general,
            detail=say("general" if general else "no_tag", self.language),
            answer_span=sentence.answer_span(0, len(sentence.text)),
        )

    def _check(
        self, index: int, sentence: Sentence, symbols: Sequence[Symbol]
    ) -> tuple[VerdictKind, list[Evidence], tuple[Flag, ...]]:
        sources = cited_sources(sentence, self.labels, self.book)
        if not sources:
            return "unsupported", [], ()
        stated = outside_titles(figures_of(sentence.text, symbols), sentence.text, sources)
        figures = check_figures(
            sentence.text,
            stated,
            sources,
            FigureContext(self.question, self.asked, self._period_of(sentence), self.cited_figures),
        )
        worked_out = OPERATION_WORDS if any(f.outcome == "computed" for f in figures) else ""
        support = measure_support(
            sentence.text,
            sources,
            figures=stated,
            question=self.question,
            context=f"{sentence.heading}\n{sentence.header}\n{worked_out}",
        )
        exact = support.kind == "verbatim" or sentence.text.count("|") >= 2
        # Amounts, and figures of tables, are bound to their subject by checks of their own.
        settled = any(
            f.outcome == "computed" or (f.outcome in FOUND and f.symbol.kind == "amount") or f.outcome == "unit_unknown"
            for f in figures
        )
        findings = Findings(
            length=len(sentence.text),
            figures=figures,
            quotes=check_quotes(sentence.text, sources, self.question),
            flip=None if exact else find_flip(sentence.text, sources),
            support=support,
            substitution=None if exact or settled else find_substitution(sentence.text, stated, sources),
            restrictor=None if exact or settled else find_restrictor(sentence.text, sources),
            stance=self._ask(sentence, support),
            wrong_period=self._is_wrong_period(sources, symbols),
        )
        self.cited_figures += [f.match for f in figures if f.outcome in FOUND and f.match is not None]
        kind = judge(findings, self.settings)
        self._place(index, sentence, support, kind)
        off_question = findings.wrong_period or any(f.outcome == "period_not_asked" for f in figures)
        flags: tuple[Flag, ...] = ("off_question",) if off_question and kind != "contradicted" else ()
        return kind, self._evidence(sentence, findings, kind), flags

    def _ask(self, sentence: Sentence, support: Support) -> Stance | None:
        """Ask the model about a sentence and the best place of its sources, where rules go by words alone."""
        if self.entailment is None or support.kind != "lexical" or support.source is None or not support.source_span:
            return None
        return self.entailment.judge(support.source.text[slice(*support.source_span)], sentence.text)

    def _place(self, index: int, sentence: Sentence, support: Support, kind: VerdictKind) -> None:
        if support.kind == "verbatim" and support.source and support.source_span and kind == "supported":
            self.placed.append(Placed(index, sentence.text, support.source, support.source_span))
        else:
            self.answers += kind in ("supported", "partly_supported")

    def flag_off_question(self, verdicts: Sequence[SentenceVerdict], rule: LinearRule) -> list[SentenceVerdict]:
        """Flag the verbatim sentences of an answer that says nothing else and does not say what was asked."""
        if (
            self.tier == "none"
            or self.answers
            or not are_off(self.question, self.placed, rule, self.reader, self.tenant)
        ):
            return list(verdicts)
        off = {placed.index for placed in self.placed}
        detail = say("off_question", self.language)
        return [
            verdict.model_copy(
                update={
                    "flags": tuple(dict.fromkeys((*verdict.flags, "off_question"))),
                    "evidence": (*verdict.evidence, Evidence(rule="question", passed=False, detail=detail)),
                }
            )
            if verdict.index in off
            else verdict
            for verdict in verdicts
        ]

    def _evidence(self, sentence: Sentence, findings: Findings, kind: VerdictKind) -> list[Evidence]:
        found = [quote_evidence(quote, sentence, self.language) for quote in findings.quotes]
        found += [
            figure_evidence(figure, sentence, self.language) for figure in findings.figures if not is_minor(figure)
        ]
        if findings.flip is not None:
            found.append(flip_evidence(findings.flip, sentence, self.language))
        if findings.substitution is not None:
            found.append(substitution_evidence(findings.substitution, sentence, self.language))
        if findings.restrictor is not None:
            found.append(restrictor_evidence(findings.restrictor, sentence, self.language))
        if findings.stance is not None and findings.stance.contradicts >= CONTRADICTS_AT:
            found.append(stance_evidence(findings.stance, findings.support, sentence, self.language))
        if findings.wrong_period:
            asked = next((symbol.surface for symbol in times(self.asked)), self.question)
            found.append(
                Evidence(rule="period", passed=False, detail=say("period_passage", self.language, answer=asked))
            )
        carried = findings.support.kind == "verbatim" or findings.support.score >= self.settings.partly_share
        if findings.support.kind != "no_terms":
            found.append(support_evidence(findings.support, carried, sentence, self.language))
        return found

    def _is_wrong_period(self, sources: Sequence[Source], symbols: Sequence[Symbol]) -> bool:
        """True when every source is of another period than was asked for and the sentence does not name its own."""
        return all(source.period_match == "mismatch" for source in sources) and not (times(symbols) or self.period)

    def _period_of(self, sentence: Sentence) -> Callable[[Symbol], Symbol | None]:
        """What a figure's period is when its sentence names none: its column's, the paragraph's, the heading's."""
        heading, header = sentence.heading, sentence.header

        def period_of(figure: Symbol) -> Symbol | None:
            if "|" in header:
                column = sentence.text.count("|", 0, figure.start)
                cells = header.split("|")
                cell = times(self.reader.read(cells[column], tenant=self.tenant)) if column < len(cells) else []
                if cell:
                    return cell[0]
            above = [] if self.period else times(self.reader.read(heading, tenant=self.tenant)) if heading else []
            return self.period or (above[0] if len(above) == 1 else None)

        return period_of
