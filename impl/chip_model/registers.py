"""What the host sees of the chip, and its instruction memory. Source: docs/chip.md section 3."""

from impl.chip_model.counters import Counting
from spec.isa import BUSY, CODE_SHIFT, DONE, ERROR, IMEM_BASE, IMEM_INSTRUCTIONS, ErrorCode, Register

REGISTERS = 8
R0, R7 = Register.R0, Register.R7

WALKER = {
    Register.BTBASE: ("btbase", 20),
    Register.BTMASK: ("btmask", 16),
    Register.POOL: ("pool", 20),
    Register.LOGP: ("logp", 3),
    Register.NPAGES: ("npages", 17),
}
"""The walker's registers: name, and how many bits of a write they keep."""


class WalkerRegisters:
    """Where the block table and the pool are."""

    __slots__ = ("btbase", "btmask", "logp", "npages", "pool")

    def __init__(self) -> None:
        self.btbase = self.btmask = self.pool = self.logp = self.npages = 0


class Registers:
    """STATUS, ERRPC, TOK, R0 .. R7, the counters, the walker's, and IMEM as words."""

    __slots__ = ("busy", "code", "counting", "done", "error", "error_pc", "imem", "r", "token", "walker")

    code: ErrorCode

    def __init__(self) -> None:
        self.counting = Counting()
        self.walker = WalkerRegisters()
        self.imem = [0] * (2 * IMEM_INSTRUCTIONS)
        self.soft_reset()

    @property
    def status(self) -> int:
        """STATUS as the host reads it."""
        return self.code << CODE_SHIFT | ERROR * self.error | DONE * self.done | BUSY * self.busy

    def host_write(self, address: int, value: int) -> None:
        """Pass the edge of a cycle that is not busy with a write of R1 .. R7, the walker's registers or IMEM."""
        if R0 < address <= R7:
            self.r[address - R0] = value
        elif address in WALKER:
            name, bits = WALKER[Register(address)]
            setattr(self.walker, name, value & (1 << bits) - 1)
        elif IMEM_BASE <= address < IMEM_BASE + len(self.imem):
            self.imem[address - IMEM_BASE] = value

    def start(self) -> None:
        """Become busy."""
        self._clear()
        self.busy = True

    def end(self, code: ErrorCode, pc: int) -> None:
        """End the run, with NONE or with the error of the instruction `pc`."""
        self.busy = False
        self.done = True
        if code is not ErrorCode.NONE:
            self.error, self.code, self.error_pc = True, code, pc

    def soft_reset(self) -> None:
        """Stop, and set all but the walker's registers and IMEM to 0."""
        self._clear()
        self.token = 0
        self.r = [0] * REGISTERS

    def _clear(self) -> None:
        self.busy = self.done = self.error = False
        self.code = ErrorCode.NONE
        self.error_pc = 0
        self.counting.clear()
