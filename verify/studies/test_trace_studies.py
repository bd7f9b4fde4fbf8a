"""The studies on request traces, by small traces whose right values are worked out by hand, and the formulas beside the table."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impl.command import CommandError
from impl.page_table import OutOfPages
from impl.pool_bound import most_pages
from impl.schedule import Figures, Schedule, ScheduleOptions
from impl.studies import trace_paging, trace_serving
from impl.studies.study import Cell, Chart, Findings, StudyTable
from impl.studies.trace_batches import Batch, batches_by_formula, contiguous_batches, paged_batches
from impl.studies.trace_cli import trace_job
from impl.studies.trace_formulas import held_by_formula, row_us, servable_rows
from impl.studies.trace_pages import HeldPages, held_on_page_table, held_pages
from impl.studies.trace_serving import serve
from impl.studies.trace_sharing import pools_of
from impl.studies.trace_study import TraceInputs, trace_study
from impl.traces import TraceError, TraceRequest
from spec.operations import Operation, Outcome
from spec.page_table import initial, step

TEN_MS = ScheduleOptions(page_size=4, ms_per_token=10)
TWO = [TraceRequest(0, 5, 3), TraceRequest(15, 4, 1)]


def stair(held: HeldPages) -> list[tuple[int, int]]:
    """Milliseconds and the pages held from then on."""
    return [(time // 1000, pages) for time, pages in zip(held.times_us.tolist(), held.pages.tolist(), strict=True)]


def row_by_row(
    requests: list[TraceRequest], options: ScheduleOptions, pages: int | None = None
) -> tuple[HeldPages, Figures]:
    """The pages that the oracle holds through the whole schedule, an operation for each row, and what became of the requests."""
    state = initial(most_pages(requests, options) if pages is None else pages, options.page_size)
    times, held = [], []
    schedule = Schedule(requests, options)

    def drive(operation: Operation) -> Outcome:
        nonlocal state
        state, outcome = step(state, operation)
        times.append(schedule.now_us)
        held.append(state.used)
        return outcome

    figures = schedule.run(drive)
    return held_pages(times, held, max(held, default=0)), figures


def test_pages_are_held_from_their_first_row_to_the_end_of_the_request() -> None:
    """The first has two pages to 30 ms; the second one page, and at 25 ms, when its last row comes, another for a moment."""
    held = held_on_page_table(TWO, TEN_MS)
    assert stair(held) == [(0, 2), (15, 3), (25, 2), (30, 0)]
    assert (held.peak, held.settled_peak) == (4, 3)
    assert held.page_us == (2 * 15 + 3 * 10 + 2 * 5) * 1000
    assert held.mean() == 70 / 30
    assert row_us(TWO, 10) == (5 * 10 + 6 * 10 + 7 * 10 + 4 * 10) * 1000


def test_a_window_keeps_the_pages_that_the_next_step_reads() -> None:
    """9 rows fill 5 pages of 2; the next step reads from row 6 on, so 2 stay. Row 11 starts a page before one goes."""
    held = held_on_page_table([TraceRequest(0, 9, 3)], ScheduleOptions(2, window=4, ms_per_token=10))
    assert stair(held) == [(0, 2), (30, 0)]
    assert (held.peak, held.settled_peak) == (5, 2)
    later = held_on_page_table([TraceRequest(0, 1, 11)], ScheduleOptions(2, window=4, ms_per_token=10))
    assert (later.peak, later.settled_peak) == (3, 2)


def test_the_most_within_parts_of_the_time() -> None:
    held = held_on_page_table(TWO, TEN_MS)
    edges = np.array([-10_000, 0, 12_000, 24_000, 28_000, 40_000])
    assert held.most_within(edges).tolist() == [0, 2, 3, 3, 2]


LIVES = st.lists(
    st.builds(TraceRequest, st.integers(0, 60), st.integers(0, 20), st.integers(0, 12)), min_size=1, max_size=6
)
OPTIONS = st.builds(ScheduleOptions, st.integers(1, 5), st.none() | st.integers(1, 12), st.sampled_from([1, 7, 10]))


@given(LIVES, OPTIONS)
@settings(max_examples=150)
def test_page_table_formula_and_every_row_on_the_oracle_agree(
    requests: list[TraceRequest], options: ScheduleOptions
) -> None:
    held = held_on_page_table(requests, options)
    assert held.same_as(held_by_formula(requests, options))
    assert held.same_as(row_by_row(requests, options)[0])


@pytest.mark.parametrize("other", [ScheduleOptions(4, 6, 10), ScheduleOptions(4, 3, 11), ScheduleOptions(3, 3, 10)])
def test_another_window_time_or_page_is_seen_as_a_difference(other: ScheduleOptions) -> None:
    held = held_on_page_table(TWO, ScheduleOptions(4, 3, 10))
    assert held.same_as(held_by_formula(TWO, ScheduleOptions(4, 3, 10)))
    assert not held.same_as(held_by_formula(TWO, other))


def test_requests_are_held_together_until_one_does_not_fit() -> None:
    """In 4 pages of 4 rows: 5 and 3 rows take 3 pages, 9 and 2 take 4, and the last row is left over."""
    lengths = [TraceRequest(0, rows - 1, 1) for rows in (5, 3, 9, 2, 1)]
    expected = [Batch(2, 8), Batch(2, 11)]
    assert paged_batches(lengths, 4, 4) == batches_by_formula(lengths, 4, 4) == expected
    assert contiguous_batches(lengths, 2) == expected
    assert paged_batches(lengths, 3, 4) == batches_by_formula(lengths, 3, 4) == [Batch(2, 8), Batch(1, 9)]
    for batches in (paged_batches, batches_by_formula):
        with pytest.raises(OutOfPages):
            batches(lengths, 2, 4)


A = TraceRequest(0, 1200, 100, (1, 2, 3))


def test_whole_blocks_of_an_earlier_prompt_are_served_but_never_the_last_row() -> None:
    requests = [A, TraceRequest(2000, 1300, 1, (1, 2, 9)), TraceRequest(3000, 1024, 1, (1, 2)), TraceRequest(9, 600, 0)]
    run = serve(requests, 16, 10)
    assert (run.asked, run.served) == (1200 + 1300 + 1024 + 600, 1024 + 512)
    assert servable_rows(requests) == 1024 + 512
    assert servable_rows([TraceRequest(0, 1024, 0, (1, 2)), TraceRequest(1, 2048, 0, (2, 1, 2, 9))]) == 0


@pytest.mark.parametrize(("pages", "served"), [(3, 0), (4, 512), (5, 1024)])
def test_a_published_page_serves_until_it_is_needed(pages: int, served: int) -> None:
    """The first leaves 2 pages behind, the next takes 3, of those behind the later one first; the third wants both."""
    requests = [A, TraceRequest(2000, 1536, 0, (7, 8, 6)), TraceRequest(3000, 1300, 0, (1, 2, 9))]
    run = serve(requests, pages, 10)
    assert run.served == served
    assert (run.waited, run.preempted, run.rejected, run.most_running) == (0, 0, 0, 1)


def test_pages_that_two_running_requests_name_are_held_once() -> None:
    """Each has 3 pages for a second, the second one half a second later, and 2 of them are the first one's."""
    run = serve([A, TraceRequest(500, 1300, 100, (1, 2, 9))], 16, 10)
    assert stair(run.named) == [(0, 3), (500, 6), (1000, 3), (1500, 0)]
    assert stair(run.held) == [(0, 3), (500, 4), (1000, 3), (1500, 0)]
    assert run.saved == pytest.approx(100 * (6000 - 5000) / 6000)


