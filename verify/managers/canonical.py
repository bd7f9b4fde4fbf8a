"""State keys of the exhaustive search over managers: equal exactly when two states differ by a renaming.

Cells, pages and request ids are renamed. Tokens are not, since keys of published pages are made of them, and neither is the
order of the idle pages, nor that of the copies of one key. The order of the blank pages is the manager's free choice and left
out, and so is what they still hold.
"""

from collections.abc import Hashable, Sequence
from itertools import permutations, product

from spec.manager import Request, State
from verify.managers.target import Table

Entry = tuple[int, Hashable] | None
"""A table entry up to renaming: its cell's owners, and what the cell is published under; None for a released page."""

Signature = tuple[tuple[int, ...], int, tuple[int, ...], tuple[tuple[Entry, ...], ...]]
"""What a renaming cannot change of one request: tokens, rows written, ends of gone rows, tables."""


def canonical_key(state: State) -> Hashable:
    """The key: signatures in order, and of the request orders that they leave open the least naming of the cells."""
    keys = state.index.keys
    signed = sorted(
        ((repr(signature), signature, request.tables) for request, signature in signatures(state)),
        key=lambda entry: entry[0],
    )
    copies = [cells for cells in state.index.cells.values() if len(cells) > 1]
    named = min(
        renamed(tables, state.idle, copies) for tables in orders([(text, tables) for text, _, tables in signed])
    )
    return tuple(signature for _, signature, _ in signed), named, tuple(keys[cell] for cell in state.idle)


def signatures(state: State) -> list[tuple[Request, Signature]]:
    """Each request with its signature."""
    keys, shared = state.index.keys, state.shared
    return [
        (
            request,
            (
                request.tokens,
                request.written,
                request.low,
                tuple(
                    tuple(None if cell is None else (shared.get(cell, 1), keys.get(cell)) for cell in table)
                    for table in request.tables
                ),
            ),
        )
        for request in state.requests.values()
    ]


def orders(signed: Sequence[tuple[str, tuple[Table, ...]]]) -> list[list[tuple[Table, ...]]]:
    """The tables of the requests in every order that keeps the signatures sorted."""
    if len({signature for signature, _ in signed}) == len(signed):
        return [[tables for _, tables in signed]]
    groups: dict[str, list[tuple[Table, ...]]] = {}
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
        -1 if cell is None else names.setdefault(cell, len(names))
        for tables in requests
        for table in tables
        for cell in table
    )
    for cell in idle:
        names.setdefault(cell, len(names))
    return entries, tuple(sorted(tuple(names[cell] for cell in cells) for cells in copies))
