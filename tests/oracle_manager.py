"""A manager that the oracle itself runs, of any traits: the check must never find it wrong."""

from collections.abc import Sequence
from typing import Self

from spec.manager import Request, State, Traits, available, initial, step
from spec.manager_tables import readable
from spec.operations import ManagerOperation, Outcome
from verify.managers.target import ManagerSnapshot, ManagerView, Offer
from verify.managers.values import value, values


class OracleManager:
    """A manager of any traits that does what the oracle does, on pages of its own choice; it shows what `shows` names."""

    def __init__(self, traits: Traits, shows: tuple[str, ...] = ("counts", "free", "published")) -> None:
        hidden = tuple(name for name in ("counts", "free", "published") if name not in shows)
        self.offer = Offer("the oracle", not_observed=hidden)
        self.traits = traits
        self.shows = shows
        self.state = initial(traits)
        self.pages: dict[int, int] = {}

    def apply(self, operation: ManagerOperation) -> Outcome:
        """Take the oracle's step; new cells get the last pages that back none."""
        self.state, outcome = step(self.state, operation)
        cells = cells_of(self.state)
        self.pages = {cell: page for cell, page in self.pages.items() if cell in cells}
        spare = sorted(set(range(self.traits.pages)) - set(self.pages.values()))
        for cell in sorted(cells - self.pages.keys()):
            self.pages[cell] = spare.pop()
        return outcome

    def observe(self) -> ManagerSnapshot:
        """The oracle's state in pages."""
        state, pages = self.state, self.pages
        counts = [0] * self.traits.pages
        for request in state.requests.values():
            for table in request.tables:
                for cell in table:
                    if cell is not None:
                        counts[pages[cell]] += 1
        idle = [pages[cell] for cell in state.idle]
        blank = [page for page, count in enumerate(counts) if not count and page not in idle]
        published = tuple((pages[cell], group, value(tokens)) for cell, (group, tokens) in state.index.keys.items())
        return ManagerSnapshot(
            {name: self.view(request) for name, request in state.requests.items()},
            tuple(counts) if "counts" in self.shows else None,
            (*blank, *idle) if "free" in self.shows else None,
            available(state),
            published if "published" in self.shows else None,
        )

    def view(self, request: Request) -> ManagerView:
        """One request in pages."""
        tables = tuple(tuple(None if c is None else self.pages[c] for c in table) for table in request.tables)
        rows, length = [], len(request.tokens)
        for group, low in zip(self.traits.groups, request.low, strict=True):
            by_row = self.traits.granule == "row"
            ranges = readable(group, self.traits.page_size, by_row, low, request.written)
            kept = {row for lo, hi in ranges for row in range(lo, hi)}
            told = values(request.tokens)
            rows.append(tuple(told[row] if row in kept else None for row in range(len(request.tokens))))
            if by_row:
                length = min(length, len(kept) + len(request.tokens) - request.written)
        return ManagerView(length, tables, tuple(rows))

    def image(self) -> object:
        """The oracle's state, which never changes in place, and the pages."""
        return self.state, dict(self.pages)

    def clone(self) -> Self:
        """An independent copy."""
        other = type(self)(self.traits, self.shows)
        other.state, other.pages = self.state, dict(self.pages)
        return other

    def foresee(self, operations: Sequence[ManagerOperation], apart: bool) -> None:
        """Nothing to prepare."""


def cells_of(state: State) -> set[int]:
    """Every held and idle cell."""
    held = {c for request in state.requests.values() for table in request.tables for c in table if c is not None}
    return held | set(state.idle)
