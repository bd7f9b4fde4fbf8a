"""One case of honesty: something right or broken by hand, and the rules that the checks must name for it, no others.

A case that raises, a failing assertion included, breaks the rule that it is of: an oracle that falls over says nothing.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from types import ModuleType
from typing import Any

import pytest

from verify.explore import StepsExhausted
from verify.stage import StageResult


@dataclass(frozen=True, slots=True)
class Case:
    """What `find` names must be the rules that are `due`, none for what is right; with `others`, these among others."""

    name: str
    rule: str
    find: Callable[[], Collection[str]]
    due: frozenset[str] = frozenset()
    others: bool = False

    def wrong(self) -> dict[str, str]:
        """Each rule that is named and not due, or due and not named, with what happened."""
        try:
            found = frozenset(self.find())
        except MemoryError:
            raise
        except (Exception, pytest.fail.Exception) as error:
            return {self.rule: f"{self.name}: {type(error).__name__}: {error}".partition("\n")[0]}
        missing = dict.fromkeys(sorted(self.due - found), f"{self.name}: passes")
        surplus = frozenset() if self.others else found - self.due
        return missing | dict.fromkeys(sorted(surplus), f"{self.name}: is rejected")


def broken(rule: str, name: str, find: Callable[[], Collection[str]], *more: str) -> Case:
    """Something broken by hand, for which exactly this rule, and any more that are given, must be named."""
    return Case(name, rule, find, frozenset({rule, *more}))


def broken_among_others(rule: str, name: str, find: Callable[[], Collection[str]]) -> Case:
    """Something broken by hand, for which this rule must be named, whatever else is."""
    return Case(name, rule, find, frozenset({rule}), others=True)


def right(rule: str, name: str, find: Callable[[], Collection[str]]) -> Case:
    """Something right, for which no rule may be named."""
    return Case(name, rule, find)


def asserted(rule: str, *tests: Callable[..., None]) -> Iterator[Case]:
    """Tests as cases of a rule, one for each set of their parameters."""
    for test in tests:
        for number, arguments in enumerate(_parameters(test)):
            yield Case(f"{test.__name__} {number}", rule, partial(_run, test, arguments))


def asserted_of(rule: str, test: Callable[..., None], **arguments: object) -> Case:
    """A test as a case of a rule, with these arguments alone."""
    return Case(f"{test.__name__} {arguments}", rule, partial(_run, test, arguments))


def every_test(module: ModuleType) -> list[Callable[..., None]]:
    """The tests of a module that need nothing but their parameters and have the same ones every time."""
    found = [
        value
        for name, value in vars(module).items()
        if name.startswith("test_") and inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    return [test for test in found if not hasattr(test, "hypothesis") and not _fixtures(test)]


def judge(rule: str, cases: Iterable[Case], budget: int | None) -> StageResult:
    """A stage: every case, whatever broke before; a step is a case. Raises StepsExhausted past the budget.

    Cases that cannot even be made break the rule that is given.
    """
    broken_rules: dict[str, str] = {}
    steps = 0
    try:
        for case in cases:
            steps += 1
            if budget is not None and steps > budget:
                raise StepsExhausted(f"more than {budget} cases")
            for name, why in case.wrong().items():
                broken_rules.setdefault(name, why)
    except (MemoryError, StepsExhausted):
        raise
    except Exception as error:
        broken_rules.setdefault(rule, f"cases cannot be made: {type(error).__name__}: {error}".partition("\n")[0])
    return StageResult("fail" if broken_rules else "pass", broken_rules, None, steps)


def _run(test: Callable[..., None], arguments: dict[str, Any]) -> tuple[str, ...]:
    test(**arguments)
    return ()


def _marks(test: Callable[..., None]) -> list[pytest.Mark]:
    return [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]


def _names(mark: pytest.Mark) -> list[str]:
    names = mark.args[0]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _fixtures(test: Callable[..., None]) -> set[str]:
    """Parameters that no mark gives a value."""
    return set(inspect.signature(test).parameters) - {name for mark in _marks(test) for name in _names(mark)}


def _parameters(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """The arguments of each run of the test, by name."""
    columns = []
    for mark in _marks(test):
        names = _names(mark)
        rows = [(value,) if len(names) == 1 else value for value in mark.args[1]]
        columns.append([dict(zip(names, row, strict=True)) for row in rows])
    for chosen in product(*columns):
        yield {name: value for part in chosen for name, value in part.items()}
