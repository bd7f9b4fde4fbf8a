"""Time of a bench: inputs are driven after the falling edge, outputs are sampled just before the rising edge.

A test bench that drives and samples at the edge itself races with the registers. Here every cycle has the same two
moments, and nothing else happens in between: `drive`, then `sample`, then the rising edge that ends the cycle.
"""

from collections.abc import Callable
from typing import cast

from cocotb.handle import HierarchyObject, LogicArrayObject, LogicObject
from cocotb.triggers import Timer

HALF_PERIOD_NS = 5

Step = Callable[[], None]


class UnknownValueError(AssertionError):
    """A sampled port had a bit that is neither 0 nor 1."""


class Pins:
    """Ports of one module, by the names that they have in rtl/; `prefix` is what the top of a build puts before them."""

    def __init__(self, top: HierarchyObject, prefix: str = "") -> None:
        self._top = top
        self._prefix = prefix
        self._handles: dict[str, LogicObject | LogicArrayObject] = {}
        self._driven: dict[str, int] = {}

    def drive(self, **values: int) -> None:
        """Set inputs; they are there for whoever samples next. A value that does not fit raises ValueError."""
        for name, value in values.items():
            # Nobody else drives a port, so one that keeps its value needs no write, which is what a cycle costs most.
            if self._driven.get(name) != value:
                self.handle(name).value = self._driven[name] = value

    def __getitem__(self, name: str) -> int:
        """The port's value now, its bits read as unsigned. UnknownValueError when it has an x or a z."""
        value = self.handle(name).value
        try:
            return int(value)
        except ValueError:
            raise UnknownValueError(f"{self._prefix}{name} is {value}") from None

    def signed(self, name: str) -> int:
        """The port's value now, its bits read as two's complement."""
        value = self[name]
        width = len(self.handle(name))
        return value - (1 << width) if value >> (width - 1) else value

    def handle(self, name: str) -> LogicObject | LogicArrayObject:
        """The simulator's handle of a port, looked up once."""
        if name not in self._handles:
            self._handles[name] = cast("LogicArrayObject", self._top[f"{self._prefix}{name}"])
        return self._handles[name]


class Clocking:
    """Makes the clock, one cycle at a time, at the pace of whoever awaits it; `cycle` numbers the current one.

    A test stands right after a falling edge: it drives, may await `settled` to sample, and awaits `next_cycle`. Parts
    that take part in every cycle register `samples` (just before the rising edge) and `drives` (after the falling one).
    """

    def __init__(self, clock: LogicObject | LogicArrayObject) -> None:
        self._clock = clock
        self._settled = False
        self.cycle = 0
        self.samples: list[Step] = []
        self.drives: list[Step] = []
        clock.value = 0

    async def settled(self) -> None:
        """Just before the rising edge that ends this cycle: what combinational logic makes of the inputs is there."""
        if not self._settled:
            await Timer(HALF_PERIOD_NS, "ns")
            self._settled = True
            for sample in self.samples:
                sample()

    async def next_cycle(self, count: int = 1) -> None:
        """Right after the falling edge of the next cycle, or of the `count`-th."""
        for _ in range(count):
            await self.settled()
            self._clock.value = 1
            await Timer(HALF_PERIOD_NS, "ns")
            self._clock.value = 0
            self._settled = False
            self.cycle += 1
            for drive in self.drives:
                drive()
