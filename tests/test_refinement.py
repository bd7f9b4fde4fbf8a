"""The refinement check is shown a hand-broken answer or snapshot for every rule, and must reject it by that rule."""

import pytest

from spec.operations import Accepted, Append, Fork, New, Operation, Outcome, Read, Reason, Refused, Trim
from spec.page_table import State, initial, step
from spec.rules import RULES
from verify.refinement import Difference, Seen, check_in_place, check_operation, check_state, outcome_differences
from verify.target import Raised, RequestView, Snapshot
from verify.targets.shipped import ShippedCache

HISTORY: tuple[Operation, ...] = (New(0), Append(0, (1, 2, 3, 4, 5)), Trim(0, 2), Fork(0, 1, 5), New(2))


def state() -> State:
    """Request 0 holds rows 2..4 of 5 on 2 of its 3 pages of 2, request 1 shares them, request 2 is empty."""
    now = initial(5, 2)
    for operation in HISTORY:
        now, outcome = step(now, operation)
        assert isinstance(outcome, Accepted)
    return now


SHARER = RequestView(5, (0, 1), (1, 2), (3, 4, 5))
GOOD = Snapshot({0: SHARER, 1: SHARER, 2: RequestView(0, (0, 0), (), ())}, (0, 2, 2, 0, 0), (4, 3, 0))


def rules(snapshot: Snapshot) -> set[str]:
    """The rules that the snapshot breaks."""
    differences: list[Difference] = []
    check_state(state(), snapshot, differences)
    return {difference.rule for difference in differences}


def with_request(request: int, view: RequestView) -> Snapshot:
    """The good snapshot with another view of one request."""
    return GOOD._replace(requests={**GOOD.requests, request: view})


def test_a_true_snapshot_breaks_no_rule() -> None:
    assert rules(GOOD) == set()


def test_page_ids_are_the_targets_own_choice() -> None:
    moved = SHARER._replace(pages=(4, 0))
    assert rules(Snapshot({**GOOD.requests, 0: moved, 1: moved}, (2, 0, 0, 0, 2), (1, 2, 3))) == set()


BROKEN: dict[str, Snapshot] = {
    "PT-OWN": GOOD._replace(counts=(0, 3, 2, 0, 0)),
    "PT-FREE": GOOD._replace(free=(4, 3, 0, 0)),
    "PT-LEAK": GOOD._replace(free=(4, 3)),
    "PT-PAGES": with_request(2, RequestView(0, (0, 0), (3,), ())),
    "PT-SHARE": Snapshot({**GOOD.requests, 1: SHARER._replace(pages=(3, 2))}, (0, 1, 2, 1, 0), (4, 0)),
    "PT-ROWS": with_request(0, SHARER._replace(rows=(3, 4, 6))),
    "PT-LEN": with_request(0, SHARER._replace(length=6)),
    "PT-HOLE": with_request(1, SHARER._replace(released=(0, 0))),
    "PT-LIVE": GOOD._replace(requests={0: SHARER, 1: SHARER}),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_snapshot_is_rejected_by_its_rule(rule: str) -> None:
    assert rule in rules(BROKEN[rule])


def test_a_row_that_is_no_tokens_breaks_rows() -> None:
    assert rules(with_request(0, SHARER._replace(rows=(3, None, 5)))) == {"PT-ROWS"}


def test_a_page_shared_where_it_must_not_be_breaks_share() -> None:
    own, outcome = step(state(), Append(2, (9,)))
    assert isinstance(outcome, Accepted)
    differences: list[Difference] = []
    check_state(own, GOOD._replace(requests={**GOOD.requests, 2: RequestView(1, (0, 0), (2,), (9,))}), differences)
    assert "PT-SHARE" in {difference.rule for difference in differences}


def test_a_page_outside_the_pool_breaks_share_and_does_not_crash() -> None:
    assert "PT-SHARE" in rules(with_request(0, SHARER._replace(pages=(1, 77))))


def test_a_free_page_outside_the_pool_breaks_free() -> None:
    assert "PT-FREE" in rules(GOOD._replace(free=(4, 3, 99)))


def test_a_free_page_that_a_table_names_breaks_free() -> None:
    assert "PT-FREE" in rules(GOOD._replace(counts=(0, 2, 2, 0, 0), free=(4, 3, 0, 2)))


def test_too_few_counts_break_own() -> None:
    assert "PT-OWN" in rules(GOOD._replace(counts=(0, 2, 2, 0)))


def test_without_counts_the_free_list_is_held_against_the_table_entries() -> None:
    blind = GOOD._replace(counts=None)
    assert rules(blind) == set()
    assert rules(blind._replace(free=(4, 3))) == {"PT-LEAK", "PT-PAGES"}
    assert rules(blind._replace(free=(4, 3, 0, 2))) == {"PT-FREE", "PT-PAGES"}
    assert rules(blind._replace(free=(4, 3, 3))) == {"PT-FREE", "PT-LEAK"}


def test_without_a_free_list_counts_and_requests_are_still_checked() -> None:
    blind = GOOD._replace(free=None)
    assert rules(blind) == set()
    assert rules(blind._replace(counts=(0, 2, 1, 0, 0))) == {"PT-OWN"}
    assert rules(with_request(0, SHARER._replace(rows=(3, 4, 6)))._replace(counts=None, free=None)) == {"PT-ROWS"}


def test_a_cell_that_changes_its_page_breaks_in_place() -> None:
    differences: list[Difference] = []
    check_in_place({7: 1, 8: 2}, {7: 1, 8: 3, 9: 2}, differences)
    assert [difference.rule for difference in differences] == ["PT-INPLACE"]


REFUSALS = [Refused(reason) for reason in Reason]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.reason.value)
def test_every_wrong_answer_to_a_refusal_breaks_the_oracles_reason(refusal: Refused) -> None:
    due = refusal.reason.value
    others: list[Outcome] = [Accepted(), *(other for other in REFUSALS if other != refusal)]
    for wrong in others:
        assert [d.rule for d in outcome_differences(refusal, wrong)] == [due]
    assert [d.rule for d in outcome_differences(refusal, Raised("KeyError", "7"))] == ["PT-TOTAL", due]


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (Refused(Reason.OUT_OF_PAGES), "OutOfPages"),
        (Raised("IndexError", "list index"), "PT-TOTAL"),
        (None, "PT-TOTAL"),
        (Accepted((1,)), "PT-ROWS"),
    ],
)
def test_a_wrong_answer_to_an_accepted_operation_is_rejected(answer: Outcome | Raised, rule: str) -> None:
    assert [difference.rule for difference in outcome_differences(Accepted(), answer)] == [rule]


