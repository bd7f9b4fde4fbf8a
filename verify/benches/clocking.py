"""Time of a bench: inputs are driven after the falling edge, outputs are sampled just before the rising edge.

A test bench that drives and samples at the edge itself races with the registers. Here every cycle has the same two
moments, and nothing else happens in between: `drive`, then `sample`, then the rising edge that ends the cycle.
"""

from collections.abc import Callable
from typing import cast

from cocotb.handle import HierarchyObject, LogicArrayObject, LogicObject
from cocotb.triggers import Timer

HALF_PERIOD_NS = 5
DEPOSIT = 0
"""How a value is written: it stays until the next one (cocotb's default)."""
INTEGER_BITS = 32
"""Wider ports are written as text."""

Step = Callable[[], None]


class UnknownValueError(AssertionError):
    """A sampled port had a bit that is neither 0 nor 1."""


class Port:
    """One port: its value as an integer, straight from the simulator's object that cocotb's handle wraps.

    A cycle looks at some ten ports, and cocotb's own values, with their ranges and conversions, take longer than the simulation.
    """

    def __init__(self, handle: LogicObject | LogicArrayObject) -> None:
        self.bits: Callable[[], str] = handle._handle.get_signal_val_binstr
        self.width = len(handle)
        self._name = handle._name
        self._write = handle._handle.set_signal_val_int if self.width <= INTEGER_BITS else self._write_bits
        self._write_text = handle._handle.set_signal_val_binstr
        self._least, self._end = -(1 << self.width - 1), 1 << self.width

    def set(self, value: int) -> None:
        """Drive the port, with a value of either sign. One that does not fit raises ValueError."""
        if not self._least <= value < self._end:
            raise ValueError(f"{value} does not fit the {self.width} bits of {self._name}")
        self._write(DEPOSIT, value)

    def _write_bits(self, action: int, value: int) -> None:
        self._write_text(action, f"{value % self._end:0{self.width}b}")


class Pins:
    """Ports of one module, by the names that they have in rtl/; `prefix` is what the top of a build puts before them."""

    def __init__(self, top: HierarchyObject, prefix: str = "") -> None:
        self._top = top
        self._prefix = prefix
        self._ports: dict[str, Port] = {}
        self._driven: dict[str, int] = {}

    def drive(self, **values: int) -> None:
        """Set inputs; they are there for whoever samples next. A value that does not fit raises ValueError."""
        driven = self._driven
        for name, value in values.items():
            # Nobody else drives a port, so one that keeps its value needs no write.
            if driven.get(name) != value:
                self.port(name).set(value)
                driven[name] = value

    def __getitem__(self, name: str) -> int:
        """The port's value now, its bits read as unsigned. UnknownValueError when it has an x or a z."""
        bits = self.port(name).bits()
        try:
            return int(bits, 2)
        except ValueError:
            raise UnknownValueError(f"{self._prefix}{name} is {bits}") from None

    def signed(self, name: str) -> int:
        """The port's value now, its bits read as two's complement."""
        value, width = self[name], self.port(name).width
        return value - (1 << width) if value >> (width - 1) else value

    def port(self, name: str) -> Port:
        """That port, looked up once."""
        found = self._ports.get(name)
        if found is None:
            handle = cast("LogicArrayObject", self._top[f"{self._prefix}{name}"])
            found = self._ports[name] = Port(handle)
        return found


class Clocking:
    """Makes the clock, one cycle at a time, at the pace of whoever awaits it; `cycle` numbers the current one.

    A test stands right after a falling edge: it drives, may await `settled` to sample, and awaits `next_cycle`. Parts
    that take part in every cycle register `samples` (just before the rising edge) and `drives` (after the falling one).
    """

    def __init__(self, clock: Port) -> None:
        self._clock = clock
        self._half_period = Timer(HALF_PERIOD_NS, "ns")
        self._settled = False
        self.cycle = 0
        self.samples: list[Step] = []
        self.drives: list[Step] = []
        clock.set(0)

    async def settled(self) -> None:
        """Just before the rising edge that ends this cycle: what combinational logic makes of the inputs is there."""
        if not self._settled:
            await self._half_period
            self._sample()

    async def next_cycle(self, count: int = 1) -> None:
        """Right after the falling edge of the next cycle, or of the `count`-th."""
        for _ in range(count):
            if not self._settled:
                await self._half_period
                self._sample()
            self._clock.set(1)
            await self._half_period
            self._clock.set(0)
            self._settled = False
            self.cycle += 1
            for drive in self.drives:
                drive()

    def _sample(self) -> None:
        self._settled = True
        for sample in self.samples:
            sample()
