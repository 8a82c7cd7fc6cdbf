"""Words that turn a sentence's meaning round: negation, duty and permission, direction, bounds, quantity.

Each pair names two opposite sides. A claim that stands on one side while the source's
clause about the same thing stands on the other only is contradicted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agent.audit.content import clause_spans, content_terms
from agent.audit.sources import Clause, Source

_NOT_NEGATION = re.compile(
    r"不仅|不但|不断|不同|不过|不少|不错|不久|不止|不光|不论|不管|不动产|不良|不锈|无论|无锡|未来|非常|非洲|莫非|差不多|除非"
    r"|不得不|不可或缺|了不起"
    r"|\bnot\s+only\b|\bno\.\s*\d|\bno\s+doubt\b",
    re.IGNORECASE,
)
_SIDES: tuple[tuple[str, str, str], ...] = (
    (
        "duty",
        r"不得(?!不)|不可|不能|不许|不准|不允许|不应|禁止|严禁|不予|不可以|拒绝"
        r"|\b(?:must|may|shall|should|can|could)\s*(?:not|n['’]t)\b|\bcannot\b|\bprohibit\w*|\bforbid\w*|\bforbidden\b"
        r"|\bnot\s+(?:be\s+)?(?:allowed|permitted|entitled|eligible|reimbursable|reimbursed)\b|\bno\s+longer\s+may\b",
        r"(?<!不)可以|(?<![不许认])可(?=[在由按于以向报申使享获提])|只能|才能|(?<!不)允许|准许|(?<!不)(?<!可)能够|有权"
        r"|\b(?:may|can|could)\b(?!\s*(?:not|n['’]t))|(?<!not )(?<!not be )\b(?:allowed|permitted|entitled|eligible)\b",
    ),
    (
        "obligation",
        r"(?<!不)必须|应当|应该|(?<![供适效反响对相呼感])应(?=[由在按于以向将及予])|(?<![无不毋必])须"
        r"|(?<![无不必所急])需(?=[在由要按经向提])|务必|强制"
        r"|\b(?:must|shall)\b(?!\s*(?:not|n['’]t))|(?<!not )(?<!not be )\brequired\b|\bmandatory\b"
        r"|(?<!not )\bha(?:ve|s)\s+to\b|\bobliged\b",
        r"无需|不必|不需|无须|不须|毋须|免于|可以不|可不|自愿"
        r"|\bneed\s*(?:not|n['’]t)\b|\bdo(?:es)?\s*(?:not|n['’]t)\s+(?:have\s+to|need|require)\b"
        r"|\bnot\s+(?:be\s+)?(?:required|obliged)\b"
        r"|\boptional\b|\bvoluntary\b|\bmay\b(?!\s*not)",
    ),
    (
        "direction",
        r"上升|升高|上涨|增长|增加|提高|提升|扩大|回升|走高|攀升|上调|升至|增至|高于|超出"
        r"|\b(?:rose|rise[ns]?|rising|increas\w+|grew|grow(?:s|n|ing|th)?|climb\w*|gain(?:s|ed)?|rais(?:e[sd]?|ing)|higher|up)\b",
        r"下降|下滑|下跌|减少|降低|缩小|回落|走低|下调|降至|减至|低于|萎缩|收窄"
        r"|\b(?:fell|fall(?:s|en|ing)?|decreas\w+|declin\w+|dropp?\w*|shr[aiu]nk\w*|lower(?:ed|s)?|reduc\w+|down)\b",
    ),
    (
        "bound",
        r"不超过|不[得可能应]超过|不高于|不多于|不大于|至多|最多|以下|以内|上限|低于|少于|小于"
        r"|\b(?:at\s+most|up\s+to|no\s+more\s+than|not\s+(?:more\s+than|exceed\w*)|no\s+(?:\w+\s+){1,3}(?:may|can)\s+exceed|less\s+than|fewer\s+than|below"
        r"|maximum|within)\b",
        r"(?<!不)(?<!不[得可能应])超过|(?<!不)高于|(?<!不)多于|(?<!不)大于|不少于|不低于|不小于|至少|最少|以上|下限|起步"
        r"|\b(?:at\s+least|no\s+(?:less|fewer)\s+than|not\s+less\s+than|(?<!no )(?<!not )more\s+than"
        r"|(?<!not )(?<!may )(?<!can )exceed(?:s|ed|ing)?|above|minimum)\b",
    ),
    (
        "order",
        r"之前|以前|事前|(?<=[年月日天周])前|(?<![目此先之以])前(?=[，,、\s\d内须应可一二三四五六七八九十]|$)|\b(?:before|prior\s+to|no\s+later\s+than)\b",
        r"之后|以后|事后|(?<=[年月日天周])后|(?<![今然最之以售])后(?=[，,、\s\d内须应可一二三四五六七八九十]|$)|\bafter\b|\bfollowing\b|\bno\s+earlier\s+than\b",
    ),
    (
        "quantity",
        r"全部|所有|一律|均(?=[^价值线衡匀])|每一?[个位名家项]|任何|\b(?:all|every|each|entire(?:ly)?|always)\b",
        r"部分|有些|有的|个别|少数|某些|大多|多数|\b(?:some|part(?:ly|ial\w*)?|few|most|several|sometimes|often)\b",
    ),
    (
        "approval",
        r"(?<![未不])批准|(?<![未不])同意|(?<![未不])(?<!没有)(?:获得?通过|通过了)|(?<!not )(?<!not been )"
        r"\bapprov(?:e[sd]?|al)\b"
        r"|\baccept(?:s|ed)?\b",
        r"驳回|否决|没有(?:批准|同意|通过)|\bnot\s+(?:been\s+)?approv\w*|未批准|不批准|不同意|未同意|未通过|\breject\w*|\bden(?:y|ied|ies)\b|\brefus\w+|\bdisapprov\w+",
    ),
)
_NEGATION = re.compile(
    r"不|没有?|未|无|勿|\b(?:not|never|no|none|neither|nor|nobody|without|cannot|unable)\b|n['’]t\b", re.IGNORECASE
)
_NOBODY_MAY = re.compile(
    r"\b(?:nobody|no\s+one|neither|none|no)\b(?=(?:\s+[\w-]+){0,4}\s+(?:may|can)\b)|任何(?:人|一方|单位|部门)(?=[均都]?不)",
    re.IGNORECASE,
)
"""A prohibition written as a permission of none."""
_NOT_APPROVED = re.compile(
    r"\b(?:not|never)\s+(?=(?:been\s+|be\s+)?(?:approv|accept))|(?:没有|未|不)(?=批准|同意|通过)", re.IGNORECASE
)
_COMPILED = tuple((name, re.compile(a, re.IGNORECASE), re.compile(b, re.IGNORECASE)) for name, a, b in _SIDES)
_DUTY, _OBLIGATION = 0, 1
_WORDS_OF_STANCE = tuple(side for name, *sides in _COMPILED if name != "approval" for side in sides)
_ALIGNED = 0.7
"""Share of the shorter clause's terms that must be common before two clauses are said to speak of the same thing."""


