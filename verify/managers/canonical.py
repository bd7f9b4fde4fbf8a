"""State keys of the exhaustive search over managers: equal exactly when two states differ by a renaming.

Cells, pages and request ids are renamed. Tokens are not, since keys of published pages are made of them, and neither is the
order of the idle pages, nor that of the copies of one key. The order of the blank pages is the manager's free choice and left
out, and so is what they still hold.
"""

from collections.abc import Hashable, Sequence
from itertools import permutations, product
from operator import itemgetter

from spec.manager import State
from spec.prefix_index import Key
from verify.managers.target import Table

Entry = tuple[()] | tuple[int, Key | tuple[()]]
"""A table entry up to renaming: its cell's owners, and what the cell is published under. What is not there is (), which, unlike
None, can be sorted among the others."""

Signature = tuple[tuple[int, ...], int, tuple[int, ...], tuple[tuple[Entry, ...], ...]]
"""What a renaming cannot change of one request: tokens, rows written, ends of gone rows, tables."""


def canonical_key(state: State) -> Hashable:
    """The key: signatures in order, and of the request orders that they leave open the least naming of the cells."""
    keys = state.index.keys
    signed = signatures(state)
    if len(signed) > 1:
        signed.sort(key=itemgetter(0))
    copies = [cells for cells in state.index.cells.values() if len(cells) > 1]
    named = min([renamed(tables, state.idle, copies) for tables in orders(signed)])
    return tuple([signature for signature, _ in signed]), named, tuple([keys[cell] for cell in state.idle])


def signatures(state: State) -> list[tuple[Signature, tuple[Table, ...]]]:
    """The signature of each request, with its tables."""
    keys, shared = state.index.keys, state.shared
    return [
        (
            (
                request.tokens,
                request.written,
                request.low,
                tuple(
                    [
                        tuple([() if cell is None else (shared.get(cell, 1), keys.get(cell, ())) for cell in table])
                        for table in request.tables
                    ]
                ),
            ),
            request.tables,
        )
        for request in state.requests.values()
    ]


def orders(signed: Sequence[tuple[Signature, tuple[Table, ...]]]) -> list[list[tuple[Table, ...]]]:
    """The tables of the requests in every order that keeps the signatures sorted."""
    if len(signed) < 2 or len({signature for signature, _ in signed}) == len(signed):
        return [[tables for _, tables in signed]]
    groups: dict[Signature, list[tuple[Table, ...]]] = {}
    for signature, tables in signed:
        groups.setdefault(signature, []).append(tables)
    choices = product(*(permutations(alike) for alike in groups.values()))
    return [[tables for group in choice for tables in group] for choice in choices]


def renamed(
    requests: Sequence[tuple[Table, ...]], idle: Sequence[int], copies: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """All table entries and all copies of one key, with cells numbered in order of first appearance, -1 for released."""
    names: dict[int, int] = {}
    entries = tuple(
        [
            -1 if cell is None else names.setdefault(cell, len(names))
            for tables in requests
            for table in tables
            for cell in table
        ]
    )
    for cell in idle:
        names.setdefault(cell, len(names))
    return entries, tuple(sorted([tuple([names[cell] for cell in cells]) for cells in copies]))
