"""Every call that BFCL expects, in each form, streamed in random pieces: executed exactly; spoiled ones refused."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from function_calls import FORMS, Case, execute, read_case, spoiled

pytestmark = pytest.mark.eval
SETS = ("simple_python", "multiple", "parallel")


def cases(folder: Path, name: str) -> list[Case]:
    return [read_case(json.loads(line)) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", SETS)
async def test_expected_calls_run_exactly_and_spoiled_ones_are_refused(eval_data: Path, name: str) -> None:
    rng = random.Random(7)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for case in cases(eval_data / "bfcl", name):
        counts["cases"] += 1
        if not case.fits:
            counts["unfit"] += 1
        for form in FORMS:
            done = await execute(case, case.calls, form, rng)
            right = done.is_exactly(case.calls) if case.fits else bool(done.refused)
            counts["calls"] += len(case.calls)
            if not right:
                wrong.append(f"{case.id} {form}")
            for kind, call in spoiled(case, rng):
                refused = await execute(case, [call], form, rng)
                counts[kind] += 1
                if refused.ran or refused.refused != ("tool_arguments",):
                    wrong.append(f"{case.id} {form} {kind}")
    print(f"\n{name}: {dict(counts)}")
    assert wrong == []
