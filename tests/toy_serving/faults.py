"""Faults that are planted in the little serving system as it runs."""

from __future__ import annotations

from collections.abc import Callable

from tests.toy_serving import serving


def loses_a_page() -> None:
    """A request of three pages gives back two."""
    serving.LEAKY = True


def takes_the_last_page() -> None:
    """A page that is taken stays on the list of free ones."""

    def extend(self: serving.Pool, name: int, count: int) -> None:
        table = self.tables[name]
        while len(table) * self.page_size < self.lengths[name] + count:
            if not self.free:
                raise serving.FullError
            table.append(self.free[-1])
        self.lengths[name] += count

    serving.Pool.extend = extend  # type: ignore[method-assign]


FAULTS: dict[str, Callable[[], None]] = {fault.__name__: fault for fault in (loses_a_page, takes_the_last_page)}
