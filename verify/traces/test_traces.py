"""The trace reader and the schedule, by small files and hand-derived orders of operations."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.pool_bound import most_pages
from impl.schedule import Figures, Schedule, ScheduleOptions
from impl.traces import TraceError, TraceRequest, read_trace
from spec.operations import Append, Fork, New, Operation, Outcome, Release, Trim
from spec.page_table import initial, step

AZURE = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:15:46.6805900,374,44\n"
    "\n"
    "2023-11-16 18:15:50.9951690,396,109\n"
)
MOONCAKE = (
    '{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [0, 1]}\n'
    '{"timestamp": 27000, "input_length": 512, "output_length": 1, "hash_ids": [0]}\n'
)


def write(folder: Path, text: str) -> Path:
    path = folder / "trace"
    path.write_bytes(text.encode())
    return path


def issued(
    requests: list[TraceRequest], options: ScheduleOptions, pages: int | None = None
) -> tuple[list[Operation], Figures]:
    """The operations of a schedule that the oracle answers, and its figures."""
    state = initial(most_pages(requests, options) if pages is None else pages, options.page_size)
    operations: list[Operation] = []

    def drive(operation: Operation) -> Outcome:
        nonlocal state
        state, outcome = step(state, operation)
        operations.append(operation)
        return outcome

    return operations, Schedule(requests, options).run(drive)


def starts_and_ends(operations: list[Operation]) -> list[str]:
    """`+0` where request 0 starts, `1+2` where 2 starts as a fork of 1, `-0` where 0 is released; the rest left out."""
    said = {
        New: lambda op: f"+{op.request}",
        Fork: lambda op: f"{op.request}+{op.to}",
        Release: lambda op: f"-{op.request}",
    }
    return [said[type(op)](op) for op in operations if type(op) in said]


@pytest.mark.parametrize("dressed", [AZURE, AZURE.replace("\n", "\r\n"), "\ufeff" + AZURE])
def test_an_azure_file_gives_arrivals_from_its_first_request(tmp_path: Path, dressed: str) -> None:
    assert read_trace(write(tmp_path, dressed)) == [TraceRequest(0.0, 374, 44), TraceRequest(4314.579, 396, 109)]


def test_a_mooncake_file_gives_the_blocks_of_each_prompt(tmp_path: Path) -> None:
    assert read_trace(write(tmp_path, MOONCAKE)) == [
        TraceRequest(0.0, 700, 5, (0, 1)),
        TraceRequest(27000.0, 512, 1, (0,)),
    ]


def test_lines_after_the_limit_are_not_read(tmp_path: Path) -> None:
    assert len(read_trace(write(tmp_path, MOONCAKE + "damaged\n"), limit=2)) == 2


def test_a_file_with_a_header_alone_has_no_requests(tmp_path: Path) -> None:
    assert read_trace(write(tmp_path, AZURE.splitlines()[0])) == []


HEADER, FIRST = AZURE.splitlines()[:2]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("", 1, "a CSV header with TIMESTAMP, ContextTokens, GeneratedTokens or a JSON object"),
        ("when,rows\n1,2\n", 1, "a CSV header with TIMESTAMP"),
        (f"{HEADER}\n{FIRST}\n2023-11-16 18:15:50,396\n", 3, "3 columns"),
        (f"{HEADER}\nyesterday,396,109\n", 2, "a date and time in TIMESTAMP"),
        (f"{HEADER}\n{FIRST}\n2023-11-16T18:15:50+00:00,3,1\n", 3, "a date and time in TIMESTAMP"),
        (f"{HEADER}\n\n2023-11-16 18:15:50,-1,109\n", 3, "ContextTokens of 0..10000000"),
        (f"{HEADER}\n2023-11-16 18:15:50,1,10000001\n", 2, "GeneratedTokens of 0..10000000"),
        (f"{HEADER}\n2023-11-16 18:15:50,1,1_0\n", 2, "GeneratedTokens of 0..10000000"),
        (f"{HEADER}\n2023-11-16 18:15:50,1,\u00b2\n", 2, "GeneratedTokens of 0..10000000"),
        (MOONCAKE.replace("512", "-1"), 2, "input_length of 0..10000000"),
        (MOONCAKE + "[1]\n", 3, "a JSON object with timestamp"),
        (MOONCAKE + '{"timestamp": 0}\n', 3, "a JSON object with timestamp, input_length, output_length, hash_ids"),
        (MOONCAKE + MOONCAKE[:40], 3, "a JSON object"),
        (MOONCAKE.replace("27000", "NaN"), 2, "milliseconds in timestamp"),
        (MOONCAKE.replace("27000", "true"), 2, "milliseconds in timestamp"),
        (MOONCAKE.replace("512", "512.5"), 2, "input_length of 0..10000000"),
        (MOONCAKE.replace('length": 1,', 'length": "1",'), 2, "output_length of 0..10000000"),
        (MOONCAKE.replace("[0]", '["0"]'), 2, "a list of integers in hash_ids"),
    ],
)
def test_a_malformed_line_is_named_with_what_was_expected(tmp_path: Path, text: str, line: int, expected: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(TraceError) as error:
        read_trace(path)
    assert str(error.value).startswith(f"{path}:{line}: expected {expected}")


def test_bytes_that_are_no_text_are_malformed(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(HEADER.encode() + b"\n\xff\xfe\n")
    with pytest.raises(TraceError, match=":2: expected text in UTF-8"):
        read_trace(path)


def test_a_prompt_is_one_append_and_each_output_row_another() -> None:
    operations, figures = issued([TraceRequest(0, 5, 2)], ScheduleOptions(page_size=4))
    assert operations == [New(0), Append(0, (0, 1, 2, 3, 4)), Append(0, (5,)), Append(0, (6,)), Release(0)]
    assert (figures.rows, figures.done) == (7, 1)


def test_rows_come_every_ms_per_token_and_before_arrivals_at_the_same_time() -> None:
    requests = [TraceRequest(0, 1, 2), TraceRequest(20, 1, 1), TraceRequest(10, 1, 1)]
    operations, _ = issued(requests, ScheduleOptions(ms_per_token=10))
    assert operations == [
        *(New(0), Append(0, (0,))),
        *(Append(0, (1,)), New(1), Append(1, (3,))),  # at 10, the second in time
        *(Append(0, (2,)), Release(0), Append(1, (4,)), Release(1), New(2), Append(2, (5,))),  # at 20
        *(Append(2, (6,)), Release(2)),
    ]


def test_a_windowed_request_trims_after_each_append() -> None:
    operations, _ = issued([TraceRequest(0, 5, 1)], ScheduleOptions(page_size=2, window=3))
    assert operations[1:] == [Append(0, (0, 1, 2, 3, 4)), Trim(0, 3), Append(0, (5,)), Trim(0, 4), Release(0)]


def test_a_prompt_starts_as_a_fork_at_its_shared_blocks() -> None:
    requests = [
        TraceRequest(0, 1200, 1, (1, 2, 3)),
        TraceRequest(9, 1300, 1, (1, 2, 9)),
        TraceRequest(9, 600, 1, (4, 2)),
    ]
    operations, figures = issued(requests, ScheduleOptions())
    assert operations[2:4] == [Fork(0, 1, 1024), Append(1, tuple(range(1201 + 1024, 1201 + 1300)))]
    assert operations[4] == New(2), "block 2 after another block is another prefix"
    assert (figures.forks, figures.forked_rows, figures.rows) == (1, 1024, 1201 + 277 + 601)


@pytest.mark.parametrize(("first", "second", "at"), [(1200, 1200, 1200), (1200, 1100, 1100), (1100, 1200, 1100)])
def test_a_partial_last_block_is_shared_up_to_the_shorter_prompt(first: int, second: int, at: int) -> None:
    requests = [TraceRequest(0, first, 1, (1, 2, 3)), TraceRequest(9999, second, 1, (1, 2, 3))]
    operations, figures = issued(requests, ScheduleOptions())
    assert operations[3] == Fork(0, 1, at)
    assert figures.rows == first + 1 + second - at + 1


def test_the_newest_holder_of_the_longest_prefix_is_the_source() -> None:
    blocks = [(1, 2), (1, 2, 3), (1, 2), (1, 2, 3, 4)]
    requests = [TraceRequest(time, 512 * len(ids), 1, ids) for time, ids in enumerate(blocks)]
    assert starts_and_ends(issued(requests, ScheduleOptions())[0]) == ["+0", "0+1", "1+2", "1+3"]


def test_a_source_that_trimmed_its_first_page_is_not_shared() -> None:
    requests = [TraceRequest(0, 20, 1, (1,)), TraceRequest(0, 20, 1, (1,))]
    assert starts_and_ends(issued(requests, ScheduleOptions(page_size=16, window=6))[0]) == ["+0", "0+1"]
    assert starts_and_ends(issued(requests, ScheduleOptions(page_size=16, window=5))[0]) == ["+0", "+1"]


def test_the_newest_ended_requests_stay_held() -> None:
    requests = [TraceRequest(1000 * time, 8, 1, (block,)) for time, block in enumerate((1, 2, 3, 1))]
    assert starts_and_ends(issued(requests, ScheduleOptions(hold=3))[0]) == ["+0", "+1", "+2", "0+3", "-0"]
    assert starts_and_ends(issued(requests, ScheduleOptions(hold=2))[0]) == ["+0", "+1", "+2", "-0", "+3", "-1"]
    assert starts_and_ends(issued(requests[:2], ScheduleOptions(hold=0))[0]) == ["+0", "-0", "+1", "-1"]


def test_held_requests_go_oldest_first_when_pages_are_needed() -> None:
    requests = [TraceRequest(1000 * time, 8, 1, (time,)) for time in range(3)]
    operations, figures = issued(requests, ScheduleOptions(page_size=4), pages=7)
    assert starts_and_ends(operations) == ["+0", "+1", "+2", "-0"]
    assert (figures.refused, figures.evicted, figures.waited) == (1, 1, 0)


def test_refused_requests_wait_in_arrival_order() -> None:
    """Request 0 has 2 of 3 pages. 1 needs 2 and waits; 2 needs the one that is free and waits behind it."""
    requests = [TraceRequest(0, 8, 3), TraceRequest(10, 8, 0), TraceRequest(20, 4, 0)]
    operations, figures = issued(requests, ScheduleOptions(page_size=4), pages=3)
    assert starts_and_ends(operations) == ["+0", "+1", "-1", "-0", "+2", "-2", "+3", "-3"]
    assert operations[-3:] == [New(3), Append(3, (19, 20, 21, 22)), Release(3)]
    assert (figures.waited, figures.refused, figures.done, figures.rows) == (2, 1, 3, 8 + 3 + 8 + 4)


def test_a_row_that_finds_no_page_preempts_the_newest_request_which_recomputes() -> None:
    """At 50 request 0 starts its third page; at 101 request 1 wants its third and, being the newest, goes back itself."""
    requests = [TraceRequest(0, 8, 4), TraceRequest(1, 7, 2)]
    operations, figures = issued(requests, ScheduleOptions(page_size=4), pages=5)
    assert starts_and_ends(operations) == ["+0", "+1", "-1", "-0", "+2", "-2"]
    appended = [len(op.tokens) for op in operations if isinstance(op, Append) and op.request == 2]
    assert appended == [8, 1], "seven rows of the prompt and one of its own, then the one that was refused"
    assert figures.preempted == 1
    assert figures.rows == 8 + 4 + 7 + 1 + 8 + 1


def test_an_older_request_preempts_a_newer_one() -> None:
    """Both have two of four pages; at 50 request 0 wants its third, and 1 gives way though it asks for nothing."""
    operations, figures = issued([TraceRequest(0, 8, 1), TraceRequest(1, 8, 1)], ScheduleOptions(page_size=4), pages=4)
    assert starts_and_ends(operations) == ["+0", "+1", "-1", "-0", "+2", "-2"]
    assert (figures.preempted, figures.done, figures.rows) == (1, 2, 9 + 8 + 9)


def test_a_windowed_request_recomputes_within_the_pages_that_it_had() -> None:
    requests = [TraceRequest(0, 1, 40), TraceRequest(1, 1, 40)]
    operations, figures = issued(requests, ScheduleOptions(page_size=1, window=3), pages=4)
    assert figures.preempted > 0
    assert figures.rejected == 0
    assert max(len(op.tokens) for op in operations if isinstance(op, Append)) == 1


def test_a_request_that_never_fits_is_rejected_and_the_next_one_runs() -> None:
    requests = [TraceRequest(0, 17, 1), TraceRequest(0, 8, 9), TraceRequest(0, 16, 0)]
    operations, figures = issued(requests, ScheduleOptions(page_size=4), pages=4)
    assert (figures.rejected, figures.done, figures.waited) == (2, 3, 1)
    assert figures.rows == 8 + 8 + 16, "the second is rejected at its seventeenth row"
    assert starts_and_ends(operations)[-2:] == ["+3", "-3"]


def test_every_nth_request_is_released_halfway_and_not_held() -> None:
    requests = [TraceRequest(1000 * time, 4, 5, (1,)) for time in range(2)]
    operations, figures = issued(requests, ScheduleOptions(abort_every=2))
    assert starts_and_ends(operations) == ["+0", "0+1", "-1"]
    assert (figures.aborted, figures.done, figures.rows) == (1, 2, 4 + 5 + 0 + 2)


@pytest.mark.parametrize(
    "wrong", [{"page_size": 0}, {"window": 0}, {"ms_per_token": -1}, {"hold": -1}, {"abort_every": -1}]
)
def test_numbers_out_of_range_are_no_options(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"not 0|-1"):
        ScheduleOptions(**wrong)


REQUESTS = st.lists(
    st.builds(
        TraceRequest,
        st.integers(0, 300),
        st.integers(0, 20),
        st.integers(0, 12),
        st.lists(st.integers(0, 1), max_size=2).map(tuple),
    ),
    max_size=8,
)
OPTIONS = st.builds(
    ScheduleOptions,
    st.integers(1, 4),
    st.none() | st.integers(1, 9),
    st.sampled_from([0, 7, 50]),
    st.integers(0, 3),
    st.integers(0, 3),
)


@given(REQUESTS, OPTIONS)
def test_the_bound_on_pages_is_never_short(requests: list[TraceRequest], options: ScheduleOptions) -> None:
    _, figures = issued(requests, options)
    assert (figures.refused, figures.evicted, figures.waited) == (0, 0, 0)


@given(REQUESTS, OPTIONS, st.integers(1, 12))
def test_every_schedule_ends_whatever_the_pool(
    requests: list[TraceRequest], options: ScheduleOptions, pages: int
) -> None:
    operations, figures = issued(requests, options, pages)
    assert figures.done == len(requests)
    tokens = [token for op in operations if isinstance(op, Append) for token in op.tokens]
    if not figures.refused:
        assert len(tokens) == len(set(tokens)) == figures.rows


def test_the_bound_is_the_peak_when_nothing_is_shared() -> None:
    """Two requests of 3 pages overlap; the third comes when one of them is over."""
    requests = [TraceRequest(0, 10, 2), TraceRequest(50, 9, 1), TraceRequest(101, 12, 0)]
    assert most_pages(requests, ScheduleOptions(page_size=4)) == 6
