"""Contracts of short runs of operations from an empty pool, with any arguments: oracle and page table in lockstep."""

from impl import page_table
from spec.operations import Append, Fork, New, Operation, Release, Trim, Truncate
from spec.page_table import initial
from verify.contracts.id_target import IdTarget, some_rows
from verify.lockstep import Lockstep

PAGES, PAGE_SIZE = 3, 2


def broken_by(*operations: Operation) -> list[str]:
    """The rules that the first of these operations with a difference breaks."""
    run = Lockstep(IdTarget(page_table.PageTable(PAGES, PAGE_SIZE)), initial(PAGES, PAGE_SIZE))
    for operation in operations:
        differences = run.apply(operation)
        if differences:
            return [difference.rule for difference in differences]
    return []


def a_fork_refines_the_oracle(rows: int, at: int) -> list[str]:
    """Append any number of rows, fork anywhere.

    pre: rows >= 0
    post: _ == []
    """
    return broken_by(New(0), Append(0, some_rows(rows)), Fork(0, 1, at))


def an_append_after_a_fork_refines_the_oracle(rows: int, at: int, request: int, more: int) -> list[str]:
    """Append, fork, and append to either.

    pre: 0 <= request <= 1 and rows >= 0 and more >= 0
    post: _ == []
    """
    name = 0 if request == 0 else 1
    return broken_by(New(0), Append(0, some_rows(rows)), Fork(0, 1, at), Append(name, some_rows(more)))


def a_cut_after_a_fork_refines_the_oracle(rows: int, at: int, trims: bool, length: int) -> list[str]:
    """Append, fork, trim or truncate the source, and release it.

    pre: rows >= 0
    post: _ == []
    """
    cut = Trim(0, length) if trims else Truncate(0, length)
    return broken_by(New(0), Append(0, some_rows(rows)), Fork(0, 1, at), cut, Release(0))
