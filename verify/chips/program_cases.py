"""Small programs for a chip of 16 lanes: one or more for each rule of order and each error, and lives of several starts.

Each rule's program gives another result, or takes other cycles, when the rule is not kept. Source: docs/chip.md sections 3
to 5.
"""

from collections.abc import Mapping

import numpy as np

from impl.chip import MemoryWords, Start
from impl.program import to_words
from spec.isa import (
    EXT_WORDS,
    Av,
    Dot,
    DotL,
    Fence,
    Gather,
    Halt,
    Instruction,
    Load,
    Register,
    Score,
    SetQ,
    Store,
    StReg,
    Words,
    encode,
)

OUT = 0x800
"""Where the programs store what they computed."""

COEFFICIENTS = SetQ(0, 40_000, 30)
MEMORY: MemoryWords = np.random.default_rng(5).integers(0, 2**32, EXT_WORDS, np.uint32)
"""What memory begins as: bytes of all kinds; a chip has a copy of its own."""
MEMORY.flags.writeable = False

Program = tuple[Instruction, ...]

ORDER: Mapping[str, Program] = {
    "CHIP-CHASE: an op reads rows that are still on their way": (
        COEFFICIENTS,
        Load(0, 20, 0),
        Dot(a=19, row=0, count=16, dst=40, entry=0),
        Store(40, 1, OUT),
        Halt(),
    ),
    "CHIP-LOAD: a load into the rows of an active op waits": (
        COEFFICIENTS,
        Load(0, 40, 0),
        Fence(),
        Dot(a=0, row=1, count=32, dst=50, entry=0),
        Load(30, 3, 0x200),
        Store(50, 2, OUT),
        Store(30, 3, OUT + 16),
        Halt(),
    ),
    "CHIP-LOAD: a load into the residual row of an active op waits": (
        SetQ(0, 40_000, 30, residual_row=60, residual=20_000),
        Load(0, 40, 0),
        Load(60, 1, 0x180),
        Fence(),
        Dot(a=0, row=1, count=32, dst=50, entry=0),
        Load(60, 1, 0x200),
        Store(50, 2, OUT),
        Halt(),
    ),
    "CHIP-LOAD: a load into the result row of an active op stays": (
        COEFFICIENTS,
        Load(0, 40, 0),
        Fence(),
        Dot(a=0, row=1, count=32, dst=50, entry=0),
        Load(50, 2, 0x200),
        Store(50, 2, OUT),
        Halt(),
    ),
    "CHIP-LOAD: a load into the first, or the last, row that an active op reads waits": (
        COEFFICIENTS,
        Load(0, 40, 0),
        Fence(),
        Dot(a=0, row=1, count=32, dst=50, entry=0),
        Load(32, 1, 0x200),
        Dot(a=0, row=2, count=31, dst=52, entry=0),
        Load(0, 1, 0x210),
        Store(50, 4, OUT),
        Halt(),
    ),
    "CHIP-STORE: a store of an op's results waits for them": (
        COEFFICIENTS,
        Load(0, 20, 0),
        Fence(),
        Dot(a=0, row=1, count=16, dst=50, entry=0),
        Store(50, 1, OUT),
        Halt(),
    ),
    "CHIP-RESULT: an op does not write over a row that waits to be stored": (
        COEFFICIENTS,
        Load(0, 20, 0),
        Fence(),
        Load(100, 40, 0x200),
        Store(18, 2, OUT),
        Dot(a=0, row=1, count=16, dst=19, entry=0),
        Store(19, 1, OUT + 16),
        Halt(),
    ),
    "CHIP-RESULT: a load does not write over a younger result": (
        COEFFICIENTS,
        Load(0, 20, 0),
        Fence(),
        Load(100, 40, 0x200),
        Load(30, 2, 0x100),
        Dot(a=0, row=1, count=16, dst=31, entry=0),
        Store(31, 1, OUT),
        Halt(),
    ),
    "CHIP-RESULT: result rows 256 apart, and a load between them": (
        COEFFICIENTS,
        Load(0, 50, 0),
        Fence(),
        Load(200, 40, 0x300),
        Dot(a=0, row=1, count=48, dst=100, entry=0, apart=True),
        Store(100, 1, OUT),
        Store(356, 1, OUT + 8),
        Store(612, 1, OUT + 16),
        Halt(),
    ),
    "CHIP-IDLE: an entry, and TOK, change only between ops": (
        COEFFICIENTS,
        Load(0, 40, 0),
        Fence(),
        Dot(a=0, row=1, count=16, dst=50, entry=0),
        SetQ(0, 60_000, 28, residual_row=3, residual=-700),
        Dot(a=0, row=1, count=20, dst=51, entry=0),
        DotL(a=0, row=1, count=9, dst=60, argmax=True),
        StReg(OUT),
        Store(50, 3, OUT + 8),
        Store(60, 3, OUT + 24),
        Halt(),
    ),
    "CHIP-IDLE: a STREG that waits in the queue sends the TOK of its own time": (
        Load(0, 40, 0),
        Fence(),
        DotL(a=0, row=1, count=9, dst=60, argmax=True),
        Store(0, 20, OUT + 0x40),
        StReg(OUT),
        DotL(a=20, row=1, count=9, dst=64, argmax=True),
        StReg(OUT + 1),
        DotL(a=22, row=1, count=9, dst=64),
        StReg(OUT + 2),
        Halt(),
    ),
    "CHIP-QUIET: a STREG writes after the load before it": (Load(0, 4, 0), StReg(OUT), Store(0, 4, OUT + 8), Halt()),
    "CHIP-QUIET: a store reads its row after the load before it": (
        Load(0, 4, 0),
        Store(0, 4, OUT),
        Load(2, 2, OUT),
        Store(2, 2, OUT + 16),
        StReg(OUT + 40),
        Halt(),
    ),
    "CHIP-PORTS: loaded rows and stored rows go before an op's": (
        COEFFICIENTS,
        Load(0, 40, 0),
        Fence(),
        Store(20, 12, OUT),
        Load(100, 60, 0x100),
        Dot(a=0, row=1, count=17, dst=50, entry=0),
        Store(50, 2, OUT + 64),
        Store(100, 60, OUT + 80),
        Halt(),
    ),
    "CHIP-PORTS: two result rows end one after the other while a loaded row is written": (
        Load(0, 18, 0),
        COEFFICIENTS,
        Fence(),
        Dot(a=0, row=1, count=17, dst=100, entry=0),
        Load(40, 8, 0x200),
        Fence(),
        Store(100, 2, OUT),
        Store(40, 8, OUT + 16),
        Halt(),
    ),
    "scores, weights and their mean, twice, while rows come": (
        SetQ(3, 50_000, 20),
        Load(0, 1, 0),
        Load(10, 9, 0x40),
        Load(30, 9, 0x100),
        Score(a=0, row=10, count=9, entry=3),
        Av(row=30, count=9, dst=5),
        Score(a=5, row=11, count=1, entry=3),
        Av(row=31, count=1, dst=6),
        Store(5, 2, OUT),
        Halt(),
    ),
    "residual rows of two entries, and an entry as reset left it": (
        SetQ(15, 40_000, 30, residual_row=40, residual=20_000),
        SetQ(0, 50_000, 29, residual_row=41, residual=-30_000),
        Load(0, 42, 0),
        Dot(a=0, row=1, count=21, dst=50, entry=15, next_entry=True),
        Dot(a=0, row=1, count=16, dst=52, entry=5),
        Store(50, 3, OUT),
        Halt(),
    ),
    "scores that are negative, equal or far apart, and a mean at its halves": (
        SetQ(3, 32_768, 16),
        Load(0, 1, 0),
        Load(10, 2, 0x40),
        Load(12, 1, 0x44),
        Load(20, 3, 0x100),
        Score(a=0, row=10, count=3, entry=3),
        Av(row=20, count=3, dst=5),
        Score(a=0, row=11, count=2, entry=3),
        Av(row=21, count=2, dst=6),
        Store(5, 2, OUT),
        Halt(),
    ),
    "the last rows of the scratchpad and the last words of memory": (
        COEFFICIENTS,
        Load(992, 32, 0x1F80),
        Dot(a=992, row=993, count=29, dst=1022, entry=0),
        Dot(a=992, row=1008, count=15, dst=1023, entry=0),
        Store(1022, 2, 0x1FF8),
        Halt(),
    ),
    "more descriptors than the queue has": (*(Load(row, 1, 4 * row) for row in range(12)), Store(0, 12, OUT), Halt()),
    "an op behind as many descriptors as the queue has, and behind one more": (
        COEFFICIENTS,
        Load(0, 49, 0),
        Fence(),
        *(Load(100 + row, 1, 4 * row) for row in range(9)),
        Dot(a=0, row=1, count=48, dst=60, entry=0),
        Fence(),
        *(Load(100 + row, 1, 4 * row) for row in range(10)),
        Dot(a=0, row=1, count=48, dst=64, entry=0),
        Store(60, 3, OUT),
        Halt(),
    ),
    "counts, rows and addresses from registers, and counts of 0": (
        Load(0, -2, 0, count_register=1, row_register=2, address_register=3),
        Load(9, -7, 0, count_register=1),
        Store(1023, -7, 0xFFFFF, count_register=1),
        Store(3, 5, OUT, address_register=0),
        Halt(),
    ),
}

