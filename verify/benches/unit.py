"""One module of rtl/ on its own: its pins, with every input 0 and the reset behind it."""

from dataclasses import dataclass
from pathlib import Path

from cocotb.handle import HierarchyObject

from verify.benches.benches_top import CLOCK, RESET, inputs, modules
from verify.benches.clocking import Clocking, Pins

RTL = Path(__file__).resolve().parents[2] / "rtl"


@dataclass(frozen=True, slots=True)
class Unit:
    """A module in the top of all modules, and the time of the bench."""

    pins: Pins
    clocking: Clocking
    shared: Pins

    async def reset(self, **values: int) -> None:
        """Drive these inputs beside an edge in reset; the next cycle has begun on return, out of reset."""
        self.pins.drive(**values)
        self.shared.drive(**{RESET: 0})
        await self.clocking.next_cycle()
        self.shared.drive(**{RESET: 1})

    async def sees(self, **values: int) -> None:
        """Drive these inputs and wait until just before the edge, where outputs are read."""
        self.pins.drive(**values)
        await self.clocking.settled()

    async def clocked(self, **values: int) -> None:
        """Drive these inputs for one cycle; the next one has begun on return, with the inputs unchanged."""
        self.pins.drive(**values)
        await self.clocking.next_cycle()


async def unit_after_reset(top: HierarchyObject, module: str) -> Unit:
    """The module after two edges in reset, every input 0, those of the other modules too: they have assertions."""
    shared = Pins(top)
    clocking = Clocking(shared.port(CLOCK))
    for each in modules(RTL):
        Pins(top, f"{each}_").drive(**dict.fromkeys(inputs(RTL, each), 0))
    shared.drive(**{RESET: 0})
    await clocking.next_cycle(2)
    shared.drive(**{RESET: 1})
    return Unit(Pins(top, f"{module}_"), clocking, shared)
