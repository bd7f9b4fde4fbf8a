"""Admission by expected length, against a peak found by growing the request in a page table."""

import pytest

from verify.decode.oracle import gathered
from verify.host import oracle as host_oracle
from verify.host.admission_checks import check_long_growths, check_peak_defaults, check_peaks, growths
from verify.host.case import HostCase
from verify.host.operations import Admit, Advance, End, ForkRequest

PROMPT = tuple(token * 5 % 16 for token in range(11))


def test_the_peak_is_what_growing_the_request_shows() -> None:
    differences, asked = gathered([check_peaks(growths()), check_peak_defaults(), check_long_growths()])
    assert differences == []
    assert asked > 8_000


@pytest.mark.parametrize(
    ("window", "sinks", "margin", "chunk"),
    [(None, 0, 0, 3), (4, 0, 0, 4), (3, 0, 2, 1), (6, 2, 0, 5), (7, 4, 1, 2), (1, 0, 0, 2)],
)
@pytest.mark.parametrize("page_size", [1, 2, 3])
def test_the_peak_is_enough_and_one_page_fewer_is_refused(
    window: int | None, sinks: int, margin: int, chunk: int, page_size: int
) -> None:
    """HOST-ADMIT: at the peak all expected rows are decoded, with the whole pool in use at least once."""
    admit = Admit(0, PROMPT, window, sinks, margin, chunk, expected=19)
    peak = host_oracle.peak_pages(19, page_size, window, sinks, margin, len(PROMPT), chunk)
    case = HostCase(peak, page_size)
    case.do(admit)
    while case.rows(0) < 19:
        case.advance(0)
    assert max(record.pages_appended for record in case.records) == peak
    if peak > 1:
        small = HostCase(peak - 1, page_size)
        small.refuse(admit, "NotAdmitted")
        assert (small.run.paged.requests(), small.used()) == ((), 0)


def test_live_requests_keep_what_they_declared_or_hold() -> None:
    """6 pages of 2 rows: 0 declares 3 pages, 1 holds 1 and declares nothing, so 2 are left."""
    case = HostCase(6, 2)
    case.do(Admit(0, PROMPT[:1], window=4, expected=30), Admit(1, PROMPT[:2], chunk=2), Advance(1))
    case.refuse(Admit(2, PROMPT[:1], expected=5), "NotAdmitted")
    case.do(Admit(2, PROMPT[:1], expected=4), End(2))
    case.advance(1)
    case.refuse(Admit(2, PROMPT[:1], expected=4), "NotAdmitted")
    case.do(Admit(2, PROMPT[:1], expected=2))
    case.do(End(0), Admit(0, PROMPT[:3], window=4, expected=30))


def test_a_fork_declares_nothing() -> None:
    case = HostCase(4, 2)
    case.do(Admit(0, PROMPT[:2], expected=4, chunk=2), Advance(0), ForkRequest(0, 1))
    case.do(Admit(2, PROMPT[:1], expected=2))
    case.refuse(Admit(3, PROMPT[:1], expected=2), "NotAdmitted")


def test_a_request_that_declares_no_length_is_admitted_to_a_full_pool() -> None:
    case = HostCase(1, 2)
    case.do(Admit(0, PROMPT[:2], chunk=2), Advance(0), Admit(1, PROMPT))
    case.refuse(Admit(2, PROMPT[:1], expected=1), "NotAdmitted")
    case.refuse(Advance(1), "OutOfPages")


@pytest.mark.parametrize("page_size", [1, 2, 3])
def test_requests_that_were_admitted_never_run_out_of_pages_on_the_way(page_size: int) -> None:
    """Four of them together in a pool of just their peaks, interleaved in three orders."""
    shapes = ((None, 0, 0, 3, 9), (3, 0, 1, 4, 21), (5, 2, 0, 2, 17), (1, 0, 0, 1, 14))
    admits = [
        Admit(request, PROMPT[:8], window, sinks, margin, chunk, expected)
        for request, (window, sinks, margin, chunk, expected) in enumerate(shapes)
    ]
    pages = sum(
        host_oracle.peak_pages(expected, page_size, window, sinks, margin, 8, chunk)
        for window, sinks, margin, chunk, expected in shapes
    )
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (1, 1, 2, 0, 2, 3)):
        case = HostCase(pages, page_size)
        case.do(*admits)
        while growing := [request for request in order if case.rows(request) < shapes[request][4]]:
            for request in growing:
                if case.rows(request) < shapes[request][4]:
                    case.advance(request)


def test_a_request_that_grows_past_what_it_expected_may_run_out() -> None:
    case = HostCase(2, 2)
    case.do(Admit(0, PROMPT[:4], chunk=4, expected=4), Advance(0))
    case.refuse(Advance(0), "OutOfPages")
