"""The whole chip in a bench: its pins, a memory and a host around it, and the monitors that watch both ports."""

from dataclasses import dataclass

from cocotb.handle import HierarchyObject

from spec.isa import EXT_WORDS
from verify.benches.benches_top import CHIP
from verify.benches.clocking import Clocking, Pins
from verify.benches.host_port import HostDriver, HostPortMonitor
from verify.benches.memory_port import MemoryDriver, MemoryPortMonitor
from verify.benches.patterns import Traffic

LANES = 16
"""Lanes of the chip that the benches build."""
ROW_WORDS = LANES // 4

RESET_CYCLES = 3


@dataclass(frozen=True, slots=True)
class ChipUnderTest:
    """A chip after reset, with all that surrounds it."""

    pins: Pins
    clocking: Clocking
    memory_port: MemoryPortMonitor
    memory: MemoryDriver
    host_port: HostPortMonitor
    host: HostDriver


async def reset(pins: Pins, clocking: Clocking) -> None:
    """Hold rst_n low for some edges with every input quiet; outputs count only from then on."""
    pins.drive(rst_n=0, mem_req_ready=0, mem_rsp_valid=0, mem_rsp_data=0, h_we=0, h_addr=0, h_wdata=0)
    await clocking.next_cycle(RESET_CYCLES)
    pins.drive(rst_n=1)


async def chip_after_reset(top: HierarchyObject, traffic: Traffic) -> ChipUnderTest:
    """The chip `kestrel`, reset, with a memory of that traffic, all of it 0."""
    pins = Pins(top, f"{CHIP}_")
    clocking = Clocking(pins.port("clk"))
    await reset(pins, clocking)
    memory_port = MemoryPortMonitor(pins, clocking)
    memory = MemoryDriver(pins, clocking, memory_port, EXT_WORDS, traffic)
    host = HostDriver(pins, clocking)
    return ChipUnderTest(pins, clocking, memory_port, memory, HostPortMonitor(pins, clocking), host)
