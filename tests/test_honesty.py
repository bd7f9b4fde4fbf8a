"""What must notice a broken oracle passes a right one, and a case says exactly what is wrong."""

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests import test_isa_encoding
from tests.honesty.case import Case, asserted, broken, broken_among_others, every_test, judge, right
from tests.honesty.suite import AREAS, PARTS, STAGES, StepsExhausted


@pytest.mark.parametrize("stage", STAGES)
def test_a_right_oracle_passes_the_stage(stage: str) -> None:
    found = STAGES[stage](None)
    assert (found.verdict, found.broken) == ("pass", {})
    assert found.steps > 0
    assert STAGES.keys() == {f"{area} {part}" for area in AREAS for part in PARTS}


def falls_over() -> list[str]:
    raise KeyError("no such rule")


CASES: tuple[tuple[Case, set[str]], ...] = (
    (right("A", "right", list), set()),
    (right("A", "rejected", lambda: ["B"]), {"B"}),
    (broken("A", "rejected by its rule", lambda: ["A"]), set()),
    (broken("A", "passes", list), {"A"}),
    (broken("A", "rejected by another", lambda: ["B"]), {"A", "B"}),
    (broken("A", "rejected by another too", lambda: ["A", "B"]), {"B"}),
    (broken("A", "rejected by both", lambda: ["A", "B"], "B"), set()),
    (broken_among_others("A", "rejected by another too", lambda: ["A", "B"]), set()),
    (broken_among_others("A", "rejected by another", lambda: ["B"]), {"A"}),
    (right("A", "falls over", falls_over), {"A"}),
)


@pytest.mark.parametrize(("case", "rules"), CASES)
def test_a_case_names_what_is_missing_and_what_is_too_many(case: Case, rules: set[str]) -> None:
    assert case.wrong().keys() == rules
    assert judge("MADE", [case], None).broken.keys() == rules


def test_cases_that_cannot_be_made_break_the_rule_of_the_stage() -> None:
    def cases() -> Iterator[Case]:
        yield right("A", "right", list)
        raise IndexError("no more")

    found = judge("MADE", cases(), None)
    assert (found.verdict, found.broken) == ("fail", {"MADE": "cases cannot be made: IndexError: no more"})
    with pytest.raises(StepsExhausted):
        judge("MADE", cases(), 0)


@pytest.mark.parametrize("one", [1, 2])
@pytest.mark.parametrize(("other", "third"), [(1, 1), (2, 2)])
def sum_is(one: int, other: int, third: int) -> None:
    assert one + other + third == 3 * one


def never_raises() -> None:
    with pytest.raises(ValueError, match="never"):
        pass


def test_a_test_is_a_case_for_each_set_of_its_parameters() -> None:
    found = [[*case.wrong()] for case in asserted("A", sum_is)]
    assert sorted(found) == [[], [], ["A"], ["A"]]
    assert [[*case.wrong()] for case in asserted("A", never_raises)] == [["A"]]


def test_tests_that_need_more_than_their_parameters_are_left_out() -> None:
    found = every_test(ModuleType("nothing"))
    assert found == []
    names = {test.__name__ for test in every_test(test_isa_encoding)}
    assert "test_an_instruction_has_the_words_worked_out_by_hand" in names
    assert "test_an_instruction_survives_its_words" not in names, "its examples are drawn"
    assert "test_a_right_oracle_passes_the_stage" in {test.__name__ for test in every_test(sys.modules[__name__])}
    assert "test_what_needs_a_fixture" not in {test.__name__ for test in every_test(sys.modules[__name__])}


def test_what_needs_a_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    assert monkeypatch