def test_a_row_without_a_page_preempts_the_newest_request_which_starts_again() -> None:
    """At 10 ms the first wants a fifth page of 4. The second starts again when it ends, at 20, and ends at 40."""
    run = serve([TraceRequest(0, 1024, 2, (1, 2)), TraceRequest(1, 1024, 2, (3, 4))], 4, 10)
    assert (run.preempted, run.waited, run.rejected, run.most_running) == (1, 0, 0, 2)
    assert (run.asked, run.served) == (2048, 0), "what is computed again was not asked for again"
    assert stair(run.held) == [(0, 2), (1, 4), (10, 3), (20, 2), (30, 3), (40, 0)]


def test_requests_wait_in_order_and_what_never_fits_is_rejected() -> None:
    requests = [TraceRequest(0, 1000, 2), TraceRequest(1, 1000, 1), TraceRequest(2, 1025, 1), TraceRequest(3, 1024, 1)]
    run = serve(requests, 2, 10)
    assert (run.waited, run.rejected, run.most_running) == (3, 2, 1)
    assert stair(run.held)[-1][0] == 30 + 10, (
        "the last one starts when the second has ended and is rejected as it grows"
    )


@given(LIVES, st.integers(1, 9), st.sampled_from([1, 7, 10]))
@settings(max_examples=150)
def test_a_short_pool_goes_through_the_schedule_row_by_row(requests: list[TraceRequest], pages: int, ms: int) -> None:
    """Without blocks nothing is shared, so the prefix cache holds at every moment what the oracle holds; pages of 4 rows."""
    requests = [replace(request, prompt=request.prompt + 1) for request in requests]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_serving, "BLOCK_ROWS", 4)
        run = serve(requests, pages, ms)
    held, figures = row_by_row(requests, ScheduleOptions(4, None, ms), pages)
    assert (run.waited, run.preempted, run.rejected) == (figures.waited, figures.preempted, figures.rejected)
    assert run.held.same_as(replace(settled(held), peak=run.held.peak))


