"""Rolling back and forking where trimmed rows may be missing: what is allowed, what is left, and that nothing else changes."""

import pytest

from spec.page_table import Request, released
from spec.window import rows_read
from verify.host.case import HostCase, integers
from verify.host.operations import Admit, Advance, End, ForkRequest, Rollback

TEN = (3, 14, 1, 5, 9, 2, 6, 11, 8, 7)


def test_s9_a_rollback_whose_next_step_needs_released_rows_is_refused() -> None:
    """P 1, W 4: rows 5 and 6 are gone, which step 9 would read; the page table alone would truncate to 8."""
    case = HostCase(12, 1)
    case.do(Admit(0, TEN, window=4, chunk=10), Advance(0))
    assert case.held_rows(0) == [7, 8, 9]
    case.refuse(Rollback(0, 8), "RowsReleased")
    case.refuse(ForkRequest(0, 1, 8), "RowsReleased")
    assert (case.rows(0), case.held_rows(0)) == (10, [7, 8, 9])


def test_s9_with_a_margin_of_two_the_rollback_is_allowed() -> None:
    case = HostCase(12, 1)
    case.do(Admit(0, TEN, window=4, margin=2, chunk=10), Advance(0))
    case.refuse(Rollback(0, 7), "RowsReleased")
    case.do(Rollback(0, 8))
    assert (case.rows(0), case.held_rows(0)) == (8, [5, 6, 7])
    assert case.tokens(0) == TEN, "tokens of the prompt stay"


@pytest.mark.parametrize(
    ("page_size", "window", "sinks", "margin", "legal"),
    [
        (1, 4, 0, 0, [0, 12]),
        (1, 4, 0, 2, [0, 10, 11, 12]),
        (2, 4, 0, 0, [0, 11, 12]),
        (4, 4, 0, 0, [0, 11, 12]),
        (2, 5, 2, 0, [0, 1, 2, 12]),
        (2, 5, 1, 0, [0, 1, 2, 11, 12]),
        (3, 5, 1, 1, [0, 1, 2, 3, 9, 10, 11, 12]),
        (2, 1, 0, 0, [0, 12]),
        (5, 1, 0, 0, [0, 10, 11, 12]),
        (4, 1, 0, 3, [0, 8, 9, 10, 11, 12]),
        (3, None, 0, 0, list(range(13))),
    ],
)
def test_a_cut_is_allowed_exactly_where_the_next_step_finds_its_rows(
    page_size: int, window: int | None, sinks: int, margin: int, legal: list[int]
) -> None:
    """For rollback and fork alike (HOST-ROLLBACK); `legal` was worked out from the released rows by hand."""

    def grown() -> HostCase:
        case = HostCase(32, page_size)
        case.do(Admit(0, (*TEN, 12, 4), window, sinks, margin, chunk=12), Advance(0))
        return case

    for rows in range(13):
        case = grown()
        if rows in legal:
            case.do(ForkRequest(0, 1, rows), Advance(1), Rollback(0, rows), Advance(0))
            assert case.tokens(0) == case.tokens(1)
        else:
            case.refuse(ForkRequest(0, 1, rows), "RowsReleased")
            case.refuse(Rollback(0, rows), "RowsReleased")
        request = grown().run.state.cache.requests[0]
        assert (rows in legal) == finds_its_rows(request, page_size, rows, window, sinks)
    for rows in (-1, 13):
        grown().refuse(Rollback(0, rows), "BadArgument")


def finds_its_rows(request: Request, page_size: int, rows: int, window: int | None, sinks: int) -> bool:
    """Every row that step rows + 1 reads is held, and the cut does not end inside the released rows."""
    first, stop = (page * page_size for page in released(request, page_size))
    gone = set(range(first, stop))
    read = {row for lo, hi in rows_read(rows + 1, window, sinks) for row in range(lo, hi)}
    return not gone & read and not first < rows < stop


def test_what_is_decoded_after_a_rollback_is_what_was_decoded_before() -> None:
    case = HostCase(16, 2)
    case.do(Admit(0, TEN[:4], window=5, margin=4, chunk=4))
    case.advance(0, 4)
    first = integers(case.advance(0, 4))
    case.do(Rollback(0, 7))
    assert integers(case.advance(0, 4)) == first


