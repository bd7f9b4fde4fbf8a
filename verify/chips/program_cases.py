"""Small programs for a chip of 16 lanes, one for each rule of order and each error; memory holds bytes of all kinds.

Each rule's program gives another result, or takes other cycles, when the rule is not kept. Source: docs/chip.md sections 4
and 5.
"""

from collections.abc import Mapping

from spec.isa import (
    Av,
    Dot,
    DotL,
    Fence,
    Halt,
    Instruction,
    Load,
    Register,
    Score,
    SetQ,
    Store,
    StReg,
)

OUT = 0x800
"""Where the programs store what they computed."""

COEFFICIENTS = SetQ(0, 40_000, 30)
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
        Store(100, 3, OUT + 80),
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
    "more descriptors than the queue has": (*(Load(row, 1, 4 * row) for row in range(12)), Store(0, 12, OUT), Halt()),
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
    "EXT_RANGE": (Load(0, 4, 0), Store(0, 1, OUT), Load(0, 1, 0x1FFD), Store(1, 1, OUT + 4), Halt()),
    "ROW_RANGE": (Load(0, 4, 0), Store(0, 1, OUT), Load(1023, 2, 0), Store(1, 1, OUT + 4), Halt()),
    "COUNT": (Load(0, 4, 0), Store(0, 1, OUT), Score(a=0, row=1, count=-1, entry=0), Store(1, 1, OUT + 4), Halt()),
    "DIV0": (Load(0, 4, 0), Store(0, 1, OUT), Av(row=1, count=2, dst=9), Store(1, 1, OUT + 4), Halt()),
    "PC_END": (Load(0, 4, 0), *(Store(0, 1, OUT) for _ in range(3)), *(Fence() for _ in range(252))),
}
"""By the code that ends the run. What follows the program in instruction memory is 0, which is ILLEGAL."""

REGISTERS = ((Register.R0 + 1, 7), (Register.R0 + 2, 3), (Register.R0 + 3, 0x80))