def settled(held: HeldPages) -> HeldPages:
    """The same without what is held for a moment only."""
    return replace(held, peak=held.settled_peak)


@given(
    st.lists(
        st.builds(
            TraceRequest,
            st.integers(0, 200),
            st.integers(1, 1600),
            st.integers(0, 700),
            st.lists(st.integers(0, 1), max_size=3).map(tuple),
        ),
        max_size=6,
    ),
    st.integers(1, 9),
)
@settings(max_examples=60)
def test_every_run_ends_and_a_pool_that_is_never_short_serves_what_the_formula_says(
    requests: list[TraceRequest], pages: int
) -> None:
    short = serve(requests, pages, 1)
    assert not short.held.pages[-1:].any()
    assert not short.named.pages[-1:].any()
    run = serve(requests, 64, 1)
    assert run.served == servable_rows(requests)
    assert (run.waited, run.preempted, run.rejected) == (0, 0, 0)
    assert run.named.same_as(settled(held_by_formula(requests, ScheduleOptions(512, None, 1))))


def mooncake(folder: Path, requests: list[TraceRequest]) -> Path:
    path = folder / "trace.jsonl"
    keys = ("timestamp", "input_length", "output_length", "hash_ids")
    lines = (dict(zip(keys, (r.arrival_ms, r.prompt, r.output, r.blocks), strict=True)) for r in requests)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def study_of(path: Path, **inputs: Any) -> tuple[Findings, list[tuple[str, int, int]]]:
    told: list[tuple[str, int, int]] = []
    small = TraceInputs(path, (1, 4), 4, (3,), ms_per_token=10.0, slots=2)
    return trace_study(replace(small, **inputs), lambda *word: told.append(word)), told


def of(findings: Findings, name: str) -> StudyTable:
    (table,) = (table for table in findings.tables if table.name == name)
    return table


def column(table: StudyTable, name: str) -> list[Cell]:
    at = [column.name for column in table.columns].index(name)
    return [row[at] for row in table.rows]


