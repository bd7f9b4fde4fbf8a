"""The oracle is right: literals worked out by hand, and laws that relate operations."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise, product

import pytest

from spec.operations import (
    Accepted,
    Append,
    Fork,
    New,
    Operation,
    Outcome,
    Read,
    Reason,
    Refused,
    Release,
    Trim,
    Truncate,
)
from spec.page_table import Request, State, initial, of_tables, owners, pages_for, readable, released, sink_pages, step
from spec.rules import RULES
from spec.window import keep_from, rows_read

SEED = 11
RUNS, STEPS, IDS = 500, 40, range(4)
OK = Accepted()
Transition = tuple[State, Operation, State, Outcome]


def run(state: State, *ops: Operation) -> State:
    """The state after operations that must all be accepted."""
    for op in ops:
        state, outcome = step(state, op)
        assert isinstance(outcome, Accepted), (op, outcome)
    return state


def outcome_of(state: State, op: Operation) -> Outcome:
    return step(state, op)[1]


def refusals(state: State, *ops: Operation) -> list[Reason]:
    """The reasons of operations that must all be refused and change nothing."""
    reasons = []
    for op in ops:
        after, outcome = step(state, op)
        assert isinstance(outcome, Refused) and after is state, (op, outcome)
        reasons.append(outcome.reason)
    return reasons


def tokens(first: int, stop: int) -> tuple[int, ...]:
    return tuple(range(first, stop))


def grown(pages: int, page_size: int, length: int, sinks: int = 0) -> State:
    """A pool in which request 0 holds rows 0 .. length-1, row i with token i."""
    return run(initial(pages, page_size), New(0, sinks), Append(0, tokens(0, length)))


def counts(state: State, request: int) -> list[int]:
    return [owners(state, cell) for cell in state.requests[request].cells]


def random_operation(rng: random.Random, state: State, token: int) -> Operation:
    """An operation, mostly on a live request, with rows from one below to one above those that the request has."""
    name, other = rng.choice([*IDS, *5 * [*state.requests]]), rng.choice(IDS)
    length = len(state.requests[name].rows) if name in state.requests else 0
    row = rng.randint(-1, length + 1)
    kinds = (
        New(other, rng.randint(-1, state.page_size + 1)),
        Append(name, tokens(token, token + rng.randint(0, 2 * state.page_size + 1))),
        Fork(name, other, rng.choice((row, length))),
        Trim(name, rng.choice((row, length))),
        Truncate(name, row),
        Release(name),
        Read(name, row, rng.randint(-1, length + 1)),
    )
    return rng.choices(kinds, weights=(2, 12, 4, 4, 2, 1, 3))[0]


@cache
def random_transitions() -> tuple[Transition, ...]:
    """Transitions of random runs, one after another, over pools of 0 to 15 pages."""
    rng = random.Random(SEED)
    transitions: list[Transition] = []
    for _ in range(RUNS):
        state = run(initial(rng.randint(0, 15), rng.randint(1, 4)), New(0), New(1, rng.randint(0, 5)))
        for at in range(STEPS):
            op = random_operation(rng, state, 100 * at)
            after, outcome = step(state, op)
            transitions.append((state, op, after, outcome))
            state = after
    return tuple(transitions)


def random_states(every: int = 1) -> list[State]:
    """Every `every`-th state of the random runs; the seed is shown when a test fails."""
    print(f"seed {SEED}")
    return [after for _, _, after, _ in random_transitions()[::every]]


def assert_well_formed(state: State) -> None:
    """Every sentence of the docstrings of Request and State."""
    recount = of_tables(state.pages, state.page_size, state.requests)
    assert (state.used, state.shared) == (recount.used, recount.shared)
    assert recount.next_cell <= state.next_cell and 0 <= state.used <= state.pages
    for request in state.requests.values():
        length, first = len(request.rows), sink_pages(request.sinks, state.page_size)
        assert len(set(request.cells)) == len(request.cells) == pages_for(length, state.page_size) - request.dropped
        assert request.dropped == 0 or (first + request.dropped) * state.page_size <= length
        for cell in request.cells:
            assert owners(state, cell) == sum(cell in other.cells for other in state.requests.values())


# Every state


def test_used_and_shared_equal_their_recount_in_every_state_of_random_runs() -> None:
    # Each state is recounted after its run has ended, so a later step that changed it would show as well.
    for state in random_states():
        assert_well_formed(state)


def test_random_runs_reach_every_outcome_of_every_operation() -> None:
    reached: dict[type[Operation], set[str]] = {}
    for _, op, _, outcome in random_transitions():
        reached.setdefault(type(op), set()).add(outcome.reason if isinstance(outcome, Refused) else "Accepted")
    assert reached == {
        New: {"Accepted", "DuplicateRequest", "BadArgument"},
        Append: {"Accepted", "UnknownRequest", "BadArgument", "OutOfPages"},
        Fork: {"Accepted", "UnknownRequest", "DuplicateRequest", "BadArgument", "RowsReleased"},
        Trim: {"Accepted", "UnknownRequest", "BadArgument"},
        Truncate: {"Accepted", "UnknownRequest", "BadArgument", "RowsReleased"},
        Release: {"Accepted", "UnknownRequest"},
        Read: {"Accepted", "UnknownRequest", "BadArgument", "RowsReleased"},
    }
    states = random_states()
    assert sum(bool(state.shared) for state in states) > 2000
    assert sum(any(request.dropped for request in state.requests.values()) for state in states) > 2000
    assert sum(max(state.shared.values(), default=1) > 2 for state in states) > 200


def test_a_refusal_and_a_read_return_the_same_state_object() -> None:
    for before, op, after, outcome in random_transitions():
        assert after is before or not (isinstance(outcome, Refused) or isinstance(op, Read))


def test_an_operation_changes_only_the_request_that_it_names() -> None:
    for before, op, after, _ in random_transitions():
        named = op.to if isinstance(op, Fork) else op.request
        for name in before.requests.keys() | after.requests.keys():
            assert name == named or before.requests[name] is after.requests[name]


def test_rows_read_back_exactly_where_readable_says_so() -> None:
    for state in random_states(every=23):
        for name, request in state.requests.items():
            ranges, length = readable(request, state.page_size), len(request.rows)
            assert all(lo < hi for lo, hi in ranges) and all(hi < lo for (_, hi), (lo, _) in pairwise(ranges))
            for lo, hi in product(range(-1, length + 2), repeat=2):
                outcome = outcome_of(state, Read(name, lo, hi))
                if not 0 <= lo <= hi <= length:
                    assert outcome == Refused(Reason.BAD_ARGUMENT)
                elif lo == hi or any(first <= lo and hi <= stop for first, stop in ranges):
                    assert outcome == Accepted(request.rows[lo:hi])
                else:
                    assert outcome == Refused(Reason.ROWS_RELEASED)


def test_every_operation_has_an_outcome_for_integers_of_any_size() -> None:
    integers = [-(10**30), -1, 0, 1, 10**30]
    live = run(grown(6, 2, 7), Trim(0, 5), Fork(0, 1, 7))
    for state, name, x, y in product((initial(0, 1), initial(10**30, 10**30), live), integers, integers, integers):
        two_integers = (Append(name, (x, y)), Fork(name, x, y), Read(name, x, y))
        for op in (New(name, x), Trim(name, x), Truncate(name, x), Release(name), Append(name, ()), *two_integers):
            assert_well_formed(step(state, op)[0])


def test_a_pool_of_no_size_and_a_step_that_is_no_operation_are_errors() -> None:
    for pages, page_size in ((-1, 1), (1, 0), (1, -1)):
        with pytest.raises(ValueError, match="a pool needs"):
            initial(pages, page_size)
    with pytest.raises(TypeError, match="not an operation"):
        step(initial(1, 1), "append")  # type: ignore[arg-type]


# Literals


def test_event_trace_a_reads_holds_and_drops_what_the_reference_says() -> None:
    read = [tokens(0, at) for at in range(6)] + [tokens(at, at + 5) for at in range(1, 9)]
    held = [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
    dropped = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    state = run(initial(8, 4), New(0))
    for at in range(1, 15):
        ranges = rows_read(at, 6)
        assert [row for lo, hi in ranges for row in range(lo, hi)] == list(read[at - 1])
        assert [outcome_of(state, Read(0, lo, hi)) for lo, hi in ranges] == [Accepted(read[at - 1])] * len(ranges)
        state = run(state, Append(0, (at - 1,)), Trim(0, keep_from(at, 6)))
        request = state.requests[0]
        assert (len(request.cells), request.dropped) == (held[at - 1], dropped[at - 1])
        assert state.used == held[at - 1]
    assert (released(request, 4), readable(request, 4)) == ((0, 2), ((8, 14),))
    assert grown(8, 4, 14).used == 4


def test_the_fork_of_the_reference_shares_three_cells_and_copies_one() -> None:
    state = run(grown(8, 4, 10), Fork(0, 1, 10))
    cells = state.requests[0].cells
    assert (state.requests[1].cells, state.used, counts(state, 0)) == (cells, 3, [2, 2, 2])
    state = run(state, Append(1, (99,)))
    assert (state.requests[0].cells, state.requests[1].cells[:2]) == (cells, cells[:2])
    assert state.requests[1].cells[2] not in cells
    assert (state.used, counts(state, 0), counts(state, 1)) == (4, [2, 2, 1], [2, 2, 1])
    assert (state.requests[0].rows, state.requests[1].rows) == (tokens(0, 10), (*tokens(0, 10), 99))
    state = run(state, Release(1))
    assert (state.used, counts(state, 0)) == (3, [1, 1, 1])


def test_three_pages_of_two_refuse_the_seventh_row_and_stay_at_six() -> None:
    state = run(initial(3, 2), New(0), *(Append(0, (row,)) for row in range(6)))
    assert refusals(state, Append(0, (6,))) == [Reason.OUT_OF_PAGES]
    assert (len(state.requests[0].rows), state.used) == (6, 3)


def test_an_append_that_does_not_fit_whole_is_refused_whole() -> None:
    state = grown(3, 2, 1)
    assert refusals(state, Append(0, tokens(1, 7))) == [Reason.OUT_OF_PAGES]
    assert run(state, Append(0, tokens(1, 6))).used == 3


def test_the_copy_of_a_shared_page_counts_towards_what_an_append_needs() -> None:
    shared = run(grown(2, 2, 1), Fork(0, 1, 1))
    assert run(shared, Append(1, (5,))).used == 2
    assert refusals(shared, Append(1, (5, 6))) == [Reason.OUT_OF_PAGES]
    assert run(shared, Release(0), Append(1, (5, 6))).used == 2


def test_an_append_after_a_full_shared_page_copies_nothing() -> None:
    state = run(grown(3, 2, 2), Fork(0, 1, 2), Append(1, (5,)))
    assert (state.used, counts(state, 1)) == (2, [2, 1])


def test_the_source_copies_too_and_the_last_owner_writes_in_place() -> None:
    forked = run(grown(3, 2, 1), Fork(0, 1, 1))
    written = run(forked, Append(0, (7,)))
    assert (written.requests[0].cells, written.shared, written.used) == ((1,), {}, 2)
    assert run(written, Append(1, (8,))).requests[1].cells == forked.requests[1].cells == (0,)


def test_a_fork_inside_a_full_page_shares_it_and_copies_on_its_first_append() -> None:
    state = run(grown(3, 4, 4), Fork(0, 1, 1))
    assert (state.used, counts(state, 1)) == (1, [2])
    state = run(state, Append(1, (9,)))
    assert (state.requests[0].rows, state.requests[1].rows, state.used) == ((0, 1, 2, 3), (0, 9), 2)


def test_a_cell_of_the_past_never_comes_back() -> None:
    assert run(grown(2, 1, 2), Release(0), New(0), Append(0, (5,))).requests[0].cells == (2,)


def test_trim_releases_only_pages_wholly_below_keep_from_and_past_the_sinks() -> None:
    state = grown(6, 2, 9, sinks=3)
    assert run(state, Trim(0, 5)) == state
    trimmed = run(state, Trim(0, 7))
    assert (released(trimmed.requests[0], 2), trimmed.requests[0].cells) == ((2, 3), (0, 1, 3, 4))
    assert (readable(trimmed.requests[0], 2), trimmed.used) == (((0, 4), (6, 9)), 4)
    assert run(trimmed, Trim(0, 0)) == trimmed
    assert released(run(trimmed, Trim(0, 9)).requests[0], 2) == (2, 4)


def test_rows_below_keep_from_in_a_held_page_stay_readable() -> None:
    state = run(grown(6, 4, 7), Trim(0, 6))
    assert outcome_of(state, Read(0, 4, 7)) == Accepted((4, 5, 6))
    assert outcome_of(state, Read(0, 2, 2)) == Accepted(())
    assert refusals(state, Read(0, 3, 7)) == [Reason.ROWS_RELEASED]


def test_an_emptied_table_keeps_its_length_and_appends_to_a_fresh_page() -> None:
    state = run(grown(2, 2, 4), Trim(0, 4))
    assert (state.used, state.requests[0].cells, len(state.requests[0].rows)) == (0, (), 4)
    state = run(state, Append(0, (4,)))
    assert (state.used, readable(state.requests[0], 2)) == (1, ((4, 5),))


@pytest.mark.parametrize(("cut", "result"), [(lambda at: Truncate(0, at), 0), (lambda at: Fork(0, 1, at), 1)])
def test_a_cut_ends_at_either_edge_of_the_released_pages_but_not_between(
    cut: Callable[[int], Operation], result: int
) -> None:
    # Pages of 2 rows: page 0 holds the sink, pages 1 and 2 are released, pages 3 and 4 hold rows 6, 7 and 8.
    state = run(grown(6, 2, 9, sinks=1), Trim(0, 6))
    assert refusals(state, cut(-1), cut(10)) == [Reason.BAD_ARGUMENT] * 2
    assert refusals(state, cut(3), cut(4), cut(5)) == [Reason.ROWS_RELEASED] * 3
    for at, cells in {0: (), 1: (0,), 2: (0,), 6: (0,), 7: (0, 3), 8: (0, 3), 9: (0, 3, 4)}.items():
        dropped = 2 if at >= 6 else 0
        assert run(state, cut(at)).requests[result] == Request(tokens(0, at), 1, dropped, cells)


def test_after_a_cut_at_the_lower_edge_the_released_pages_are_started_anew() -> None:
    state = run(grown(6, 2, 9, sinks=1), Trim(0, 6), Truncate(0, 2), Append(0, (50, 51)))
    assert outcome_of(state, Read(0, 0, 4)) == Accepted((0, 1, 50, 51))


def test_reasons_are_looked_for_in_the_order_of_the_vocabulary() -> None:
    # Rows 0 and 1 are released, rows 2 and 3 shared with request 1, and one of the two pages is free.
    state = run(grown(2, 2, 4), Trim(0, 2), Fork(0, 1, 4))
    unknown, duplicate, bad, gone, full = Reason
    assert refusals(state, Fork(7, 0, -1), Append(7, ()), Read(7, 9, 0), Trim(7, -1), Truncate(7, 1)) == [unknown] * 5
    assert refusals(state, New(0, -1), Fork(0, 0, -1), Fork(0, 1, 1)) == [duplicate] * 3
    assert refusals(state, New(2, -1), Fork(0, 2, 5), Append(0, ()), Read(0, 1, 5), Read(0, 3, 1)) == [bad] * 5
    assert refusals(state, Trim(0, -1), Trim(0, 5), Truncate(0, -1), Truncate(0, 5), Read(0, -1, 3)) == [bad] * 5
    assert refusals(state, Fork(0, 2, 1), Truncate(0, 1), Read(0, 1, 3)) == [gone] * 3
    assert refusals(state, Append(0, tokens(0, 3))) == [full]


def test_a_released_id_is_unknown_and_may_be_used_again() -> None:
    state = run(grown(3, 2, 3, sinks=1), Release(0))
    assert (state.used, refusals(state, Release(0))) == (0, [Reason.UNKNOWN_REQUEST])
    assert run(state, New(0)).requests[0] == Request((), 0, 0, ())


@pytest.mark.parametrize(
    ("prompt", "page_size", "used"),
    [(96, 16, 30), (96, 40, 18), (100, 16, 30), (100, 40, 18), (250, 16, 47), (250, 40, 22)],
)
def test_prefix_sharing_uses_the_pages_of_the_study(prompt: int, page_size: int, used: int) -> None:
    state = grown(400, page_size, prompt)
    for name in range(1, 9):
        state = run(state, Fork(0, name, prompt), *(Append(name, (row,)) for row in range(40)))
    assert run(state, Release(0)).used == used


# Laws


def test_forking_then_releasing_the_child_restores_the_state_up_to_fresh_cells() -> None:
    for state in random_states(every=23):
        for name, request in state.requests.items():
            for at in range(len(request.rows) + 1):
                forked, outcome = step(state, Fork(name, 9, at))
                if outcome == OK:
                    assert run(forked, Release(9)) == state
                    written, _ = step(forked, Append(9, (-7,)))
                    assert replace(run(written, Release(9)), next_cell=state.next_cell) == state


def test_appending_rows_together_equals_appending_them_one_by_one() -> None:
    for before, op, after, outcome in random_transitions():
        if isinstance(op, Append) and op.tokens:
            state, single = step(before, Append(op.request, op.tokens[:1]))
            for token in op.tokens[1:]:
                if single == OK:
                    state, single = step(state, Append(op.request, (token,)))
            assert single == outcome and (outcome != OK or state == after)


def test_a_fork_at_a_row_equals_a_whole_fork_that_is_then_truncated() -> None:
    for state in random_states(every=23):
        for name, request in state.requests.items():
            whole = run(state, Fork(name, 9, len(request.rows)))
            for at in range(-1, len(request.rows) + 2):
                (direct, outcome), (cut, cut_outcome) = step(state, Fork(name, 9, at)), step(whole, Truncate(9, at))
                assert outcome == cut_outcome and (outcome != OK or direct == cut)


def test_two_trims_equal_the_one_that_reaches_further() -> None:
    for state in random_states(every=61):
        for name, request in state.requests.items():
            for one, two in product(range(len(request.rows) + 1), repeat=2):
                assert run(state, Trim(name, one), Trim(name, two)) == run(state, Trim(name, max(one, two)))


def test_every_reason_is_a_rule_and_every_rule_one_sentence() -> None:
    assert {reason.value for reason in Reason} <= RULES.keys()
    assert all(sentence.endswith(".") for sentence in RULES.values())