ERRORS: Mapping[str, Program] = {
    "ILLEGAL": (Load(0, 1, 0), Store(0, 1, OUT)),
    "PAGE": (Load(0, 1, 0), Store(0, 1, OUT), Gather(0, 1, 0), Store(0, 1, OUT + 4), Halt()),
    "EXT_RANGE": (Load(0, 4, 0), Store(0, 1, OUT), Load(0, 1, 0x1FFD), Store(1, 1, OUT + 4), Halt()),
    "EXT_RANGE: a STREG behind the last word": (Load(0, 4, 0), StReg(0x2000), Store(1, 1, OUT + 4), Halt()),
    "ROW_RANGE": (Load(0, 4, 0), Store(0, 1, OUT), Load(1023, 2, 0), Store(1, 1, OUT + 4), Halt()),
    "ROW_RANGE: the second result row": (Load(1, 18, 0), Dot(a=1, row=2, count=17, dst=1023, entry=0), Halt()),
    "ROW_RANGE: a result row that is the A row": (Load(0, 4, 0), Dot(a=0, row=1, count=3, dst=0, entry=0), Halt()),
    "ROW_RANGE: a result row that is the last B row": (Load(0, 4, 0), DotL(a=0, row=1, count=3, dst=3), Halt()),
    "ROW_RANGE: a result row that is a residual row": (
        SetQ(0, 40_000, 30, residual_row=9, residual=1),
        Load(0, 10, 0),
        Dot(a=0, row=1, count=3, dst=9, entry=0),
        Halt(),
    ),
    "COUNT": (Load(0, 4, 0), Store(0, 1, OUT), Score(a=0, row=1, count=-1, entry=0), Store(1, 1, OUT + 4), Halt()),
    "COUNT: an op of 256 rows": (Load(0, 4, 0), Score(a=0, row=1, count=256, entry=0), Halt()),
    "COUNT: five result rows": (Load(0, 4, 0), Dot(a=0, row=1, count=65, dst=500, entry=0), Halt()),
    "COUNT: an AV of fewer rows than the last SCORE": (
        Load(0, 4, 0),
        Score(a=0, row=1, count=3, entry=0),
        Av(row=1, count=2, dst=9),
        Halt(),
    ),
    "DIV0": (Load(0, 4, 0), Store(0, 1, OUT), Av(row=1, count=2, dst=9), Store(1, 1, OUT + 4), Halt()),
    "PC_END": (Load(0, 4, 0), *(Store(0, 1, OUT) for _ in range(3)), *(Fence() for _ in range(252))),
}
"""The first word is the code that ends the run. What follows the program in instruction memory is 0, which is ILLEGAL."""