class Forgetful(ShippedCache):
    """A cache that turns its free list round whenever it refuses."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(outcome, Refused):
            self.cache.table.free.reverse()
        return outcome


@pytest.mark.parametrize("operation", [Append(7, (1,)), Trim(0, 99)])
def test_a_refusal_that_changes_only_the_order_of_the_free_list_breaks_refuse(operation: Operation) -> None:
    assert broken_by(Forgetful(5, 2), operation) == {"PT-REFUSE"}


class Blind(ShippedCache):
    """A cache whose state cannot be observed once it holds a row."""

    def observe(self) -> Snapshot:
        if self.cache.table.used:
            raise RuntimeError("no view")
        return super().observe()


def test_a_state_that_cannot_be_observed_breaks_total() -> None:
    assert broken_by(Blind(5, 2), Append(0, (1,))) == {"PT-TOTAL"}


class Torn(ShippedCache):
    """A cache that loses the values of the last layer."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        self.cache.pool.kv[-1, :, 1] = 0
        return outcome


def test_rows_that_are_wrong_in_one_layer_only_break_rows() -> None:
    assert broken_by(Torn(5, 2), Append(0, (1,))) == {"PT-ROWS"}


def broken_by(target: ShippedCache, operation: Operation) -> set[str]:
    """The rules that the operation breaks on a target that holds request 0, empty."""
    target.apply(New(0))
    before = step(initial(5, 2), New(0))[0]
    after, expected = step(before, operation)
    checked = check_operation(before, after, expected, operation, target, Seen({}, target.observe(), target.image()))
    return {difference.rule for difference in checked.differences}


def test_every_page_table_rule_has_been_shown_broken() -> None:
    shown = {*BROKEN, "PT-INPLACE", "PT-REFUSE", "PT-TOTAL", *(reason.value for reason in Reason)}
    assert shown == {rule for rule in RULES if not rule.startswith(("WIN-", "DEC-", "HOST-", "PRE-", "CHIP-"))}


def test_a_read_is_held_against_the_oracles_rows() -> None:
    expected = step(state(), Read(0, 2, 5))[1]
    assert expected == Accepted((3, 4, 5))
    (wrong,) = outcome_differences(expected, Accepted((3, 4, 4)))
    assert wrong == Difference("PT-ROWS", "rows [3, 4, 5]", "rows [3, 4, 4]")
