"""What the page table offers beside the operations, and numbers far beyond those of the searches."""

from array import array

import numpy as np
import pytest

from impl.page_table import PageTable
from spec.operations import Append, Fork, New, Operation, Read, Release, Trim, Truncate
from spec.page_table import initial
from verify.lockstep import Lockstep
from verify.targets.shipped import ShippedCache


@pytest.mark.parametrize(("pages", "page_size"), [(0, 1), (1, 0), (-1, 4)])
def test_a_table_of_no_size_is_refused(pages: int, page_size: int) -> None:
    with pytest.raises(ValueError, match="at least 1 page"):
        PageTable(pages, page_size)


def test_the_smallest_pool_has_one_page_of_one_row() -> None:
    run = Lockstep(ShippedCache(1, 1), initial(1, 1))
    for operation in (New(0), Append(0, (1,)), Append(0, (2,)), Fork(0, 1, 1), Trim(0, 1), Release(1), Append(0, (3,))):
        assert not run.apply(operation), operation


def test_left_out_arguments_mean_no_sinks_one_row_and_the_whole_source() -> None:
    table = PageTable(4, 2)
    table.new(0)
    assert table.append(0) is None
    table.append(0, 2)
    table.fork(0, 1)
    assert (table.sinks(0), table.length(0), table.length(1)) == (0, 3, 3)
    assert table.block_table(1) == table.block_table(0) == (0, 1)


def test_a_table_says_its_requests_oldest_first_with_sinks_and_dropped_pages() -> None:
    table = PageTable(8, 2)
    for request in (7, 2, 5):
        table.new(request, sinks=3)
    table.append(2, 9)
    table.trim(2, 8)
    table.fork(2, 1)
    assert table.requests() == (7, 2, 5, 1)
    assert [(table.sinks(r), table.dropped(r)) for r in (7, 1, 2)] == [(3, 0), (3, 2), (3, 2)]
    clone = table.clone()
    assert (clone.pages, clone.page_size, clone.sinks(1), clone.used, table.used) == (8, 2, 3, 3, 3)
    assert isinstance(table.block_table(2), tuple)


def test_slots_are_page_times_page_size_plus_offset_of_each_row() -> None:
    table = PageTable(9, 3)
    table.new(9)
    table.append(9, 4)
    table.new(0, sinks=2)
    table.append(0, 3)
    table.release(9)
    table.append(0, 10)
    assert table.block_table(0) == (2, 1, 0, 3, 4)
    table.trim(0, 7)
    slots = table.slots(0, 7, 13)
    assert slots.dtype == np.int64
    assert slots.tolist() == [1, 2, 9, 10, 11, 12]
    assert table.slots(0, 1, 3).tolist() == [7, 8]
    assert table.slots(0, 5, 5).tolist() == []
    assert table.locate(0, 7, 9) == (array("q", [0]), 1)
    assert table.locate(0, 5, 5) == (array("q"), 0)


def test_many_pages_owners_and_sinks_follow_the_oracle_too() -> None:
    """An append of 100 pages, 200 owners of a page, sinks on 5 pages, trims of 70 pages, page ids to the last."""
    pages, size, rows = 150, 3, 300
    run = Lockstep(ShippedCache(pages, size), initial(pages, size))
    forks = range(1, 200)
    operations: list[Operation] = [
        *(New(0, 13), Append(0, tuple(range(1, rows)))),
        *(Fork(0, request, rows - 1 if request < 5 else 14) for request in forks),
        *(Append(request, (1000 + request,)) for request in (199, 1, 2)),
        *(Trim(1, 60), Trim(1, 270), Trim(1, 299), Truncate(1, 14), Truncate(2, 298), Read(1, 0, 14)),
        *(Truncate(request, 14) for request in (3, 4)),
        *(Append(3, tuple(range(2001, 2121))), Append(4, tuple(range(3001, 3040)))),
        *(Release(request) for request in forks),
        *(Trim(0, 270), Read(0, 14, 16), Read(0, 269, 271), Truncate(0, 16), Fork(0, 500, 200)),
        *(Read(0, lo, hi) for lo, hi in (*((lo, 15) for lo in range(15)), (270, 299), (280, 281))),
        *(Truncate(0, 40), Truncate(0, 15), Append(0, tuple(range(4001, 4436))), Append(0, (1,)), Release(0)),
    ]
    for operation in operations:
        assert not run.apply(operation), operation
    free = run.target.observe().free
    assert free is not None
    assert free[-1] != 0
    assert not run.state.requests


def test_a_copy_and_several_pages_are_refused_when_one_is_missing() -> None:
    run = Lockstep(ShippedCache(5, 2), initial(5, 2))
    for operation in (
        New(0),
        Append(0, (1, 2, 3)),
        Fork(0, 1, 3),
        Append(1, tuple(range(4, 10))),
        Append(1, (4, 5, 6)),
    ):
        assert not run.apply(operation), operation
    assert run.state.used == 4


def test_many_pages_are_taken_in_the_order_of_the_free_list() -> None:
    table = PageTable(9, 1)
    table.new(0)
    table.append(0, 7)
    assert table.block_table(0) == (0, 1, 2, 3, 4, 5, 6)
