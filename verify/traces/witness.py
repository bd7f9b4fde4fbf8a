"""A failure of a long replay as a short operation list: what only the requests that had a part in it did."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress

from impl.schedule import Schedule
from spec.operations import Append, Fork, Operation, Outcome
from spec.page_table import State, initial, step
from verify.refinement import Difference
from verify.traces.incremental import IncrementalCheck
from verify.traces.incremental_target import IncrementalFactory
from verify.traces.tokens import with_runs
from verify.witness import Witness

MOST_ROWS = 2_000_000
"""Rows of the longest operation list worth keeping; a longer one is found again faster by replaying the trace."""


def trace_witness(
    make_schedule: Callable[[], Schedule],
    before: State,
    count: int,
    last: Operation,
    parents: Mapping[int, int],
    differences: Sequence[Difference],
    factory: IncrementalFactory,
) -> Witness | None:
    """The first of these lists that breaks one of the same rules on a fresh target; None when none does or is short enough.

    Of the `count` operations issued up to `last`, which the oracle met in `before`: those on the requests that `last` names
    and on the requests that they were forked from, by `parents`; then also those on live requests that share pages with
    them; then all. Each on a pool that just holds it, then on one as large as the trace's.
    """
    rules = {difference.rule for difference in differences}
    named = named_by(last)
    sharing = named | sharers(before, named)
    for names in (lineage(named, parents), lineage(sharing, parents), None):
        operations = issued(make_schedule(), before, count, names)
        if operations is None:
            continue
        for pages in (pages_needed(operations, before), before.pages):
            if rules & broken(operations, pages, before.page_size, factory):
                return Witness(pages, before.page_size, tuple(operations), tuple(sorted(rules)))
    return None


def named_by(operation: Operation) -> frozenset[int]:
    """The requests that the operation names."""
    if isinstance(operation, Fork):
        return frozenset({operation.request, operation.to})
    return frozenset({operation.request})


def sharers(state: State, names: Set[int]) -> frozenset[int]:
    """Live requests that hold a cell of one of these."""
    cells = {cell for name in names if name in state.requests for cell in state.requests[name].cells}
    shared = cells & state.shared.keys()
    return frozenset(name for name, request in state.requests.items() if not shared.isdisjoint(request.cells))


def lineage(names: Iterable[int], parents: Mapping[int, int]) -> frozenset[int]:
    """These requests and all that they descend from by fork."""
    found: set[int] = set()
    for start in names:
        name: int | None = start
        while name is not None and name not in found:
            found.add(name)
            name = parents.get(name)
    return frozenset(found)


def issued(schedule: Schedule, state: State, count: int, names: Set[int] | None) -> list[Operation] | None:
    """The operations on these requests alone (None: on all) among the first `count`; None when they have too many rows.

    The oracle stands in for the table: it answered the schedule in the replay too. `state` says the size of its pool.
    """
    now = initial(state.pages, state.page_size)
    operations: list[Operation] = []
    rows = issues = 0

    def drive(operation: Operation) -> Outcome:
        nonlocal now, rows, issues
        now, outcome = step(now, with_runs(operation))
        issues += 1
        if names is None or named_by(operation) <= names:
            operations.append(operation)
            rows += len(operation.tokens) if isinstance(operation, Append) else 0
        if issues == count or rows > MOST_ROWS:
            raise _Enough
        return outcome

    with suppress(_Enough):
        schedule.run(drive)
    return operations if rows <= MOST_ROWS else None


class _Enough(Exception):  # noqa: N818, it ends the schedule and reports nothing
    """The operations wanted have been issued."""


def pages_needed(operations: Sequence[Operation], state: State) -> int:
    """The most pages that the operations use on a pool as large as `state`'s, at least 1."""
    now = initial(state.pages, state.page_size)
    most = 1
    for operation in operations:
        now, _ = step(now, with_runs(operation))
        most = max(most, now.used)
    return most


def broken(operations: Sequence[Operation], pages: int, page_size: int, factory: IncrementalFactory) -> frozenset[str]:
    """The rules that the operations break on a fresh target, the check of the whole state at the end included."""
    now = initial(pages, page_size)
    check = IncrementalCheck(factory(pages, page_size), now)
    for operation in operations:
        before = now
        now, expected = step(before, with_runs(operation))
        differences = check.check(operation, before, now, expected)
        if differences:
            break
    else:
        differences = check.check_whole(now)
    return frozenset(difference.rule for difference in differences)