def test_a_given_token_replaces_what_follows() -> None:
    case = HostCase(16, 2)
    case.do(Admit(0, TEN[:4], window=5, margin=9, chunk=4))
    case.advance(0, 4)
    before = case.tokens(0)
    replaced = (before[5] + 1) % 16
    case.do(Rollback(0, 5, replaced))
    assert case.tokens(0) == (*before[:5], replaced)
    (record,) = case.advance(0)
    assert (record.step, record.fed) == (6, (replaced,))
    case.do(Rollback(0, 2, token=15))
    assert case.tokens(0) == (*TEN[:2], 15), "of the prompt too"
    case.refuse(Rollback(0, 1, token=16), "BadArgument")


def test_a_rollback_to_all_rows_changes_nothing() -> None:
    case = HostCase(16, 2)
    case.do(Admit(0, TEN, window=3, chunk=4), Advance(0), Advance(0))
    before = case.tokens(0), case.rows(0), case.held_rows(0)
    case.do(Rollback(0, 8))
    assert (case.tokens(0), case.rows(0), case.held_rows(0)) == before


def test_a_rollback_into_the_prompt_feeds_the_rest_of_it_again_in_chunks() -> None:
    case = HostCase(16, 2)
    case.do(Admit(0, TEN, chunk=4))
    case.advance(0, 5)
    case.do(Rollback(0, 3))
    assert case.tokens(0) == TEN
    assert [record.fed for record in case.advance(0, 2)] == [TEN[3:7], TEN[7:]]


def test_a_rollback_of_one_owner_leaves_the_shared_rows_to_the_other() -> None:
    case = HostCase(8, 2)
    case.do(Admit(0, TEN[:5], chunk=5), Advance(0), ForkRequest(0, 1), Rollback(0, 1), Advance(0))
    assert (case.rows(0), case.rows(1), case.used()) == (5, 5, 3 + 3)
    alone = HostCase(8, 2)
    alone.do(Admit(1, TEN[:5], chunk=5), Advance(1))
    assert integers(case.advance(1, 3)) == integers(alone.advance(1, 3))


def test_a_fork_goes_on_as_its_source_would_and_disturbs_it_not() -> None:
    """Mid-decode, trimmed, its last page shared and copied by whoever writes first."""
    alone = HostCase(16, 3)
    alone.do(Admit(0, TEN[:4], window=4, chunk=4))
    truth = integers(alone.advance(0, 9))[4:]
    for first, second in ((0, 1), (1, 0)):
        case = HostCase(16, 3)
        case.do(Admit(0, TEN[:4], window=4, chunk=4))
        case.advance(0, 4)
        case.do(ForkRequest(0, 1))
        both = [integers(case.advance(request)) for _ in range(5) for request in (first, second)]
        assert [step for (step,) in both[0::2]] == [step for (step,) in both[1::2]] == truth


def test_a_padded_fork_fills_the_source_and_copies_no_page() -> None:
    """HOST-PAD: the pads are rows of the source that attention sees; what was next stays next."""
    case = HostCase(16, 4, pad=13)
    case.do(Admit(0, TEN[:6], window=4, chunk=6))
    case.advance(0, 1)
    tokens = case.tokens(0)
    case.do(ForkRequest(0, 1, padded=True))
    padded = (*tokens[:6], 13, 13, *tokens[6:])
    assert (case.rows(0), case.tokens(0), case.tokens(1)) == (8, padded, padded)
    used = case.used()
    case.advance(0)
    case.advance(1)
    assert case.used() == used + 2, "a page each for row 8, none copied"
    plain = HostCase(16, 4)
    plain.do(Admit(0, padded, window=4, chunk=9))
    assert integers(plain.advance(0)) == integers(case.records[1:2]) == integers(case.records[2:])


def test_a_padded_fork_at_the_end_of_a_page_is_a_fork() -> None:
    case = HostCase(16, 2, pad=13)
    case.do(Admit(0, TEN[:4], chunk=4), Advance(0), ForkRequest(0, 1, token=5, padded=True))
    assert (case.rows(0), case.rows(1), case.tokens(1)) == (4, 4, (*TEN[:4], 5))
    case.refuse(ForkRequest(0, 2, at=4, padded=True), "BadArgument")


def test_a_padded_fork_that_finds_no_page_to_copy_to_changes_nothing() -> None:
    case = HostCase(2, 2)
    case.do(Admit(0, TEN[:3], chunk=3), Advance(0), ForkRequest(0, 1))
    case.refuse(ForkRequest(0, 2, padded=True), "OutOfPages")
    case.do(End(1), ForkRequest(0, 2, padded=True))
