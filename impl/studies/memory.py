"""How many requests a pool holds, and how much of it they waste, by the size of a page."""

from dataclasses import asdict, dataclass

import numpy as np

from impl.kv_cache import KVCache
from impl.page_table import OutOfPages
from impl.studies.request_lengths import request_lengths
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable

QUESTION = "How many requests does a pool hold, and how much of it is reserved for rows that nobody has written?"


@dataclass(frozen=True, slots=True)
class MemoryInputs:
    """A pool of `pool_rows` rows, and requests whose lengths are drawn with the seed and are at most `reserve`."""

    pool_rows: int = 8192
    page_sizes: tuple[int, ...] = (1, 4, 16, 64, 256)
    reserve: int = 2048
    requests: int = 400
    seed: int = 11


@dataclass(frozen=True, slots=True)
class Filling:
    """A pool into which no further request fitted: the requests that it holds, their rows, and the rows of their pages."""

    held: int
    rows_used: int
    rows_reserved: int

    @property
    def wasted(self) -> float:
        """Percent of the reserved rows that hold nothing."""
        return 100 * (self.rows_reserved - self.rows_used) / self.rows_reserved if self.rows_reserved else 0.0


def filled(pool_rows: int, page_size: int, lengths: tuple[int, ...]) -> Filling:
    """Admit requests in order, each with all its rows, until one does not fit. Raises ValueError when the pool has no page."""
    cache = KVCache(pool_rows // page_size, page_size, dtype=np.int8)
    held = 0
    for request, length in enumerate(lengths):
        cache.new(request)
        try:
            cache.append(request, np.zeros((1, 2, length, 1), np.int8))
        except OutOfPages:
            break
        held += 1
    return Filling(held, sum(lengths[:held]), cache.table.used * page_size)


def memory_findings(inputs: MemoryInputs, progress: Progress) -> Findings:
    """A contiguous reservation, which is a page that a whole request fits, beside pages of each size."""
    lengths = request_lengths(inputs.requests, inputs.reserve, inputs.seed)
    schemes = [(f"contiguous, reserve {inputs.reserve:,}", inputs.reserve)]
    schemes += [(f"page {page_size}", page_size) for page_size in inputs.page_sizes]
    rows: list[tuple[Cell, ...]] = []
    fillings = []
    for done, (name, page_size) in enumerate(schemes, 1):
        filling = filled(inputs.pool_rows, page_size, lengths)
        fillings.append(filling)
        rows.append((name, filling.held, filling.rows_used, filling.rows_reserved, filling.wasted))
        progress("memory", done, len(schemes))
    names = (f"contiguous\n{inputs.reserve:,}", *(f"page\n{page_size}" for page_size in inputs.page_sizes))
    return Findings(
        "memory", QUESTION, asdict(inputs), (_of_schemes(rows), _of_lengths(lengths)), _charts(names, fillings)
    )


def _of_schemes(rows: list[tuple[Cell, ...]]) -> StudyTable:
    columns = (
        Column("scheme"),
        Column("held", "requests"),
        Column("rows used"),
        Column("rows reserved"),
        Column("wasted", "%", 1),
    )
    return StudyTable("schemes", "Requests admitted in order until one does not fit", columns, tuple(rows))


def _of_lengths(lengths: tuple[int, ...]) -> StudyTable:
    columns = Column("requests"), Column("mean", "rows", 1), Column("median", "rows"), Column("longest", "rows")
    figures = len(lengths), sum(lengths) / len(lengths), sorted(lengths)[len(lengths) // 2], max(lengths)
    return StudyTable("lengths", "Lengths of the requests", columns, (figures,))


def _charts(names: tuple[str, ...], fillings: list[Filling]) -> tuple[Chart, ...]:
    places = tuple(map(float, range(len(names))))
    used = tuple(float(filling.rows_used) for filling in fillings)
    wasted = tuple(float(filling.rows_reserved - filling.rows_used) for filling in fillings)
    held = tuple(float(filling.held) for filling in fillings)
    return (
        Chart(
            "rows",
            "Rows of the pool that hold something, and rows that are reserved for nothing",
            "scheme, rows reserved at a time [rows]",
            "rows of the pool [rows]",
            (Series("used", places, used), Series("reserved and unused", places, wasted)),
            "bars",
            names,
        ),
        Chart(
            "held",
            "Requests that the pool holds",
            "scheme, rows reserved at a time [rows]",
            "requests held [requests]",
            (Series("held", places, held),),
            "bars",
            names,
        ),
    )
