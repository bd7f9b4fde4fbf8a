"""Which requests hold the rows of which prefix of blocks, for a schedule that shares them."""


class PrefixHolders:
    """Holders by prefix. Who holds a prefix of blocks holds the shorter ones too.

    A prefix is numbered by its last block and the number of the prefix before it, so equal numbers mean equal prefixes even
    where equal block ids do not.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        # Holders in the order in which they came; the values say nothing.
        self._holders: dict[int, dict[int, None]] = {}

    def add(self, request: int, blocks: tuple[int, ...]) -> None:
        """The request holds the rows of these blocks."""
        for number in self._prefixes(blocks):
            self._holders.setdefault(number, {})[request] = None

    def discard(self, request: int, blocks: tuple[int, ...]) -> None:
        """The request no longer holds them, if it did."""
        for number in self._prefixes(blocks):
            self._holders.get(number, {}).pop(request, None)

    def longest(self, blocks: tuple[int, ...]) -> tuple[int, int]:
        """The newest holder of the longest held prefix of `blocks`, and the blocks in it; (-1, 0) without one."""
        found = -1, 0
        for shared, number in enumerate(self._prefixes(blocks), start=1):
            holders = self._holders.get(number)
            if not holders:
                break
            found = next(reversed(holders)), shared
        return found

    def _prefixes(self, blocks: tuple[int, ...]) -> list[int]:
        """Numbers of the prefixes of 1, 2, ... blocks."""
        numbers = []
        number = -1
        for block in blocks:
            number = self._numbers.setdefault((number, block), len(self._numbers))
            numbers.append(number)
        return numbers
