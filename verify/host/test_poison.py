"""Whatever bytes lie outside the rows that a next step reads, every result stays: HOST-POISON, at any moment."""

import pytest

from verify.host.case import HostCase
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback
from verify.host.poison import PATTERNS, overwrite, read_next, within_reach
from verify.host.recorder import paged_store_of

PROMPT = (3, 14, 1, 5, 9, 2, 6, 11, 8, 7, 0, 15)

FORWARD: tuple[HostOperation, ...] = (
    Admit(0, PROMPT, window=4, chunk=3),
    Admit(1, PROMPT[:5], window=1),
    *(Advance(request) for request in (0, 1, 0, 1, 0)),
    Admit(2, PROMPT[3:], window=6, sinks=2, margin=3, chunk=4),
    Admit(3, PROMPT[:3]),
    *(Advance(request) for request in (2, 0, 3, 2, 3)),
    ForkRequest(0, 4),
    ForkRequest(2, 5, token=1, padded=True),
    *(Advance(request) for request in (4, 0, 5, 2, 1) * 4),
    End(0),
    *(Advance(request) for request in (4, 3, 2, 5) * 3),
)
"""Windows, sinks, a margin, chunks, forks: all but cuts, for which a row that the next step does not read may matter."""

WITH_CUTS: tuple[HostOperation, ...] = (
    Admit(0, PROMPT, window=3, margin=3, chunk=4),
    *(Advance(0) for _ in range(6)),
    Rollback(0, 12),
    Advance(0),
    ForkRequest(0, 1, 12, token=4),
    *(Advance(request) for request in (1, 0) * 4),
    Rollback(0, 14),
    *(Advance(request) for request in (0, 1) * 4),
)


@pytest.mark.parametrize("page_size", [1, 2, 3, 4])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_s15_what_the_next_steps_do_not_read_may_be_overwritten_before_every_operation(
    pattern: str, page_size: int
) -> None:
    case = HostCase(48 // page_size, page_size)
    overwritten = 0
    for operation in FORWARD:
        overwritten += overwrite(case.run, pattern, read_next)
        case.do(operation)
    assert overwritten > 50, "of live requests, beside free pages and unwritten slots"


@pytest.mark.parametrize("page_size", [1, 2, 4])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_s15_what_no_fork_or_rollback_can_reach_may_be_overwritten_before_every_operation(
    pattern: str, page_size: int
) -> None:
    case = HostCase(48 // page_size, page_size)
    for operation in WITH_CUTS:
        overwrite(case.run, pattern, within_reach)
        case.do(operation)


def test_poison_reaches_all_of_the_pool_but_what_is_read() -> None:
    case = HostCase(6, 3)
    case.do(Admit(0, PROMPT, window=4, chunk=11), Advance(0), ForkRequest(0, 1))
    assert read_next(case.run.state) == {0: {8, 9, 10}, 1: {8, 9, 10}}
    assert overwrite(case.run, "highest", read_next) == 2, "rows 6 and 7 share a page with 8"
    store = paged_store_of(case.run.paged)
    gathered = store.gather(0, ((6, 11),))
    assert [bool((row == 127).all()) for row in gathered.keys] == [True, True, False, False, False]
    assert int((store.cache.pool.kv != 127).any(axis=-1).sum()) == 2 * 3, "keys and values of 3 rows"


def test_reach_is_wider_than_the_next_step_where_a_rollback_is_allowed() -> None:
    case = HostCase(6, 3)
    case.do(Admit(0, PROMPT, window=4, margin=3, chunk=11), Advance(0))
    assert case.held_rows(0) == [3, 4, 5, 6, 7, 8, 9, 10]
    assert read_next(case.run.state)[0] == {8, 9, 10}
    assert within_reach(case.run.state)[0] == {3, 4, 5, 6, 7, 8, 9, 10}
