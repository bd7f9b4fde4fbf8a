"""The counters. Source: docs/chip.md section 6, Counters."""

from impl.chip import Counters


class Counting:
    """The counters as registers, by the definition's names."""

    __slots__ = ("dma", "mac", "rdw", "stall", "total", "vec", "wrw")

    def clear(self) -> None:
        """Set all to 0."""
        self.total = self.dma = self.mac = self.vec = self.stall = self.rdw = self.wrw = 0

    def values(self) -> Counters:
        """The counters as the host reads them."""
        return Counters(self.total, self.dma, self.mac, self.vec, self.stall, self.rdw, self.wrw)
