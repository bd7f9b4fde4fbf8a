"""The source suite as one stage: weak rules and exact ones side by side, every broken one reported.

It is what an ablation runs: leaving a rule out then only means not to look at it. The gate's own stages see more and stop
earlier. Source: docs/reference.md section 3.
"""

from verify.source.host import float_windows, integers_and_floats, paged_and_plain, structured_rule
from verify.source.page_table import random_differences, table_differences
from verify.stage import StageResult, said, spend

CHECKS = (random_differences, table_differences, paged_and_plain, float_windows, integers_and_floats, structured_rule)


def source_stage(budget: int | None) -> StageResult:
    """Run every check to its end, whatever broke before; each rule with the first difference that showed it."""
    broken: dict[str, str] = {}
    steps = 0
    for check in CHECKS:
        differences, taken = check()
        steps += taken
        spend(steps, budget)
        broken = said(differences) | broken
    return StageResult("fail" if broken else "pass", broken, None, steps)
