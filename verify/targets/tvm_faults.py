"""Faults planted in TVM's paged KV cache while it runs, to see that the check of verify/targets/tvm.py can fail.

FAULTS[name]() changes what tvm.get_global_func hands out in this process for good: the C++ is out of reach, its functions and
the kernels that a cache is made with are not. Each is a slip that such code invites, and is reachable through the adapter's
operations in a configuration that is sound without it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import tvm
import tvm_ffi

Function = Callable[..., Any]

STATE, ATTENTION = "vm.builtin.kv_state_", "vm.builtin.attention_kv_cache_"
CREATE = "vm.builtin.paged_attention_kv_cache_create"
TRANSPOSE_APPEND, COPY_SINGLE_PAGE = 13, 25
"""Where these kernels stand among the arguments of CREATE."""

NEVER_REMOVED = 1


def page_copy_is_skipped() -> None:
    """A fork or a pop inside a shared page takes a page of its own and copies nothing into it."""
    kernel(COPY_SINGLE_PAGE, lambda _: lambda *_: None)


def page_copy_is_a_row_short() -> None:
    """A fork or a pop inside a shared page copies all of its rows but the last."""
    kernel(COPY_SINGLE_PAGE, lambda copy: lambda pages, source, target, rows: copy(pages, source, target, rows - 1))


def rows_land_in_the_wrong_slot() -> None:
    """The first two rows of a pass change places in the pool."""

    def exchanged(append: Function) -> Function:
        def kernel(pages: Any, k_data: Any, v_data: Any, position_map: Any) -> None:
            positions = position_map.numpy()
            positions[:2] = positions[:2][::-1].copy()
            append(pages, k_data, v_data, tvm.runtime.tensor(positions))

        return kernel

    kernel(TRANSPOSE_APPEND, exchanged)


def k_and_v_change_places_in_one_layer() -> None:
    """The second layer of a model with two writes K where V belongs, and V for K."""

    def swapped(append: Function) -> Function:
        second = cycle((False, True))

        def kernel(pages: Any, k_data: Any, v_data: Any, position_map: Any) -> None:
            if next(second):
                k_data, v_data = v_data, k_data
            append(pages, k_data, v_data, position_map)

        return kernel

    kernel(TRANSPOSE_APPEND, swapped)


def one_layer_misses_single_rows() -> None:
    """A pass of a single row, a decoding step, is written in the first layer of two only."""

    def missing(append: Function) -> Function:
        second = cycle((False, True))

        def kernel(pages: Any, k_data: Any, v_data: Any, position_map: Any) -> None:
            if not (next(second) and position_map.shape[0] == 1):
                append(pages, k_data, v_data, position_map)

        return kernel

    kernel(TRANSPOSE_APPEND, missing)


def fork_is_a_row_short() -> None:
    """A fork takes one row less of its parent than it was asked for."""
    function(STATE + "fork_sequence", lambda fork: lambda cache, parent, to, at: fork(cache, parent, to, at - (at > 0)))


def pop_takes_a_row_more() -> None:
    """Popping some rows, but not all, takes one more."""
    length = tvm.get_global_func(ATTENTION + "get_sequence_length")

    def greedy(pop: Function) -> Function:
        return lambda cache, sequence, rows: pop(cache, sequence, rows + (0 < rows < length(cache, sequence)))

    function(STATE + "popn", greedy)


def one_sequence_is_never_removed() -> None:
    """Removing one of the sequences is forgotten: its pages stay taken, and so does its id."""

    def forgetful(remove: Function) -> Function:
        return lambda cache, sequence: None if sequence == NEVER_REMOVED else remove(cache, sequence)

    function(STATE + "remove_sequence", forgetful)


def window_is_a_row_wider() -> None:
    """The window of a sequence is one row larger than it was asked for."""
    enable = ATTENTION + "enable_sliding_window_for_seq"
    function(enable, lambda enable: lambda cache, sequence, size, sinks: enable(cache, sequence, size + 1, sinks))


def a_row_more_is_pinned() -> None:
    """A window has one sink more than it was asked for, where it is wide enough."""
    enable = ATTENTION + "enable_sliding_window_for_seq"

    def pinned(enable: Function) -> Function:
        return lambda cache, sequence, size, sinks: enable(cache, sequence, size, min(sinks + 1, size - 1))

    function(enable, pinned)


def function(name: str, faulty: Callable[[Function], Function]) -> None:
    """Have every cache made from now on meet the faulty version of one of TVM's functions."""
    handed_out = tvm.get_global_func
    planted = faulty(handed_out(name))

    def get_global_func(asked: str, *rest: Any) -> Any:
        return planted if asked == name else handed_out(asked, *rest)

    tvm.get_global_func = get_global_func


def kernel(place: int, faulty: Callable[[Function], Function]) -> None:
    """Have every cache made from now on use the faulty version of the kernel in this place."""

    def with_kernel(create: Function) -> Function:
        def created(*arguments: Any) -> Any:
            kernels = list(arguments)
            kernels[place] = tvm_ffi.convert(faulty(kernels[place]))
            return create(*kernels)

        return created

    function(CREATE, with_kernel)


FAULTS: dict[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        page_copy_is_skipped,
        page_copy_is_a_row_short,
        rows_land_in_the_wrong_slot,
        k_and_v_change_places_in_one_layer,
        one_layer_misses_single_rows,
        fork_is_a_row_short,
        pop_takes_a_row_more,
        one_sequence_is_never_removed,
        window_is_a_row_wider,
        a_row_more_is_pinned,
    )
}
