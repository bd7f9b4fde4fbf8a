"""Memory port of the whole chip: one program that uses all of DMA, on every memory of patterns.PATTERNS.

DMA is in order, so whatever the memory does, the accepted requests are the same list; only their cycles differ.
"""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import DONE, MOST_OUTSTANDING, Fence, Gather, Halt, Instruction, Load, Register, Store, StReg
from verify.benches.chip_under_test import ROW_WORDS, ChipUnderTest, chip_after_reset
from verify.benches.memory_port import Edge, Request
from verify.benches.patterns import PATTERNS, Traffic
from verify.benches.scoreboard import Scoreboard
from verify.benches.walk_model import VALID, Walker, WalkModel, reads_of

SOURCE, COPY, SECOND, THIRD, TOKEN = 0x0100, 0x0800, 0x1000, 0x1800, 0x1FFF
ROWS = 24
WALKER = Walker(btbase=0x600, btmask=3, pool=0x400, logp=1, npages=8)
TABLE = [VALID | page for page in (5, 0, 7, 2)]
GATHERED = 13
"""The first logical row of both GATHERs: three pages, behind the end of the ring."""

PROGRAM: tuple[Instruction, ...] = (
    Load(row=0, count=ROWS, address=SOURCE),
    Store(row=0, count=ROWS, address=COPY),
    StReg(address=TOKEN),
    Gather(row=600, count=5, half=1, address_register=1),
    Gather(row=605, count=3, half=0, address_register=1),
    Store(row=600, count=8, address=THIRD),
    Load(row=500, count=3, address=COPY),
    Load(row=503, count=1, address=COPY + 3 * ROW_WORDS),
    Store(row=500, count=4, address=SECOND),
    Fence(),
    Load(row=1023, count=1, address=SECOND),
    Store(row=1023, count=1, address=SECOND + 4 * ROW_WORDS),
    Halt(),
)


def requests_of_the_program(data: list[int], memory: list[int]) -> list[Request]:
    """What the program asks for, in order, when memory at SOURCE holds `data` (CHIP-GATHER: also of the walk)."""
    walks = [reads_of(WalkModel(WALKER, GATHERED, half, count), memory) for half, count in ((1, 5), (0, 3))]
    table = range(WALKER.btbase, WALKER.btbase + len(TABLE))

    def reads(address: int, rows: int) -> list[Request]:
        return [Request(False, address + i, 0) for i in range(rows * ROW_WORDS)]

    def writes(address: int, words: list[int]) -> list[Request]:
        return [Request(True, address + i, word) for i, word in enumerate(words)]

    return [
        *reads(SOURCE, ROWS),
        *writes(COPY, data),
        *writes(TOKEN, [0]),
        *[Request(False, address, 0) for walk in walks for address in walk],
        *writes(THIRD, [memory[address] for walk in walks for address in walk if address not in table]),
        *reads(COPY, 4),
        *writes(SECOND, data[: 4 * ROW_WORDS]),
        *reads(SECOND, 1),
        *writes(SECOND + 4 * ROW_WORDS, data[:ROW_WORDS]),
    ]


async def copied(top: HierarchyObject, traffic: Traffic) -> tuple[ChipUnderTest, Scoreboard[Request]]:
    """The chip after the program, every accepted request compared."""
    chip = await chip_after_reset(top, traffic)
    data = [random.Random(7).getrandbits(32) for _ in range(ROWS * ROW_WORDS)]
    chip.memory.fill(SOURCE, data)
    chip.memory.fill(WALKER.btbase, TABLE)
    chip.memory.fill(WALKER.pool, data[::-1] + data)
    for name, value in WALKER._asdict().items():
        await chip.host.write(Register[name.upper()], value)
    await chip.host.write(Register.R1, GATHERED)
    scoreboard: Scoreboard[Request] = Scoreboard("request")
    scoreboard.expect(requests_of_the_program(data, chip.memory.words))

    def see(edge: Edge) -> None:
        if edge.accepted and edge.request is not None:
            scoreboard.see(edge.request)

    chip.memory_port.listeners.append(see)
    ended = await chip.host.run(PROGRAM)
    assert ended.status == DONE, f"STATUS is {ended.status:#x}"
    assert chip.memory.words[SECOND : SECOND + 4 * ROW_WORDS] == data[: 4 * ROW_WORDS]
    assert ended.read_words == len(chip.memory_port.reads()), "RDW is not the number of reads"
    assert ended.written_words == len(chip.memory_port.writes()), "WRW is not the number of writes"
    return chip, scoreboard


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in PATTERNS])
async def requests_hold_and_come_in_order_on(top: HierarchyObject, traffic: Traffic) -> None:
    """A request stays until it is accepted, reads and writes come in program order, CHIP-QUIET holds at every edge."""
    chip, scoreboard = await copied(top, traffic)
    scoreboard.finish()
    if 0 in traffic.ready:
        assert chip.memory_port.held, "no request ever waited, so nothing was learned about holding one"


@cocotb.test()
async def a_slow_memory_sees_sixteen_reads_outstanding_and_never_more(top: HierarchyObject) -> None:
    """The limit is reached: a chip that stopped at 15 would keep the protocol and lose cycles."""
    chip, _ = await copied(top, Traffic("slow", gaps=(60,)))
    assert chip.memory_port.most_outstanding == MOST_OUTSTANDING


@cocotb.test()
async def nothing_is_raised_after_the_end_of_a_run(top: HierarchyObject) -> None:
    """HALT waits for the queue (CHIP-IDLE): when busy falls, every write was accepted and none follows."""
    chip, scoreboard = await copied(top, Traffic("hesitant", ready=(0, 0, 0, 1)))
    scoreboard.finish()
    before = len(chip.memory_port.accepted)
    await chip.clocking.next_cycle(100)
    assert len(chip.memory_port.accepted) == before
    assert chip.memory_port.outstanding == 0


@cocotb.test()
async def a_memory_that_is_never_ready_keeps_the_same_request_for_ever(top: HierarchyObject) -> None:
    """Five hundred cycles without ready: the first read stays raised, unchanged, and nothing is counted as read."""
    chip = await chip_after_reset(top, Traffic("never", ready=(0,)))
    await chip.host.load(PROGRAM)
    await chip.host.start()
    await chip.clocking.next_cycle(500)
    assert chip.memory_port.accepted == []
    assert chip.memory_port.held > 490
