"""Stages that judge the stack, and stages that are at fault themselves."""

import os
import time
from collections.abc import Callable

import tests.toy_cache.stack
from tests.toy_cache.ledger import StageResult, StepsExhausted
from tests.toy_cache.stack import Stack, capacity

__all__ = ["STAGES", "StepsExhausted"]


def by_default(pages: int = capacity()) -> int:
    """What a default argument saw when this module was imported."""
    return pages


class AuditedStack(Stack):
    """A subclass, whose base was bound when this module was imported."""


def result(steps: int, **broken: bool) -> StageResult:
    """Fail with the rules that are broken; a rule is spelt with _ for -."""
    rules = {name.replace("_", "-"): "it differs" for name, wrong in broken.items() if wrong}
    return StageResult("fail" if rules else "pass", rules, {"steps": steps} if rules else None, steps)


def one_page(budget: int | None) -> StageResult:
    """Take one page and give it back."""
    stack = Stack()
    page = stack.take()
    held = len(stack.free)
    stack.give(page)
    return result(2, TOY_TAKE=held != 3, TOY_GIVE=len(stack.free) != held + 1)


def every_page(budget: int | None) -> StageResult:
    """Take pages until none is left; a stack that never empties runs out of steps."""
    stack = Stack()
    steps = 0
    pages = set()
    while stack.free:
        pages.add(stack.take())
        steps += 1
        if budget is not None and steps > budget:
            raise StepsExhausted(f"more than {budget} operations")
    return result(steps, TOY_DISTINCT=len(pages) != steps)


def many_pages(budget: int | None) -> StageResult:
    """Takes long, in calls that are short."""
    begun = time.process_time()
    while time.process_time() - begun < 0.05:
        one_page(budget)
    return one_page(budget)


def order(budget: int | None) -> StageResult:
    """The page given back last is taken first."""
    stack = Stack()
    stack.give(9)
    return result(2, TOY_ORDER=stack.take() != 9)


def doubtful_of_order(budget: int | None) -> StageResult:
    """Unknown where `order` would fail."""
    passed = order(budget).verdict == "pass"
    return StageResult("pass" if passed else "unknown", {}, None, 2, "" if passed else "it cannot tell")


def bindings(budget: int | None) -> StageResult:
    """Every way in which a check can hold on to the subject: by name, by module, by default argument, by subclass."""
    return result(
        4,
        TOY_FROM_IMPORT=capacity() != 4,
        TOY_MODULE=tests.toy_cache.stack.capacity() != 4,
        TOY_DEFAULT=by_default() != 4,
        TOY_SUBCLASS=len(AuditedStack().free) != 4,
    )


def raises(budget: int | None) -> StageResult:
    raise RuntimeError("the check is at fault")


STAGES: dict[str, Callable[[int | None], StageResult]] = {
    "witness": one_page,
    "exhaustive": every_page,
    "unit": order,
    "long": many_pages,
    "bindings": bindings,
    "blind": lambda budget: StageResult("pass", {}, None, 1),
    "failing": lambda budget: StageResult("fail", {"TOY-ALWAYS": "always"}, None, 1),
    "doubtful": lambda budget: StageResult("unknown", {}, None, 1, "it cannot tell"),
    "doubtful of order": doubtful_of_order,
    "empty": lambda budget: StageResult("pass", {}, None, 0),
    "unsteady": lambda budget: StageResult("pass", {}, None, os.getpid()),
    "raising": raises,
}
