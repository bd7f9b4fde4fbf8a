"""The host port: a driver that writes, reads and starts, and a monitor of what the registers may say."""

from collections.abc import Sequence
from dataclasses import dataclass

from spec.isa import BUSY, CODE_SHIFT, DONE, ERROR, IMEM_BASE, RESET, START, ErrorCode, Instruction, Register, encode
from verify.benches.clocking import Clocking, Pins

COUNTERS = (
    Register.TOTAL,
    Register.DMA,
    Register.MAC,
    Register.VEC,
    Register.STALL,
    Register.RDW,
    Register.WRW,
)


class StatusError(AssertionError):
    """STATUS had a value that docs/chip.md section 3 does not know, or changed as it may not."""


class StillBusyError(AssertionError):
    """A run did not end within the cycles it was given."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What the registers said when a run was over."""

    status: int
    error_pc: int
    token: int
    total: int
    dma: int
    mac: int
    vec: int
    stall: int
    read_words: int
    written_words: int


class HostPortMonitor:
    """Samples STATUS whenever it is addressed, raises StatusError for values and changes that may not be.

    It drives nothing. `busy_cycles` counts the cycles in which STATUS was seen to be busy.
    """

    def __init__(self, pins: Pins, clocking: Clocking) -> None:
        self._pins = pins
        self._clocking = clocking
        self._start_cycle: int | None = None
        self._reset_cycle: int | None = None
        self._seen: tuple[int, int] | None = None
        self.busy_cycles = 0
        clocking.samples.append(self.sample)

    def sample(self) -> None:
        """Check this cycle."""
        pins, cycle = self._pins, self._clocking.cycle
        address, data = pins["h_addr"], pins["h_rdata"]
        if address == Register.STATUS:
            self.check(cycle, data)
        if pins["h_we"] and address == Register.CTRL:
            self.wrote(cycle, pins["h_wdata"])

    def wrote(self, cycle: int, value: int) -> None:
        """Take note of a write of CTRL in this cycle: a soft reset, or a start."""
        if value & RESET:
            self._start_cycle, self._reset_cycle = None, cycle
        elif value & START:
            self._start_cycle = cycle

    def check(self, cycle: int, status: int) -> None:
        """Raise StatusError for a value, or a step from the last one seen, that may not be."""
        where = f"at cycle {cycle} STATUS is {status:#x}"
        code, low = status >> CODE_SHIFT, status & 0xFF
        before = self._seen and self._seen[1] & 0xFF
        started = self._start_cycle is not None
        if self._reset_cycle is not None:
            before, self._reset_cycle = 0, None
            if not started and status:
                raise StatusError(f"{where} after a soft reset (CHIP-RESET)")
        # A start that came while busy is ignored; whether it did is known only when STATUS was seen right before it.
        surely = started and self._start_cycle == cycle - 1 and self._seen is not None and before != BUSY
        if low not in (0, BUSY, DONE, DONE | ERROR):
            raise StatusError(f"{where}: neither idle, busy, done nor done with an error")
        if bool(low & ERROR) != bool(code) or code > max(ErrorCode):
            raise StatusError(f"{where}: its code and its error bit disagree")
        if surely and low != BUSY:
            raise StatusError(f"{where}, not busy after a start")
        if not started and before not in (None, BUSY) and low != before:
            raise StatusError(f"{where}, {before:#x} before, and nobody started it")
        if before == BUSY and not low:
            raise StatusError(f"{where}: a run ended without being done")
        self._start_cycle = None
        self._seen = (cycle, status)
        self.busy_cycles += low == BUSY


class HostDriver:
    """Writes and reads registers, one a cycle; between accesses it addresses STATUS, so that the monitor sees every cycle."""

    def __init__(self, pins: Pins, clocking: Clocking) -> None:
        self._pins = pins
        self._clocking = clocking
        self._pins.drive(h_we=0, h_addr=Register.STATUS, h_wdata=0)

    async def write(self, address: int, value: int) -> None:
        """Write a register: it takes effect at the edge that ends this cycle."""
        self._pins.drive(h_we=1, h_addr=address, h_wdata=value)
        await self._clocking.next_cycle()
        self._pins.drive(h_we=0, h_addr=Register.STATUS, h_wdata=0)

    async def read(self, address: int) -> int:
        """The register in this cycle; the next one has begun when it returns."""
        self._pins.drive(h_addr=address)
        await self._clocking.settled()
        value = self._pins["h_rdata"]
        await self._clocking.next_cycle()
        self._pins.drive(h_addr=Register.STATUS)
        return value

    async def load(self, program: Sequence[Instruction]) -> None:
        """Write a program to the instruction memory from instruction 0."""
        for number, instruction in enumerate(program):
            for half, word in enumerate(encode(instruction)):
                await self.write(IMEM_BASE + 2 * number + half, word)

    async def start(self) -> None:
        """Start at instruction 0; the first busy cycle has begun when it returns."""
        await self.write(Register.CTRL, START)

    async def soft_reset(self, value: int = RESET) -> None:
        """Flush the chip, whatever it does; not busy in the cycle that has begun when it returns."""
        await self.write(Register.CTRL, value)

    async def ended(self, limit: int = 20_000) -> Ended:
        """Wait until the run is over and read what it left. StillBusyError after `limit` cycles."""
        for _ in range(limit):
            await self._clocking.settled()
            status = self._pins["h_rdata"]
            if not status & BUSY:
                break
            await self._clocking.next_cycle()
        else:
            raise StillBusyError(f"still busy after {limit} cycles")
        await self._clocking.next_cycle()
        left = [await self.read(address) for address in (Register.ERRPC, Register.TOK, *COUNTERS)]
        return Ended(status, *left)

    async def run(self, program: Sequence[Instruction], limit: int = 20_000) -> Ended:
        """Load, start, and wait for the end."""
        await self.load(program)
        await self.start()
        return await self.ended(limit)
