"""What was expected, beside what was seen: a scoreboard compares, and never looks at a port itself."""

from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class MismatchError(AssertionError):
    """What was seen is not what was expected next."""


class Scoreboard(Generic[Item]):
    """Expected items in order. Everything seen is compared with the next one; `finish` wants none left."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._expected: deque[Item] = deque()
        self.compared = 0

    def expect(self, items: Iterable[Item]) -> None:
        """Expect these next, after all that is expected already."""
        self._expected.extend(items)

    def see(self, item: Item) -> None:
        """Compare with the next expected item. MismatchError when it differs or nothing is expected."""
        if not self._expected:
            raise MismatchError(f"{self._what} {self.compared}: saw {item}, expected none")
        expected = self._expected.popleft()
        if item != expected:
            raise MismatchError(f"{self._what} {self.compared}: saw {item}, expected {expected}")
        self.compared += 1

    def finish(self) -> None:
        """MismatchError when something expected was never seen."""
        if self._expected:
            raise MismatchError(f"{self._what} {self.compared}: never saw {self._expected[0]}")