def test_the_study_of_a_trace_without_blocks(tmp_path: Path) -> None:
    """TWO again: 70 pages times ms of 4 rows, of which 220 rows times ms are there; a window of 3 lets one page go at 10 ms."""
    path = tmp_path / "trace.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,5,3\n2023-11-16 18:15:46.015,4,1\n")
    findings, told = study_of(path)
    assert [table.name for table in findings.tables] == ["requests", "windows", "pages", "held"]
    assert of(findings, "requests").rows[2] == ("both", 13, 6.5, 8, 8)
    pages = of(findings, "pages")
    assert column(pages, "most pages") == [12, 4]
    assert column(pages, "reserved but unused") == [0.0, pytest.approx(100 * 60 / 280)]
    assert column(pages, "counted by") == ["page table = formula"] * 2
    assert column(of(findings, "windows"), "of those without a window") == [100.0, pytest.approx(100 * 50 / 70)]
    assert column(of(findings, "held"), "batches") == [1, 0, 0]
    (held,) = (chart for chart in findings.charts if chart.name == "held")
    assert isinstance(held, Chart)
    assert held.categories == ("contiguous\n8 rows each",), "in pages the whole trace fits"
    assert any("no block ids" in note for note in findings.notes)
    assert [done for _, done, _ in told] == list(range(1, told[-1][2] + 1))


def test_the_study_of_a_trace_with_blocks(tmp_path: Path) -> None:
    """Three pages of a block at once, so the pools are 2, 4, ... 64 pages; the first has no room for 3."""
    path = mooncake(tmp_path, [A, TraceRequest(2000, 1300, 1, (1, 2, 9))])
    findings, told = study_of(path, page_sizes=(512,), page_size=512)
    sharing = of(findings, "sharing")
    assert [row[0] for row in sharing.rows] == [2, 4, 8, 16, 32, 64]
    assert column(sharing, "rows served") == [0] + [1024] * 5
    assert column(sharing, "prompt rows served")[-1] == pytest.approx(100 * 1024 / 2500)
    assert column(sharing, "never fit") == [2] + [0] * 5
    chart = next(chart for chart in findings.charts if isinstance(chart, Chart) and chart.name == "sharing")
    assert chart.series[0].x == tuple(512.0 * pages for pages in (2, 4, 8, 16, 32, 64))
    assert told[-1][1] == told[-1][2]
    chosen, _ = study_of(path, page_sizes=(512,), pool_pages=(3,))
    assert [row[0] for row in of(chosen, "sharing").rows] == [3]


def test_a_trace_that_is_too_long_for_the_page_table_is_counted_by_the_formulas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mooncake(tmp_path, [TraceRequest(1.0 * at, 40, 8) for at in range(9)])
    driven, _ = study_of(path)
    monkeypatch.setattr(trace_paging, "MOST_ENTRIES", 0)
    counted, _ = study_of(path)
    assert column(of(counted, "pages"), "counted by") == ["formula"] * 2
    assert [row[:-1] for row in of(counted, "pages").rows] == [row[:-1] for row in of(driven, "pages").rows]
    assert of(counted, "held").rows == of(driven, "held").rows


def test_a_formula_that_differs_from_the_page_table_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(requests: list[TraceRequest], options: ScheduleOptions) -> HeldPages:
        return held_by_formula(requests, replace(options, page_size=options.page_size + 1))

    monkeypatch.setattr(trace_paging, "held_by_formula", wrong)
    findings, _ = study_of(mooncake(tmp_path, TWO))
    assert column(of(findings, "pages"), "counted by")[1] == "page table; the formula differs, most 3"


@pytest.mark.parametrize("text", ["", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "TIMESTAMP,ContextTokens\n1,2\n"])
def test_a_file_that_is_no_trace_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match=r"trace\.csv.*(expected|no request has any rows)") as error:
        study_of(path)
    assert "\n" not in str(error.value)
    with pytest.raises(CommandError, match=re.escape(str(error.value))):
        trace_job(TraceInputs(path))(lambda what, done, of: None)


@pytest.mark.parametrize(
    "wrong", [{"page_sizes": (0,)}, {"page_sizes": ()}, {"windows": (0,)}, {"slots": 0}, {"ms_per_token": 0.0}]
)
def test_numbers_out_of_range_are_no_inputs(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at least|milliseconds"):
        replace(TraceInputs(Path("trace")), **wrong)


def test_pools_are_powers_of_two_from_the_most_that_is_held() -> None:
    assert pools_of([TraceRequest(0, 512 * 5, 1)], 50) == (4, 8, 16, 32, 64, 128)
