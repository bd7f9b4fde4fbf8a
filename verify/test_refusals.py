"""Every refusal by its reason, and the order in which reasons are looked for, as literals on oracle and cache in lockstep.

The pool has 3 pages of 2 rows. Request 0 has 5 rows, its first page released, two held; request 1 is empty with a sink;
one page is free.
"""

import pytest

from spec.operations import Append, Fork, New, Operation, Read, Reason, Refused, Release, Trim, Truncate
from spec.page_table import initial
from verify.lockstep import Lockstep
from verify.targets.shipped import ShippedCache

HISTORY: tuple[Operation, ...] = (New(0), Append(0, (1, 2, 3, 4, 5)), Trim(0, 3), New(1, 1))
LIVE, EMPTY, UNKNOWN = 0, 1, 7

CASES: list[tuple[Operation, Reason]] = [
    (Append(UNKNOWN, (9,)), Reason.UNKNOWN_REQUEST),
    (Trim(UNKNOWN, 0), Reason.UNKNOWN_REQUEST),
    (Truncate(UNKNOWN, 0), Reason.UNKNOWN_REQUEST),
    (Release(UNKNOWN), Reason.UNKNOWN_REQUEST),
    (Read(UNKNOWN, 0, 0), Reason.UNKNOWN_REQUEST),
    (Fork(UNKNOWN, 8, 0), Reason.UNKNOWN_REQUEST),
    (New(LIVE), Reason.DUPLICATE_REQUEST),
    (Fork(LIVE, EMPTY, 5), Reason.DUPLICATE_REQUEST),
    (Fork(LIVE, LIVE, 5), Reason.DUPLICATE_REQUEST),
    (New(8, -1), Reason.BAD_ARGUMENT),
    (Append(LIVE, ()), Reason.BAD_ARGUMENT),
    (Trim(LIVE, -1), Reason.BAD_ARGUMENT),
    (Trim(LIVE, 6), Reason.BAD_ARGUMENT),
    (Truncate(LIVE, -1), Reason.BAD_ARGUMENT),
    (Truncate(LIVE, 6), Reason.BAD_ARGUMENT),
    (Fork(LIVE, 8, -1), Reason.BAD_ARGUMENT),
    (Fork(LIVE, 8, 6), Reason.BAD_ARGUMENT),
    (Read(LIVE, -1, 5), Reason.BAD_ARGUMENT),
    (Read(LIVE, 4, 3), Reason.BAD_ARGUMENT),
    (Read(LIVE, 2, 6), Reason.BAD_ARGUMENT),
    (Truncate(LIVE, 1), Reason.ROWS_RELEASED),
    (Fork(LIVE, 8, 1), Reason.ROWS_RELEASED),
    (Read(LIVE, 0, 1), Reason.ROWS_RELEASED),
    (Read(LIVE, 1, 5), Reason.ROWS_RELEASED),
    (Append(LIVE, (9, 10, 11, 12)), Reason.OUT_OF_PAGES),
    (Append(EMPTY, (9, 10, 11)), Reason.OUT_OF_PAGES),
    # Two reasons at once: the one that is looked for first.
    (Fork(UNKNOWN, LIVE, -1), Reason.UNKNOWN_REQUEST),
    (Append(UNKNOWN, ()), Reason.UNKNOWN_REQUEST),
    (New(LIVE, -1), Reason.DUPLICATE_REQUEST),
    (Fork(LIVE, EMPTY, -1), Reason.DUPLICATE_REQUEST),
    (Fork(LIVE, EMPTY, 1), Reason.DUPLICATE_REQUEST),
    (Read(LIVE, 0, 6), Reason.BAD_ARGUMENT),
]

ACCEPTED: list[Operation] = [
    Trim(LIVE, 0),
    Truncate(LIVE, 0),
    Truncate(LIVE, 2),
    Fork(LIVE, 8, 0),
    Fork(LIVE, 8, 2),
    Read(LIVE, 1, 1),
    Read(LIVE, 2, 5),
    Append(LIVE, (9, 10, 11)),
    Truncate(EMPTY, 0),
    Trim(EMPTY, 0),
]


def prepared() -> Lockstep:
    """Oracle and cache after the history."""
    run = Lockstep(ShippedCache(3, 2), initial(3, 2))
    for operation in HISTORY:
        assert not run.apply(operation)
    return run


@pytest.mark.parametrize(("operation", "reason"), CASES, ids=str)
def test_the_reason_of_a_refusal_is_this_one(operation: Operation, reason: Reason) -> None:
    run = prepared()
    assert not run.apply(operation)
    assert run.outcome == Refused(reason)


@pytest.mark.parametrize("operation", ACCEPTED, ids=str)
def test_these_corners_are_legal(operation: Operation) -> None:
    run = prepared()
    assert not run.apply(operation)
    assert not isinstance(run.outcome, Refused)
