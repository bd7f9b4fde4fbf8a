"""The random search of the page table as a stage, apart from the others: only those who run it pay for Hypothesis."""

from verify.machines import search_at_random
from verify.page_table_suite import result
from verify.stage import StageResult
from verify.targets.shipped import ShippedCache

EXAMPLES, STEPS = 40, 40


def random_stage(budget: int | None) -> StageResult:
    """Generate examples with Hypothesis, without shrinking; the same examples every time."""
    tally = search_at_random(ShippedCache, EXAMPLES, STEPS, shrinking=False, budget=budget)
    return result([(tally.pages, tally.page_size, tally.failure)] if tally.failure else [], tally.steps)
