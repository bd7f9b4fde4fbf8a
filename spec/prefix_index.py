"""The prefix index: which published cell holds the last page of which prefix.

A key is a group and all tokens up to the end of a page, compared token by token, so that no two prefixes share one
(PRE-KEY). Several cells may have one key (PRE-PUBLISH). Indexes are immutable. Source: docs/reference.md section 7.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Key = tuple[int, tuple[int, ...]]
"""(group, t_0 .. t_(e-1)): the number of the group, and the tokens up to the end e of the page."""


@dataclass(frozen=True, slots=True)
class Index:
    """The key of each published cell, and the cells of each key, that published first in front.

    One follows from the other but for that order. Nobody mutates the mappings.
    """

    keys: Mapping[int, Key]
    cells: Mapping[Key, tuple[int, ...]]


EMPTY = Index({}, {})


def publish(index: Index, entries: Iterable[tuple[int, Key]]) -> Index:
    """The index with these cells under their keys, in this order; a cell that is published keeps its key."""
    keys, cells = {**index.keys}, {**index.cells}
    for cell, key in entries:
        if cell not in keys:
            keys[cell] = key
            cells[key] = (*cells.get(key, ()), cell)
    return Index(keys, cells)


def forget(index: Index, gone: Iterable[int]) -> Index:
    """The index without these cells, all published; the copies that stay keep their order."""
    keys, cells = {**index.keys}, {**index.cells}
    for cell in gone:
        key = keys.pop(cell)
        left = tuple(copy for copy in cells[key] if copy != cell)
        if left:
            cells[key] = left
        else:
            del cells[key]
    return Index(keys, cells)


def lookup(index: Index, group: int, tokens: tuple[int, ...]) -> int | None:
    """The cell that was published first, of those still there, under exactly these tokens; None when there is none."""
    cells = index.cells.get((group, tokens))
    return None if cells is None else cells[0]
