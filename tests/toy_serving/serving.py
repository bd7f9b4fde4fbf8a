"""A little serving system: pages of a pool for requests that only grow. With LEAKY it loses a page of a request of three."""

from __future__ import annotations

LEAKY = False


class FullError(Exception):
    """There is no page left."""


class Pool:
    """Pages are taken from the front of a list and go back to its end."""

    def __init__(self, pages: int, page_size: int) -> None:
        self.page_size = page_size
        self.free = list(range(pages))
        self.tables: dict[int, list[int]] = {}
        self.lengths: dict[int, int] = {}

    def begin(self, name: int, count: int) -> None:
        self.tables[name], self.lengths[name] = [], 0
        try:
            self.extend(name, count)
        except FullError:
            del self.tables[name], self.lengths[name]
            raise

    def extend(self, name: int, count: int) -> None:
        table = self.tables[name]
        missing = -(-(self.lengths[name] + count) // self.page_size) - len(table)
        if missing > len(self.free):
            raise FullError
        table += self.free[:missing]
        del self.free[:missing]
        self.lengths[name] += count

    def end(self, name: int) -> None:
        table = self.tables.pop(name)
        del self.lengths[name]
        self.free += table[1:] if LEAKY and len(table) == 3 else table
