"""Programs and lives for a chip of 16 lanes that show its walker, its watchdog, and what it forgets in a flush.

Each gives another result, or takes other cycles, when the rule that its group is written for is not kept. Source:
docs/chip.md section 4, GATHER and PAGE, section 3, soft reset, and section 6, DMA requests, Flush and Watchdog.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from impl.chip import Profile, Start
from impl.program import to_words
from spec.isa import (
    Av,
    DotL,
    Fence,
    Gather,
    Halt,
    Instruction,
    Load,
    Register,
    Score,
    Store,
    StReg,
)
from verify.chips.program_cases import OUT, REGISTERS

ROW_WORDS = 4
TABLE, POOL = 0x20, 0x1000
VALID = 1 << 31
FIRST = 4
"""The register that names the first logical row."""

VALUES_AT = 40
"""The scratchpad row from which the values are, behind the keys."""


@dataclass(frozen=True, slots=True)
class Walk:
    """`count` rows of keys and of values from logical row `first` on; `ring` are the pages of its slots, a power of two."""

    log_page_rows: int
    first: int
    count: int
    ring: tuple[int, ...]

    @property
    def start(self) -> Start:
        """They are gathered, with loads before and behind them, and stored."""
        gathers = (
            Gather(0, self.count, 0, address_register=FIRST),
            Gather(VALUES_AT, self.count, 1, address_register=FIRST),
        )
        table = [VALID | page for page in self.ring]
        registers = walker(self.log_page_rows, len(self.ring), max(self.ring) + 1)
        return started(*self._around(gathers), table=table, registers=((host_address(FIRST), self.first), *registers))

    @property
    def loads(self) -> Start:
        """The same rows, each brought by a LOAD of its own."""
        halves = ((0, 0), (VALUES_AT, 1))
        loads = (Load(row + k, 1, self._address(k, half)) for row, half in halves for k in range(self.count))
        return started(*self._around(tuple(loads)))

    def _address(self, k: int, half: int) -> int:
        page_rows = 1 << self.log_page_rows
        row = (self.first + k) % (1 << 32)
        page = self.ring[row // page_rows % len(self.ring)]
        return POOL + ((2 * page + half) * page_rows + row % page_rows) * ROW_WORDS

    def _around(self, brought: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        moves = (Load(80, 3, 0x200), *brought, Load(83, 1, 0x300))
        stores = (Store(80, 4, OUT), Store(0, self.count, OUT + 0x40), Store(VALUES_AT, self.count, OUT + 0x100))
        return (*moves, *stores, Halt())


def host_address(number: int) -> int:
    """Where the host writes that one of R0 .. R7."""
    return Register.R0 + number


def walker(log_page_rows: int, slots: int, pages: int, table: int = TABLE) -> tuple[tuple[int, int], ...]:
    """Host writes of the walker's registers."""
    return (
        (Register.BTBASE, table),
        (Register.BTMASK, slots - 1),
        (Register.POOL, POOL),
        (Register.LOGP, log_page_rows),
        (Register.NPAGES, pages),
    )


def started(
    *program: Instruction,
    table: list[int] | None = None,
    table_at: int = TABLE,
    registers: tuple[tuple[int, int], ...] = (),
    reset_at: int | None = None,
) -> Start:
    """A start of that program, the words of the block table written before it."""
    memory = ((table_at, np.array(table, np.uint32)),) if table else ()
    return Start(to_words(program), registers, memory, reset_at)


WALKS: Mapping[str, Walk] = {
    "pages of one row": Walk(0, 5, 9, (7, 0, 3, 11, 6, 1, 14, 2, 9, 5, 4, 12, 8, 10, 13, 15)),
    "pages of two rows, from the second of one, the ring wrapping": Walk(1, 9, 12, (2, 9, 0, 5, 7, 1, 3, 4)),
    "pages of four rows, the logical rows wrapping": Walk(2, (1 << 32) - 3, 14, (6, 3, 8, 1)),
    "pages of 128 rows": Walk(7, 126, 5, (1, 0)),
}

OLDER = (Load(0, 4, 0), Store(0, 1, OUT), Load(10, 8, 0x300))
"""Before a GATHER: a write that an error must wait for, and reads that are outstanding when the walk begins."""


def _faulty(*table: int, pages: int = 16, table_at: int = TABLE) -> Start:
    """Rows 1 .. 6 of pages of two rows, with this table."""
    program = (*OLDER, Gather(20, 6, 0, address_register=FIRST), Load(0, 1, 0), Fence(), Store(0, 1, OUT + 4), Halt())
    registers = ((host_address(FIRST), 1), *walker(1, 4, pages, table_at))
    return started(*program, table=list(table), table_at=table_at, registers=registers)


