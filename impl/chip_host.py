"""The host of a chip that gathers by itself, and its store: the page table's pool is the pool in the chip's memory.

What of a request the chip is told is its block table, the rows that a step attends, and the slot of its new row, which the
chip writes there. Source: docs/reference.md section 4, docs/chip.md section 7.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from impl.chip_decoder import PagedChipDecoder
from impl.decoder import Places, Step, check_context
from impl.host import Host, Session
from impl.kv_cache import KVCache
from impl.page_table import BadArgument
from impl.row_store import PagedStore
from impl.window import context

PlacesOf = Callable[[int, int], Places]
"""Where a step finds its rows, by the row that is its own and how many rows it attends."""


class ChipStore(PagedStore):
    """Rows in the pages of the chip's memory, which the chip reads and writes."""

    __slots__ = ("decoder",)

    def __init__(self, decoder: PagedChipDecoder) -> None:
        super().__init__(KVCache.over(decoder.pool))
        self.decoder = decoder

    def new(self, request: int, sinks: int = 0) -> None:
        """Start an empty request. Raises BadArgument for sinks, which no single range of rows has beside a window."""
        if sinks:
            raise BadArgument(f"the chip gathers one range of rows: it has no sinks, and {sinks} were asked for")
        super().new(request)

    @contextmanager
    def growing(self, request: int, rows: int) -> Iterator[PlacesOf]:
        """Room for so many more rows of the request, which the block of a `with` has the chip write one after the other.

        It gives the block where each of their steps finds its rows. The last page, where others share it, is copied in the
        chip's memory before the block, and the rows are appended after it. OutOfPages comes before all that; it, and
        whatever the block raises, has changed nothing.
        """
        table = self.cache.table.clone()
        copy = table.append(request, rows)
        memory = self.decoder.memory.copy()
        if copy is not None:
            self.cache.pool.copy_page(copy.source, copy.destination)
        pages, dropped = table.block_table(request), table.dropped(request)

        def places(row: int, attended: int) -> Places:
            (slot,) = table.slots(request, row, row + 1).tolist()
            return Places(pages, dropped, row + 1 - attended, attended, slot)

        try:
            yield places
        except BaseException:
            self.decoder.memory[:] = memory
            raise
        self.cache.table.append(request, rows)


class ChipHost(Host):
    """Requests, without sinks, over a chip that gathers by itself."""

    __slots__ = ("_chip", "_places")

    def __init__(self, decoder: PagedChipDecoder, pad_token: int = 0) -> None:
        self._chip, self._places = decoder, ChipStore(decoder)
        super().__init__(decoder, self._places, pad_token)

    def _append(self, request: int, session: Session, fed: Sequence[int]) -> tuple[Step, int]:
        """Have the chip decode the tokens and append their rows; what comes back is that of any host."""
        rows = session.rows + len(fed)
        attended = context(rows, session.window)  # no token of these attends more
        check_context(attended)  # before room is looked for, as every host has it
        with self._places.growing(request, len(fed)) as places:
            for row, token in enumerate(fed, start=session.rows):
                step = self._chip.step_in_place(token, places(row, context(row + 1, session.window)))
        session.rows = rows
        return step, attended