REGISTERS = ((Register.R0 + 1, 7), (Register.R0 + 2, 3), (Register.R0 + 3, 0x80))


def _start(*program: Instruction, registers: tuple[tuple[int, int], ...] = REGISTERS) -> Start:
    return Start(to_words(program), registers)


def _with_bits(instruction: Instruction, low: int = 0, high: int = 0) -> Start:
    """A start of one instruction, with these bits of its words turned over."""
    w0, w1 = encode(instruction)
    words: Words = (w0 ^ low, w1 ^ high)
    return Start((words,))


LIVES: Mapping[str, tuple[Start, ...]] = {
    "what a run left is there in the next one, and counters begin anew": (
        _start(
            SetQ(3, 50_000, 20),
            SetQ(4, 40_000, 30, residual_row=2, residual=-20_000),
            Load(0, 30, 0),
            Score(a=0, row=1, count=9, entry=3),
            DotL(a=0, row=1, count=9, dst=60, argmax=True),
            Halt(),
        ),
        _start(
            Av(row=11, count=9, dst=40),
            Dot(a=0, row=1, count=16, dst=41, entry=4),
            Store(40, 2, OUT),
            StReg(OUT + 8),
            Store(3, -6, OUT + 12, count_register=1),
            Halt(),
            registers=(),
        ),
        Start(registers=((Register.R0 + 1, 9),)),
    ),
    "a start behind an error forgets it, and R0 stays 0": (
        _start(Load(0, 4, 0), Load(1023, 2, 0), Halt()),
        _start(Store(0, 4, OUT), Halt(), registers=((Register.R0, 5), *REGISTERS)),
        _start(Load(0, 4, 0), Halt()),
    ),
    "bits that an instruction does not use, and fields out of range": (
        _with_bits(Halt(), low=1 << 25),
        _with_bits(Fence(), high=1),
        _with_bits(SetQ(0, 40_000, 40), low=1 << 16),  # sh = 41
        _with_bits(SetQ(0, 40_000, 1), low=1 << 16),  # sh = 0
        _with_bits(SetQ(0, 32_768, 1), low=1 << 15),  # M = 0
        _with_bits(SetQ(0, 40_000, 1), high=1 << 26),
        _with_bits(Load(0, 1, 0), high=1 << 20),
        _with_bits(StReg(0), low=1),
        _with_bits(Dot(0, 1, 1, 9, 0), high=1 << 26),  # fl = 4
        _with_bits(DotL(0, 1, 1, 9), high=1 << 25),  # fl = 2
        _with_bits(Score(0, 1, 1, 0), high=1),
        _with_bits(Av(1, 1, 9), high=1 << 10),
        _start(Halt()),
    ),
}
"""Starts one after the other, from power-on."""
