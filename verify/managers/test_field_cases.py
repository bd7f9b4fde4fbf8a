"""Faults that people really hit, as cases with their right values, on oracle and shipped prefix cache together.

N pool pages, P page size, W window counting the query itself. Each operation has its right answer and the pages that are
available after it; the check of managers holds the cache against the oracle besides.
"""

import pytest

from spec.groups import Group
from spec.manager import available, initial
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Reason,
    Refused,
    Release,
    Truncate,
)
from verify.managers.bounds import FULL, committing
from verify.managers.lockstep import ManagerLockstep
from verify.targets.prefix import PrefixManager

A, B, C = 0, 1, 2
DONE = Accepted()
FULL_UP, BAD, GONE = Refused(Reason.OUT_OF_PAGES), Refused(Reason.BAD_ARGUMENT), Refused(Reason.ROWS_RELEASED)


def window(size: int, sinks: int = 0) -> Group:
    """A sliding window."""
    return Group("window", size, sinks)


def served(tokens: int) -> Outcome:
    """An admission that finds so many tokens published."""
    return Accepted(served=tokens)


Case = tuple[int, int, Group, tuple[tuple[ManagerOperation, Outcome, int], ...]]
"""N, P, the group, and the operations with answer and available pages."""

CASES: dict[str, Case] = {
    "S1 the trim of one sharer leaves the other its page": (
        6,
        2,
        window(4),
        (
            (Admit(A, (1, 2, 3, 4)), served(0), 4),
            (Commit(A), DONE, 4),
            (Fork(A, B, 4), DONE, 4),
            (Append(A, (5, 6)), DONE, 3),
            (Commit(A), DONE, 3),
            (Release(A), DONE, 4),
            (Release(B), DONE, 6),
        ),
    ),
    "S1b a fork of a trimmed request is trimmed on its own": (
        8,
        2,
        window(4),
        (
            (Admit(A, (1, 2, 3, 4, 5, 6)), served(0), 5),
            (Commit(A), DONE, 6),
            (Fork(A, B, 6), DONE, 6),
            (Append(B, (7, 8)), DONE, 5),
            (Commit(B), DONE, 5),
            (Release(A), DONE, 6),
        ),
    ),
    "S3 an admission does not count the idle pages that it is served": (
        4,
        2,
        FULL,
        (
            (Admit(A, (1, 2, 3, 4)), served(0), 2),
            (Commit(A), DONE, 2),
            (Release(A), DONE, 4),
            (Admit(B, (5, 6, 7, 8)), served(0), 2),
            (Commit(B), DONE, 2),
            (Admit(C, (1, 2, 3, 4, 9)), FULL_UP, 2),
            (Admit(C, (1, 2, 3, 4, 9)), FULL_UP, 2),
            (Release(B), DONE, 4),
            (Admit(C, (1, 2, 3, 4, 9)), served(4), 1),
        ),
    ),
    "S4 what is served is pinned before pages are taken": (
        3,
        2,
        FULL,
        (
            (Admit(A, (1, 2, 3, 4)), served(0), 1),
            (Commit(A), DONE, 1),
            (Admit(B, (7, 8)), served(0), 0),
            (Commit(B), DONE, 0),
            (Release(A), DONE, 2),
            (Release(B), DONE, 3),
            (Admit(C, (1, 2, 3, 4, 5, 6)), served(4), 0),
            (Commit(C), DONE, 0),
        ),
    ),
    "S5 a page that was reused is found no more": (
        1,
        2,
        FULL,
        (
            (Admit(A, (5, 6)), served(0), 0),
            (Commit(A), DONE, 0),
            (Release(A), DONE, 1),
            (Admit(B, (7, 8)), served(0), 0),
            (Commit(B), DONE, 0),
            (Release(B), DONE, 1),
            (Admit(C, (5, 6)), served(0), 0),
            (Commit(C), DONE, 0),
        ),
    ),
    "S7 reserved rows are cut without having been written": (
        6,
        4,
        FULL,
        (
            (Admit(A, (1,) * 5), served(0), 4),
            (Commit(A), DONE, 4),
            (Append(A, (2,) * 6), DONE, 3),
            (Truncate(A, 6), DONE, 4),
            (Commit(A), DONE, 4),
            (Release(A), DONE, 6),
        ),
    ),
    "S8 a cut below nothing or beyond the end is refused": (
        4,
        2,
        FULL,
        (
            (Admit(A, (1, 2, 3)), served(0), 2),
            (Commit(A), DONE, 2),
            (Truncate(A, -2), BAD, 2),
            (Truncate(A, 4), BAD, 2),
            (Truncate(A, 0), DONE, 4),
        ),
    ),
    "S9 a rollback to where the window reads rows that are gone is refused": (
        10,
        1,
        window(4),
        (
            (Admit(A, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)), served(0), 0),
            (Commit(A), DONE, 7),
            (Truncate(A, 8), GONE, 7),
            (Fork(A, B, 9), GONE, 7),
            (Truncate(A, 10), DONE, 7),
            (Truncate(A, 0), DONE, 10),
        ),
    ),
    "S16 both writers of a shared page have their own": (
        8,
        4,
        FULL,
        (
            (Admit(A, (1, 2, 3, 4, 5, 6)), served(0), 6),
            (Commit(A), DONE, 6),
            (Fork(A, B, 6), DONE, 6),
            (Append(A, (7,)), DONE, 5),
            (Commit(A), DONE, 5),
            (Append(B, (8,)), DONE, 5),
            (Commit(B), DONE, 5),
        ),
    ),
    "S16d after a cut inside a shared page the copy is needed again": (
        8,
        4,
        FULL,
        (
            (Admit(A, (1, 2, 3, 4, 5, 6, 7, 8)), served(0), 6),
            (Commit(A), DONE, 6),
            (Fork(A, B, 8), DONE, 6),
            (Truncate(B, 6), DONE, 6),
            (Append(B, (9,)), DONE, 5),
            (Commit(B), DONE, 5),
        ),
    ),
    "S19 a prompt in chunks runs at its peak": (
        3,
        3,
        window(4),
        (
            (Admit(A, (1,) * 4), served(0), 1),
            (Commit(A), DONE, 1),
            (Append(A, (2,) * 4), DONE, 0),
            (Commit(A), DONE, 1),
            (Append(A, (3,) * 4), DONE, 0),
            (Commit(A), DONE, 2),
        ),
    ),
    "S19 a prompt in chunks is refused one page below its peak": (
        2,
        3,
        window(4),
        (
            (Admit(A, (1,) * 4), served(0), 0),
            (Commit(A), DONE, 0),
            (Append(A, (2,) * 4), FULL_UP, 0),
            (Append(A, (2,) * 2), DONE, 0),
        ),
    ),
    "S20 an append is refused whole": (
        3,
        2,
        FULL,
        (
            (Admit(A, (1, 2, 3, 4)), served(0), 1),
            (Commit(A), DONE, 1),
            (Append(A, (5, 6, 7, 8)), FULL_UP, 1),
            (Append(A, (5, 6)), DONE, 0),
        ),
    ),
    "S28 an append needs the pages that its rows start": (
        4,
        2,
        FULL,
        (
            (Admit(A, (1,)), served(0), 3),
            (Commit(A), DONE, 3),
            (Append(A, (2, 3, 4, 5)), DONE, 1),
        ),
    ),
    "copies of one key outlive each other": (
        6,
        2,
        FULL,
        (
            (Admit(A, (1, 2)), served(0), 5),
            (Admit(B, (1, 2)), served(0), 4),
            (Commit(A), DONE, 4),
            (Commit(B), DONE, 4),
            (Release(A), DONE, 5),
            (Admit(A, (9,) * 9), served(0), 0),
            (Admit(C, (1, 2, 3)), FULL_UP, 0),
            (Release(A), DONE, 5),
            (Admit(C, (1, 2, 3)), served(2), 4),
        ),
    ),
    "the tail of a request is reused before its head": (
        3,
        1,
        FULL,
        (
            (Admit(A, (1, 2, 3)), served(0), 0),
            (Commit(A), DONE, 0),
            (Release(A), DONE, 3),
            (Admit(B, (9,)), served(0), 2),
            (Release(B), DONE, 3),
            (Admit(C, (1, 2, 3)), served(2), 0),
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_field_case_has_its_right_values(name: str) -> None:
    pages, page_size, group, script = CASES[name]
    traits = committing(pages, page_size, group)
    run = ManagerLockstep(PrefixManager(traits), initial(traits))
    for operation, answer, left in script:
        assert run.apply(operation) == (), operation
        assert (run.outcome, available(run.state)) == (answer, left), operation


def test_s12_a_window_lets_the_first_row_go_when_the_eighth_is_written() -> None:
    traits = committing(12, 1, window(8))
    run = ManagerLockstep(PrefixManager(traits), initial(traits))
    assert run.apply(Admit(A, (1,) * 6)) == run.apply(Commit(A)) == ()
    for first_kept in (0, 1, 2):
        assert run.apply(Append(A, (2,))) == run.apply(Commit(A)) == ()
        (table,) = run.seen.snapshot.requests[A].tables
        assert [page is None for page in table] == [row < first_kept for row in range(len(table))]