WALK_ERRORS: Mapping[str, Start] = {
    "PAGE: a second entry that is not valid": _faulty(VALID | 3, 1, VALID | 2, VALID | 5),
    "PAGE: a third entry with one of its bits 30:16 set": _faulty(VALID | 3, VALID | 1, VALID | 1 << 16 | 2, VALID | 5),
    "PAGE: a page that is NPAGES": _faulty(VALID | 3, VALID | 1, VALID | 6, VALID | 5, pages=6),
    "PAGE: a page above NPAGES": _faulty(VALID | 9, VALID | 1, VALID | 2, VALID | 5, pages=6),
    "PAGE: a page above NPAGES, its rows beyond memory": _faulty(VALID | 3, VALID | 1, VALID | 0x400, VALID | 5),
    "EXT_RANGE: a row beyond memory": _faulty(VALID | 3, VALID | 1, VALID | 0x100, VALID | 5, pages=0x200),
    "EXT_RANGE: a table word beyond memory": _faulty(VALID | 3, VALID | 1, table_at=0x1FFE),
}
"""The first word is the code that ends the run."""

RECOVERED = started(Load(0, 1, 0x140, count_register=1), Store(0, 1, OUT, count_register=1), Halt())
"""Eight requests; more, and another result, with another R1 than a reset leaves. It needs nothing that came before it."""

MOST_REQUESTS = 10
"""After so many memory is silent in the lives of the watchdog."""

SILENT_FROM = Profile(4, mute_after=MOST_REQUESTS)

_SILENT = (
    Load(0, 2, 0x100),
    Gather(20, 2, 0, address_register=FIRST),
    Load(30, 1, 0x200),
    Fence(),
    Halt(),
)


def silent(reset_at: int | None = None) -> Start:
    """A start whose head is its FENCE when memory falls silent in its GATHER."""
    return started(
        *_SILENT, table=[VALID, VALID | 1], registers=((host_address(1), 0), *walker(1, 2, 4)), reset_at=reset_at
    )


TIMEOUT_AT = 4112
"""The busy cycle in which that start times out: the last request is accepted 4,096 before."""

SILENCES: Mapping[str, tuple[Start, ...]] = {
    "a TIMEOUT, and a start behind it": (silent(), RECOVERED),
    "a start behind a reset in the cycle before a TIMEOUT": (silent(TIMEOUT_AT - 1), RECOVERED),
}
"""Lives on a memory that is SILENT_FROM some request on."""

FAR = Profile(200)
"""Answers of a run that is reset come in the middle of the next."""

_READS: tuple[Instruction, ...] = (
    Load(0, 2, 0x100),
    Gather(20, 4, 0, address_register=FIRST),
    Store(0, 1, OUT),
    Fence(),
    Halt(),
)

RESETS: Mapping[str, tuple[Profile, tuple[Start, ...]]] = {
    "a reset while reads are outstanding, the table's among them": (
        FAR,
        (
            started(*_READS, table=[VALID | 2, VALID], registers=((host_address(1), 3), *walker(1, 2, 4)), reset_at=14),
            RECOVERED,
            started(Gather(20, 3, 1, address_register=FIRST), Store(20, 3, OUT), StReg(OUT + 12), Halt()),
            RECOVERED,
        ),
    ),
    "a reset in the middle of a row": (
        FAR,
        (started(Load(0, 3, 0x100), Store(0, 3, OUT + 8), Halt(), reset_at=207), RECOVERED),
    ),
    "a reset while a write is not accepted": (
        SILENT_FROM,
        (started(Load(0, 1, 0x100), Store(0, 1, OUT), Store(0, 1, OUT + 8), Halt(), reset_at=60), RECOVERED),
    ),
    "a reset while a read is not accepted": (
        SILENT_FROM,
        (started(Load(0, 4, 0x100), Halt(), reset_at=60), RECOVERED),
    ),
    "a reset while an op is active": (
        Profile(),
        (
            started(Load(0, 30, 0), Fence(), DotL(a=0, row=1, count=16, dst=60, argmax=True), Halt(), reset_at=140),
            RECOVERED,
        ),
    ),
    "a reset behind a SCORE": (
        Profile(),
        (
            started(Load(0, 4, 0), Score(a=0, row=1, count=3, entry=0), Halt(), registers=REGISTERS),
            started(Load(0, 4, 0), Av(row=1, count=3, dst=9), Halt(), reset_at=0),
            RECOVERED,
        ),
    ),
    "a start behind an error of the walk": (
        Profile(),
        (WALK_ERRORS["PAGE: a second entry that is not valid"], started(Load(0, 1, 0x140), Store(0, 1, OUT), Halt())),
    ),
}
"""Lives, each on its memory."""
