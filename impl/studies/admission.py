"""What admission by an expected length risks: requests that turn out longer, and run out of pages on the way."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from impl.admission import NotAdmitted
from impl.decoder import Context, Step
from impl.host import Host
from impl.kv_cache import KVCache
from impl.page_table import OutOfPages
from impl.row_store import PagedStore
from impl.studies.request_lengths import request_lengths
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable

QUESTION = "How many requests does a pool admit by an expected length, and how many of them run out of pages later?"
WINDOW = 1
"""No step looks back; a margin of the longest request keeps every row held all the same."""

Expected = Callable[[int], int]
"""Rows that a request of this length is expected to hold."""


@dataclass(frozen=True, slots=True)
class AdmissionInputs:
    """Requests as the memory study draws them, admitted in order as if each came to hold one of the expected numbers of rows.

    The first seed goes with every page size, the others with the first page size and the last expected length.
    """

    pool_rows: int = 8192
    page_sizes: tuple[int, ...] = (16, 64)
    expected: tuple[int, ...] = (137, 194, 274)
    longest: int = 2048
    requests: int = 400
    seeds: tuple[int, ...] = (11, 12, 13, 14, 15, 16, 17, 18)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Requests admitted at once, those of them that ran out of pages, in which rounds, and the most pages in use."""

    held: int
    ran_out: int
    rounds: tuple[int, ...]
    most_pages: int


class RowsAlone:
    """A decoder without a model: who is admitted and who runs out follows from the pages alone."""

    width = vocabulary = 1

    def __init__(self) -> None:
        row = np.zeros(1, np.int8)
        self._step = Step(0, np.zeros(1, np.int32), row, row)

    def step(self, token: int, context: Context) -> Step:
        """The same row for every token."""
        return self._step


def admitted(pool_rows: int, page_size: int, lengths: tuple[int, ...], expected: Expected, leave: bool) -> Outcome:
    """Admit requests in order until the host refuses one, then let all grow by a row a round up to their real length.

    One that meets OutOfPages is counted and released. Who has grown up ends if they `leave`, and keeps its pages if not.
    """
    store = PagedStore(KVCache(pool_rows // page_size, page_size))
    host = Host(RowsAlone(), store)
    held = 0
    for request, length in enumerate(lengths):
        try:
            host.admit(request, [0], WINDOW, margin=max(lengths), expected_rows=expected(length))
        except NotAdmitted:
            break
        held += 1
    growing = list(range(held))
    rounds: list[int] = []
    most = number = 0
    while growing:
        number += 1
        for request in tuple(growing):
            try:
                host.step(request)
            except OutOfPages:
                rounds.append(number)
                host.release(request)
                growing.remove(request)
                continue
            if host.rows(request) == lengths[request]:
                growing.remove(request)
                if leave:
                    host.release(request)
        most = max(most, store.used)
    return Outcome(held, len(rounds), tuple(rounds), most)


def admission_findings(inputs: AdmissionInputs, progress: Progress) -> Findings:
    """Every page size by each expected length, by the request's own and by the longest; then other requests."""
    known: list[tuple[str, Expected]] = [(f"{rows:,}", _always(rows)) for rows in inputs.expected]
    known += [("its own", lambda length: length), (f"{inputs.longest:,}", _always(inputs.longest))]
    cases = [(name, expected, page_size) for name, expected in known for page_size in inputs.page_sizes]
    total = len(cases) + len(inputs.seeds)
    lengths = _lengths(inputs, inputs.seeds[0])
    rows: list[tuple[Cell, ...]] = []
    for done, (name, expected, page_size) in enumerate(cases, 1):
        stay, leave = (admitted(inputs.pool_rows, page_size, lengths, expected, leaves) for leaves in (False, True))
        first = min(stay.rounds, default=None)
        reserved = stay.most_pages * page_size
        rows.append((name, page_size, stay.held, stay.ran_out, first, reserved, leave.ran_out))
        progress("admission", done, total)
    draws: list[tuple[Cell, ...]] = []
    page_size, expected = inputs.page_sizes[0], _always(inputs.expected[-1])
    for done, seed in enumerate(inputs.seeds, len(cases) + 1):
        drawn = _lengths(inputs, seed)
        outcome = admitted(inputs.pool_rows, page_size, drawn, expected, False)
        draws.append((seed, outcome.held, sum(drawn[: outcome.held]) / max(1, outcome.held), outcome.ran_out))
        progress("admission", done, total)
    tables = _of_expectations(inputs, rows), _of_draws(inputs, draws)
    return Findings("admission", QUESTION, asdict(inputs), tables, (_chart(inputs, rows),))


def _always(rows: int) -> Expected:
    return lambda _length: rows


def _lengths(inputs: AdmissionInputs, seed: int) -> tuple[int, ...]:
    return request_lengths(inputs.requests, inputs.longest, seed)


def _of_expectations(inputs: AdmissionInputs, rows: list[tuple[Cell, ...]]) -> StudyTable:
    columns = (
        Column("expected length", "rows"),
        Column("page", "rows"),
        Column("admitted", "requests"),
        Column("ran out of pages", "requests"),
        Column("first in round"),
        Column("most reserved", "rows"),
        Column("ran out, if who ends leaves", "requests"),
    )
    title = f"A pool of {inputs.pool_rows:,} rows; all grow by a row a round, and stay when they have ended"
    return StudyTable("expectations", title, columns, tuple(rows))


def _of_draws(inputs: AdmissionInputs, rows: list[tuple[Cell, ...]]) -> StudyTable:
    columns = (
        Column("seed"),
        Column("admitted", "requests"),
        Column("mean of their lengths", "rows", 1),
        Column("ran out of pages", "requests"),
    )
    title = f"Other requests, expected length {inputs.expected[-1]:,}, page {inputs.page_sizes[0]}"
    return StudyTable("draws", title, columns, tuple(rows))


def _chart(inputs: AdmissionInputs, rows: list[tuple[Cell, ...]]) -> Chart:
    of_page = [row for row in rows if row[1] == inputs.page_sizes[0]]
    names = tuple(str(row[0]) for row in of_page)
    places = tuple(map(float, range(len(names))))
    labels = {2: "admitted", 3: "ran out of pages, who ends stays", 6: "ran out of pages, who ends leaves"}
    series = tuple(Series(label, places, tuple(float(row[at] or 0) for row in of_page)) for at, label in labels.items())
    title = f"Requests admitted by an expected length, page {inputs.page_sizes[0]}"
    return Chart("requests", title, "expected length [rows]", "requests [requests]", series, "bars", names)
