"""Corners of the schedule, of the bound on its pages, of the reader, and of the window rule that it trims by."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl import window as host
from impl.pool_bound import longest_table, most_pages
from impl.schedule import ScheduleOptions
from impl.traces import TraceError, TraceRequest, read_trace
from spec.operations import Append
from spec.window import bound_after_append
from verify.traces.test_traces import HEADER, issued, starts_and_ends, write


def test_a_block_that_follows_another_is_no_first_block() -> None:
    requests = [TraceRequest(0, 1024, 1, (1, 2)), TraceRequest(9, 512, 1, (2,))]
    assert starts_and_ends(issued(requests, ScheduleOptions())[0]) == ["+0", "+1"]


def test_a_windowed_source_is_shared_for_as_long_as_it_has_its_first_page() -> None:
    """Request 0 has trimmed to row 14 of its first page of 16 when 1 comes, and to row 16 when 2 does; 1 holds it then."""
    requests = [TraceRequest(at, 20, 4, (1,)) for at in (0, 60, 120)]
    options = ScheduleOptions(page_size=16, window=8, hold=0)
    assert starts_and_ends(issued(requests, options)[0])[:3] == ["+0", "0+1", "1+2"]


def test_a_fork_of_one_row_counts_and_every_operation_does() -> None:
    operations, figures = issued([TraceRequest(time, 1, 1, (1,)) for time in (0, 1)], ScheduleOptions())
    assert (figures.forks, figures.forked_rows) == (1, 1)
    assert figures.operations == len(operations)


def test_the_bound_counts_an_aborted_request_only_until_its_end() -> None:
    requests = [TraceRequest(1000 * time, 8, 4, (time,)) for time in range(4)]
    assert most_pages(requests, ScheduleOptions(page_size=4, abort_every=1)) == 3


def test_a_waiting_request_starts_when_another_ends_and_is_held() -> None:
    requests = [TraceRequest(0, 8, 1, (1,)), TraceRequest(10, 8, 0)]
    operations, figures = issued(requests, ScheduleOptions(page_size=4), pages=3)
    assert starts_and_ends(operations) == ["+0", "+1", "-1", "+2", "-0", "-2"]
    assert (figures.done, figures.waited, figures.evicted) == (2, 1, 1)


def test_arrivals_are_told_apart_by_microseconds() -> None:
    requests = [TraceRequest(0.4, 2, 0), TraceRequest(0.399, 1, 0)]
    operations, _ = issued(requests, ScheduleOptions())
    assert [len(op.tokens) for op in operations if isinstance(op, Append)] == [1, 2]


@pytest.mark.parametrize("page_size", [1, 3, 4])
@pytest.mark.parametrize("window", [1, 2, 5, 9])
def test_the_longest_windowed_table_is_the_oracles_bound(window: int, page_size: int) -> None:
    """WIN-5."""
    options = ScheduleOptions(page_size=page_size, window=window)
    assert longest_table(1000, options) == bound_after_append(window, page_size)
    assert longest_table(1, options) == 1


def test_the_bound_of_nothing_is_one_page() -> None:
    assert most_pages([], ScheduleOptions()) == 1


def test_bytes_that_are_no_text_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(HEADER.encode() + b"\n\xff\xfe\n")
    with pytest.raises(TraceError, match=r"found b'.xff.xfe.n'$"):
        read_trace(path)


def test_signs_that_would_steer_a_terminal_are_not_shown_as_such(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}\n\x1b[31mred\n")
    with pytest.raises(TraceError, match=r"found .x1b\[31mred$"):
        read_trace(path)


@pytest.mark.parametrize("rule", [host.context, host.gather_ranges, host.keep_from])
@pytest.mark.parametrize(("step", "window"), [(0, None), (-1, 4), (1, 0), (1, -3)])
def test_every_host_rule_refuses_a_step_or_window_below_one(
    rule: Callable[..., Any], step: int, window: int | None
) -> None:
    with pytest.raises(ValueError, match="below 1"):
        rule(step, window)


@pytest.mark.parametrize("rule", [host.gather_ranges, host.keep_from])
@pytest.mark.parametrize(("window", "sinks"), [(4, 4), (4, -1), (None, -1)])
def test_every_host_rule_refuses_sinks_out_of_range(rule: Callable[..., Any], window: int | None, sinks: int) -> None:
    with pytest.raises(ValueError, match="sinks"):
        rule(1, window, sinks)