_LARGER_SHARE = 0.4
"""The same of the longer clause: two words in common do not make a short clause about a long one."""


@dataclass(frozen=True, slots=True)
class _Stance:
    sides: tuple[tuple[bool, bool], ...]
    negated: bool
    terms: frozenset[str]
    """What the clause is about: its content terms without the words of stance."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A clause of the claim and the clause of the source that says the opposite; spans in their texts."""

    claim_span: tuple[int, int]
    source: Source
    source_span: tuple[int, int]


def has_flip_word(text: str) -> bool:
    """Tell whether `text` holds a word that meaning hangs on."""
    stance = _stance(text)
    return stance.negated or any(a or b for a, b in stance.sides)


def strip_stance(text: str) -> str:
    """Blank the words of stance and negation; positions stay."""
    for pattern in (_NOT_APPROVED, _NOBODY_MAY, *_WORDS_OF_STANCE, _NEGATION):
        text = pattern.sub(lambda match: " " * len(match.group()), text)
    return text


def is_approval(text: str) -> bool:
    """Tell whether `text` is a word of approval or refusal."""
    return any(side.search(text) is not None for name, *sides in _COMPILED if name == "approval" for side in sides)


def direction(text: str) -> Literal["up", "down"] | None:
    """Return the direction `text` speaks of; None when it names none or both."""
    up, down = next(
        side for (name, *_), side in zip(_COMPILED, _stance(text).sides, strict=True) if name == "direction"
    )
    return None if up == down else "up" if up else "down"


