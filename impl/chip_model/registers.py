"""What the host sees of the chip, and its instruction memory. Source: docs/chip.md section 3."""

from impl.chip_model.counters import Counting
from spec.isa import BUSY, CODE_SHIFT, DONE, ERROR, IMEM_BASE, IMEM_INSTRUCTIONS, START, ErrorCode, Register


class Registers:
    """STATUS, ERRPC, TOK, R0 .. R7, the counters, and IMEM as words."""

    __slots__ = ("busy", "code", "counting", "done", "error", "error_pc", "imem", "r", "token")

    def __init__(self) -> None:
        self.busy = self.done = self.error = False
        self.code = ErrorCode.NONE
        self.error_pc = 0
        self.token = 0
        self.r = [0] * 8
        self.counting = Counting()
        self.imem = [0] * (2 * IMEM_INSTRUCTIONS)

    @property
    def status(self) -> int:
        """STATUS as the host reads it."""
        return self.code << CODE_SHIFT | ERROR * self.error | DONE * self.done | BUSY * self.busy

    def host_write(self, address: int, value: int) -> bool:
        """Whether this write, at the edge of a cycle that is not busy, starts the program. Others set R1 .. R7 or IMEM."""
        if address == Register.CTRL:
            return value & START != 0
        if Register.R0 < address <= Register.R7:
            self.r[address - Register.R0] = value
        elif IMEM_BASE <= address < IMEM_BASE + len(self.imem):
            self.imem[address - IMEM_BASE] = value
        return False

    def start(self) -> None:
        """Become busy."""
        self.busy = True
        self.done = self.error = False
        self.code = ErrorCode.NONE
        self.error_pc = 0
        self.counting.clear()

    def end(self, code: ErrorCode, pc: int) -> None:
        """End the run, with NONE or with the error of the instruction `pc`."""
        self.busy = False
        self.done = True
        if code is not ErrorCode.NONE:
            self.error, self.code, self.error_pc = True, code, pc
