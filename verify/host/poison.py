"""Poison: every byte of a paged host's pool that may not matter any more is overwritten, and every later result must stand.

Which bytes may matter is the definition's word: those of the rows that some next step can read. It needs no clean run to
compare with, since the definition's integers are recomputed from the token ids (HOST-POISON).
"""

from collections.abc import Callable, Mapping

import numpy as np

from impl.decoder import Rows
from spec import window
from verify.host.lockstep import HostLockstep
from verify.host.oracle import Definition, HostState, cut_refusal, released_rows
from verify.host.recorder import Reach, paged_store_of

Pattern = Callable[[Rows, Definition], Rows]
"""What the bytes (1, pages, 2, page_size, width) of a pool become."""


def another_tokens_rows(kv: Rows, definition: Definition) -> Rows:
    """Keys and values of one token everywhere: bytes that look right."""
    return np.broadcast_to(np.stack((definition.keys[7], definition.values[7]))[None, None, :, None, :], kv.shape)


PATTERNS: Mapping[str, Pattern] = {
    "lowest": lambda kv, _: np.full_like(kv, -128),
    "highest": lambda kv, _: np.full_like(kv, 127),
    "inverted": lambda kv, _: ~kv,
    "noise": lambda kv, _: np.random.default_rng(1).integers(-128, 128, kv.shape, np.int8),
    "rows of another token": another_tokens_rows,
}


def read_next(state: HostState) -> Reach:
    """The rows that each request's next step reads; forks at the end read no others, but a rollback may."""
    return {request: rows_of_step(state, request, state.rows(request) + 1) for request in state.requests}


def within_reach(state: HostState) -> Reach:
    """The rows that a step can still read, at once or after any fork or rollback that is not refused."""
    return {
        request: frozenset[int]().union(
            *(
                rows_of_step(state, request, rows + 1)
                for rows in range(state.rows(request) + 1)
                if cut_refusal(state, request, rows) is None
            )
        )
        for request in state.requests
    }


def rows_of_step(state: HostState, request: int, step: int) -> frozenset[int]:
    """The rows that this step of the request reads."""
    known = state.requests[request]
    return frozenset(row for lo, hi in window.rows_read(step, known.window, known.sinks) for row in range(lo, hi))


def overwrite(run: HostLockstep, pattern: str, reach_of: Callable[[HostState], Reach] = within_reach) -> int:
    """Overwrite all slots of the pool but those of the rows in reach; how many slots of live requests' rows were among them.

    From now on rows out of that reach are compared no more; what was once out of reach stays so.
    """
    state = run.state
    cache = paged_store_of(run.paged).cache
    size = state.cache.page_size
    kept: dict[tuple[int, int], Rows] = {}
    held: set[tuple[int, int]] = set()
    for request, rows in reach_of(state).items():
        pages = cache.table.block_table(request)
        first, stop = released_rows(state.cache.requests[request], size)
        for row in {*range(first), *range(stop, state.rows(request))}:
            slot = pages[(row if row < first else row - (stop - first)) // size], row % size
            held.add(slot)
            if row in rows:
                kept[slot] = cache.pool.slots[slot].copy()
    cache.pool.kv[...] = PATTERNS[pattern](cache.pool.kv, run.definition)
    for slot, row_bytes in kept.items():
        cache.pool.slots[slot] = row_bytes
    if run.reach_of is not read_next:
        run.reach_of = reach_of
    return len(held - kept.keys())
