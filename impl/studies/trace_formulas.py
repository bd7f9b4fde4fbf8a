"""The same figures by exact formulas, row by row and without a page table. Source: docs/reference.md section 1.

They stand beside what the page table counts, and in its place for pages of so few rows that it would take minutes: a request of
L rows has ceil(L / P) pages, of which a window has let go those wholly below the row from which it keeps.
"""

from collections.abc import Sequence

import numpy as np

from impl.schedule import ScheduleOptions, microseconds
from impl.studies.trace_pages import HeldPages, Integers, Turns, by_arrival, held_pages, in_turn
from impl.traces import BLOCK_ROWS, TraceRequest


def held_by_formula(requests: Sequence[TraceRequest], options: ScheduleOptions) -> HeldPages:
    """The pages held, from the count of each request after each of its rows."""
    requests = by_arrival(requests)
    lengths, changes, rises = [], [], []
    for request in requests:
        length = np.arange(request.prompt, request.prompt + request.output + 1)
        appended, kept = _pages(length, 0, options), _pages(length, 1, options)
        kept[-1] = 0
        before = np.append(0, kept[:-1])
        moves = (kept != before) | (appended != before)
        moves[0] = moves[-1] = True
        lengths.append(length[moves])
        changes.append((kept - before)[moves])
        rises.append((appended - before)[moves])
    turns = in_turn(requests, lengths, microseconds(options.ms_per_token))
    order = _order_of(turns)
    change = np.concatenate([np.empty(0, np.int64), *changes])[order]
    rise = np.concatenate([np.empty(0, np.int64), *rises])[order]
    held = np.cumsum(change)
    return held_pages(turns.times_us, held, int((held - change + rise).max(initial=0)))


def row_us(requests: Sequence[TraceRequest], ms_per_token: float) -> int:
    """Rows held times the microseconds for which they were: every row from its append to the end of its request."""
    # The prompt stays for `output` steps; of the output rows the first stays for output - 1 of them, the last for none.
    steps = sum(r.prompt * r.output + r.output * (r.output - 1) // 2 for r in requests)
    return steps * microseconds(ms_per_token)


def servable_rows(requests: Sequence[TraceRequest]) -> int:
    """Prompt rows that a cache of pages of one block serves when it never has to reuse a page.

    They lie in whole blocks that follow the same blocks as in the prompt of an earlier request; the last row of a prompt
    is always computed.
    """
    numbers: dict[tuple[int, int], int] = {}
    rows = 0
    for request in by_arrival(requests):
        number, served = -1, 0
        for position, block in enumerate(request.blocks[: request.prompt // BLOCK_ROWS]):
            known = (number, block) in numbers
            number = numbers.setdefault((number, block), len(numbers))
            served += known and (position + 1) * BLOCK_ROWS < request.prompt
        rows += served * BLOCK_ROWS
    return rows


def _pages(length: Integers, appended_since: int, options: ScheduleOptions) -> Integers:
    """Pages of a request of each length: trimmed before its last row was appended (0) or after (1)."""
    pages: Integers = -(-length // options.page_size)
    if options.window is None:
        return pages
    keep_from = np.maximum(0, length + appended_since - options.window)
    keep_from[0] *= appended_since  # a prompt comes at once, with nothing trimmed before
    pages -= keep_from // options.page_size
    return pages


def _order_of(turns: Turns) -> Integers:
    """For each turn the place of its length among those of all requests, request by request."""
    order = np.empty(len(turns.rank), np.int64)
    # Sorted by request the turns are in that order again.
    order[np.argsort(turns.rank, kind="stable")] = np.arange(len(order))
    return order
