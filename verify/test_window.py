"""The host's window rule against the oracle's, and against a page table that really decodes under it."""

import pytest

from impl import window as host
from spec import window as oracle
from spec.operations import Append, New, Trim
from spec.page_table import initial
from verify.lockstep import Lockstep
from verify.targets.shipped import ShippedCache

WINDOWS = (None, 1, 2, 3, 4, 5, 7, 8, 9, 16)


@pytest.mark.parametrize("window", WINDOWS)
def test_the_host_gathers_and_trims_what_the_oracle_says(window: int | None) -> None:
    """WIN-1, WIN-2, WIN-3 and, with sinks, WIN-6."""
    for step in range(1, 60):
        assert host.context(step, window) == oracle.context(step, window)
        for sinks in range(window or 5):
            assert host.gather_ranges(step, window, sinks) == oracle.rows_read(step, window, sinks)
            assert host.keep_from(step, window, sinks) == oracle.keep_from(step, window, sinks)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("page_size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("sinks", [0, 1, 3])
def test_the_pages_of_a_windowed_decode_are_exactly_counted(window: int | None, page_size: int, sinks: int) -> None:
    """WIN-4 and WIN-6 at every step; WIN-5 as the largest count of a run without sinks."""
    if window is not None and sinks >= window:
        return
    run = Lockstep(ShippedCache(48, page_size), initial(48, page_size))
    assert not run.apply(New(0, sinks))
    before_trim = after_trim = 0
    for step in range(1, 41):
        assert len(run.state.requests[0].cells) == oracle.pages_before_append(step, window, page_size, sinks)
        assert not run.apply(Append(0, (step,)))
        before_trim = max(before_trim, len(run.state.requests[0].cells))
        assert not run.apply(Trim(0, host.keep_from(step, window, sinks)))
        after_trim = max(after_trim, len(run.state.requests[0].cells))
    if window is not None and not sinks:
        assert before_trim == oracle.bound_after_append(window, page_size)
        assert after_trim == oracle.bound_after_trim(window, page_size)


@pytest.mark.parametrize(("step", "window", "sinks"), [(0, None, 0), (1, 0, 0), (1, -3, 0), (1, 4, 4), (1, 4, -1)])
def test_a_window_outside_its_range_is_refused_by_host_and_oracle(step: int, window: int | None, sinks: int) -> None:
    with pytest.raises(ValueError):
        host.keep_from(step, window, sinks)
    with pytest.raises(ValueError):
        oracle.keep_from(step, window, sinks)