def find_flip(text: str, sources: Sequence[Source]) -> Flip | None:
    """Return the first clause of `text` whose best-aligned source clauses all say the opposite."""
    for start, end in clause_spans(text):
        claim = _stance(text[start:end])
        if len(claim.terms) < 2:
            continue
        aligned: list[tuple[float, Source, Clause, bool]] = []
        for source in sources:
            for clause in source.clauses:
                if len(claim.terms & clause.terms) < 2 and len(claim.terms) > 2:
                    continue
                if source.in_table(clause.start):  # a cell asserts nothing that could be turned round
                    continue
                other = _stance(source.text[clause.start : clause.end])
                score = _alignment(claim.terms, other.terms)
                if score >= _ALIGNED:
                    aligned.append((score, source, clause, _opposed(claim, other)))
        best = max((score for score, *_ in aligned), default=0.0)
        nearest = [entry for entry in aligned if entry[0] >= best - 0.1]
        if nearest and all(opposed for *_, opposed in nearest):
            _, source, clause, _ = max(nearest, key=lambda entry: entry[0])
            return Flip((start, end), source, (clause.start, clause.end))
    return None


def _alignment(claim: frozenset[str], source: frozenset[str]) -> float:
    common = len(claim & source)
    smaller, larger = sorted((len(claim), len(source)))
    if smaller < 2 or common < 2 or common < _LARGER_SHARE * larger:
        return 0.0
    return common / smaller


@lru_cache(maxsize=4096)
def _stance(text: str) -> _Stance:
    rest = _NOT_NEGATION.sub(" ", text)
    sides: list[tuple[bool, bool]] = []
    stripped = _NOT_APPROVED.sub(" ", _NOBODY_MAY.sub(" ", rest))
    forbidden = _NOBODY_MAY.search(rest) is not None
    for name, first, second in _COMPILED:
        sides.append((first.search(rest) is not None, second.search(rest) is not None))
        if name == "duty" and forbidden:
            sides[-1] = (True, False)
        if name != "approval":  # an approval is often what the clause is about
            stripped = second.sub(" ", first.sub(" ", stripped))
    negated = len(_NEGATION.findall(stripped)) % 2 == 1
    return _Stance(tuple(sides), negated, content_terms(_NEGATION.sub(" ", stripped)))


def _forbids(stance: _Stance) -> bool:
    return stance.sides[_DUTY][0] and not stance.sides[_DUTY][1]


def _obliges(stance: _Stance) -> bool:
    return stance.sides[_OBLIGATION][0] and not stance.sides[_DUTY][0]


def _opposed(claim: _Stance, source: _Stance) -> bool:
    for (claim_a, claim_b), (source_a, source_b) in zip(claim.sides, source.sides, strict=True):
        if (claim_a and not claim_b and source_b and not source_a) or (
            claim_b and not claim_a and source_a and not source_b
        ):
            return True
    if (_forbids(claim) and _obliges(source)) or (_forbids(source) and _obliges(claim)):
        return True
    # Some sides hold a negation of their own (不得, 不超过): it is comparable only where these agree.
    agree = all(
        mine == theirs
        for (name, *_), mine, theirs in zip(_COMPILED, claim.sides, source.sides, strict=True)
        if name in ("duty", "obligation", "bound", "approval")
    )
    return agree and claim.negated != source.negated
