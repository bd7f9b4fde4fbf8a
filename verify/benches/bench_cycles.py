"""Cycles of the whole chip: short programs whose counters follow from docs/chip.md section 6 by hand (CHIP-CYCLE).

The start's edge ends cycle 0. Cycle 1 is the first busy one and fetches, so instruction 0 can issue in cycle 2 and, with
nothing held, instruction i in 2 + i. HALT ends the run in the cycle `total`, the last busy one. k is the memory's latency,
n and m are rows, RW words a row.
"""

from dataclasses import asdict, dataclass

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import DONE, Av, Dot, DotL, Fence, Halt, Instruction, Load, Score, SetQ, Store, StReg
from verify.benches.chip_under_test import LANES, ROW_WORDS, ChipUnderTest, chip_after_reset
from verify.benches.host_port import Ended
from verify.benches.patterns import steady

OUT = 4096
LOADED_ROWS = 3 * LANES + 17


@dataclass(frozen=True, slots=True)
class Cycles:
    """Counters of a run, in cycles and words."""

    total: int
    dma: int = 0
    mac: int = 0
    vec: int = 0
    stall: int = 0
    read_words: int = 0
    written_words: int = 0


def dot(count: int, row: int = 1, dst: int = 600, **more: bool) -> Dot:
    """A DOT of row 0 with rows from `row`."""
    return Dot(a=0, row=row, count=count, dst=dst, entry=0, **more)


async def loaded_chip(top: HierarchyObject, latency: int) -> ChipUnderTest:
    """A chip whose rows 0 .. LOADED_ROWS - 1 and some others were written before, so that no read is of an unspecified row."""
    chip = await chip_after_reset(top, steady(1))
    chip.memory.fill(0, [0x01010101 * (i % 100) for i in range(LOADED_ROWS * ROW_WORDS)])
    load = [Load(row=row, count=count, address=0) for row, count in ((0, LOADED_ROWS), (260, 10), (520, 4), (590, 20))]
    ended = await chip.host.run((*load, SetQ(entry=1, m=40000, shift=20, residual_row=7, residual=3), Halt()))
    assert ended.status == DONE
    chip.memory.behave(steady(latency))
    return chip


def counted(ended: Ended) -> Cycles:
    """The counters alone."""
    return Cycles(**{name: value for name, value in asdict(ended).items() if name in Cycles.__dataclass_fields__})


async def takes(chip: ChipUnderTest, program: tuple[Instruction, ...], wanted: Cycles) -> None:
    """Run the program and compare all counters."""
    busy = chip.host_port.busy_cycles
    ended = await chip.host.run(program)
    assert ended.status == DONE, f"STATUS is {ended.status:#x} after {program}"
    assert counted(ended) == wanted, f"CHIP-CYCLE: {program}: {counted(ended)}, not {wanted}"
    assert chip.host_port.busy_cycles - busy == wanted.total, "STATUS was busy in another number of cycles than TOTAL"


@cocotb.test()
async def control_instructions_take_a_cycle_each(top: HierarchyObject) -> None:
    """[HALT] is busy in two cycles; SETQ, FENCE and moves of no rows issue at once, one a cycle."""
    chip = await loaded_chip(top, 1)
    nothing = Load(row=1023, count=0, address=2**20 - 1)
    await takes(chip, (Halt(),), Cycles(total=2))
    await takes(chip, (Fence(), SetQ(entry=3, m=2**15, shift=1), nothing, Halt()), Cycles(total=5))


@cocotb.test()
@cocotb.parametrize(latency=[1, 4, 15, 16, 40])
async def a_load_takes_a_word_a_cycle_and_the_latency(top: HierarchyObject, latency: int) -> None:
    """Read w is accepted in 3 + w while less than 16 are outstanding; HALT follows the last answer."""
    chip = await loaded_chip(top, latency)
    for rows in (1, 2, 9):
        accepted: list[int] = []
        for w in range(rows * ROW_WORDS):
            # Outstanding counts an answered read until the edge that ends the answer's cycle.
            full_until = accepted[w - 16] + latency + 1 if w >= 16 else 0
            accepted.append(max(accepted[-1] + 1 if w else 3, full_until))
        last = accepted[-1] + latency
        wanted = Cycles(total=last + 1, dma=last - 2, stall=last - 2, read_words=len(accepted))
        await takes(chip, (Load(row=0, count=rows, address=0), Halt()), wanted)


@cocotb.test()
async def a_store_takes_two_cycles_and_a_word_a_cycle(top: HierarchyObject) -> None:
    """Launched in 3, at the output in 4, words from 5 on without a gap; STREG's only word goes in 3."""
    chip = await loaded_chip(top, 4)
    for rows in (1, 2, 9):
        last = 4 + ROW_WORDS * rows
        wanted = Cycles(total=last + 1, dma=last - 2, stall=last - 2, written_words=ROW_WORDS * rows)
        await takes(chip, (Store(row=0, count=rows, address=OUT), Halt()), wanted)
    await takes(chip, (StReg(address=OUT), Halt()), Cycles(total=4, dma=1, stall=1, written_words=1))
    await takes(
        chip, (StReg(address=OUT), StReg(address=OUT), Halt()), Cycles(total=5, dma=2, stall=1, written_words=2)
    )


@cocotb.test()
async def ops_take_their_rows_and_their_pipeline(top: HierarchyObject) -> None:
    """Issued in 2: DOT and DOTL are active for n + 5 cycles, SCORE for 2n + 4, AV for n + L + 11."""
    chip = await loaded_chip(top, 1)
    for n in (1, 2, LANES, LANES + 1, 3 * LANES):
        await takes(chip, (dot(n), Halt()), Cycles(total=8 + n, mac=n, vec=3, stall=5 + n))
    for n in (1, ROW_WORDS + 1, LANES):
        await takes(chip, (DotL(0, 1, n, 600), Halt()), Cycles(total=8 + n, mac=n, vec=3, stall=5 + n))
    for n in (1, 7, 60):
        await takes(chip, (Score(0, 1, n, entry=0), Halt()), Cycles(total=7 + 2 * n, mac=n, vec=n + 2, stall=4 + 2 * n))
        # Every element of one row is the same and rows rise, so no weight is 0 by all of them.
        wanted = Cycles(total=14 + n + LANES, mac=n, vec=LANES + 10, stall=11 + n + LANES)
        await takes(chip, (Av(1, n, 600), Halt()), wanted)


@cocotb.test()
async def a_residual_row_takes_one_read_more(top: HierarchyObject) -> None:
    """Entry 1 has a residual row: one for each result row when all use it, one in two when entries follow each other."""
    chip = await loaded_chip(top, 1)
    n = 2 * LANES
    whole = Dot(a=0, row=8, count=n, dst=600, entry=1)
    await takes(chip, (whole, Halt()), Cycles(total=8 + n + 2, mac=n, vec=3, stall=5 + n + 2))
    first = Dot(a=0, row=8, count=n, dst=600, entry=1, next_entry=True)
    await takes(chip, (first, Halt()), Cycles(total=8 + n + 1, mac=n, vec=3, stall=5 + n + 1))


@cocotb.test()
@cocotb.parametrize(latency=[1, 3, 12])
async def an_op_follows_the_load_that_it_needs_row_by_row(top: HierarchyObject, latency: int) -> None:
    """CHIP-CHASE: row j is written with its last word, in 3 + RW*j + RW - 1 + k, and read in the next cycle."""
    chip = await loaded_chip(top, latency)
    n = 10
    written = [3 + ROW_WORDS * j + ROW_WORDS - 1 + latency for j in range(n + 1)]
    total = written[n] + 1 + 4 + 1
    ended = await chip.host.run((Load(row=0, count=n + 1, address=0), dot(n), Halt()))
    # Last B row read in written[n] + 1, in the out register 4 later, HALT in the cycle after that one's write.
    assert ended.total == total, f"CHIP-CHASE: {ended.total} cycles, not {total}"
    assert (ended.mac, ended.vec) == (n, 3)


@cocotb.test()
async def a_load_waits_for_an_op_that_has_its_rows_and_for_no_other(top: HierarchyObject) -> None:
    """CHIP-LOAD: A, B, residual and result rows hold until the op is over, in 8 + n; the rows beside them do not."""
    latency, n = 1, LANES + 4
    chip = await loaded_chip(top, latency)
    op = Dot(a=0, row=30, count=n, dst=600, entry=1)
    over = 8 + n + 2
    for row, count, held in (
        (0, 1, True),
        (8, 22, False),
        (29, 1, False),
        (29, 2, True),
        (30, 1, True),
        (29 + n, 1, True),
        (30 + n, 1, False),
        (7, 1, True),
        (6, 3, True),
        (8, 1, False),
        (599, 1, False),
        (600, 1, True),
        (601, 1, True),
        (602, 5, False),
    ):
        program = (op, Load(row=row, count=count, address=0), Halt())
        issue = over if held else 3
        total = max(over, issue + 1 + ROW_WORDS * count + latency)
        ended = await chip.host.run(program)
        # A loaded row may meet the op's result row at the write port, which costs the op a cycle.
        late = ended.total - total
        assert late in ((0,) if held else (0, 1)), f"CHIP-LOAD: rows {row} + {count}: {ended.total}, not {total}"


@cocotb.test()
async def a_store_waits_for_the_op_that_writes_its_rows_and_for_no_other(top: HierarchyObject) -> None:
    """CHIP-STORE: result rows hold, the rows that the op reads do not."""
    chip = await loaded_chip(top, 1)
    n = LANES + 4
    op = Dot(a=0, row=30, count=n, dst=600, entry=1)
    for row, held in ((0, False), (30, False), (7, False), (599, False), (600, True), (601, True), (602, False)):
        ended = await chip.host.run((op, Store(row=row, count=1, address=OUT), Halt()))
        # A store's row is read before CX's, which costs the op one cycle.
        total = 8 + n + 2 + 1 + 2 + ROW_WORDS if held else 8 + n + 2 + 1
        assert ended.total == total, f"CHIP-STORE: row {row}: {ended.total} cycles, not {total}"


@cocotb.test()
async def an_op_waits_for_its_result_rows_one_by_one(top: HierarchyObject) -> None:
    """CHIP-RESULT: held by a load or a store of a result row, by no row between them, and by an op before it."""
    latency, n = 1, 3 * LANES
    chip = await loaded_chip(top, latency)
    op = dot(n, dst=10, row=LOADED_ROWS - n, apart=True)
    for load, written_before in (
        (Load(row=10, count=4, address=0), 0),
        (Load(row=7, count=4, address=0), 3),
        (Load(row=265, count=4, address=0), 1),
        (Load(row=519, count=4, address=0), 3),
        (Load(row=11, count=4, address=0), None),
        (Load(row=262, count=4, address=0), None),
        (Load(row=267, count=4, address=0), None),
    ):
        ended = await chip.host.run((load, op, Halt()))
        # A result row is owed until its own data is written, not until the load leaves.
        issue = 3 if written_before is None else 3 + ROW_WORDS * (written_before + 1) + latency
        assert ended.total == issue + n + 6, f"CHIP-RESULT: {load}: {ended.total} cycles, not {issue + n + 6}"
    for row, held in ((9, False), (10, True), (11, False), (265, False), (266, True), (267, False), (522, True)):
        ended = await chip.host.run((Store(row=row, count=1, address=OUT), op, Halt()))
        # The store reads its row in cycle 3, in which no op is active yet; with its last word, in 4 + RW, it leaves.
        total = (5 + ROW_WORDS if held else 3) + n + 6
        assert ended.total == total, f"CHIP-RESULT: store of {row}: {ended.total} cycles, not {total}"
    ended = await chip.host.run((dot(5), dot(7, dst=601), Halt()))
    assert ended.total == 8 + 5 + 7 + 6, f"CHIP-RESULT: {ended.total} cycles"


@cocotb.test()
async def what_looks_at_results_waits_until_cx_is_idle(top: HierarchyObject) -> None:
    """CHIP-IDLE: SETQ, STREG, FENCE and an error behind a DOT of n rows go in 8 + n, LOAD and STORE of other rows in 3."""
    chip = await loaded_chip(top, 1)
    n = 30
    over = 8 + n
    for instruction, total in (
        (SetQ(entry=5, m=2**15, shift=3), over + 1),
        (Fence(), over + 1),
        (StReg(address=OUT), over + 2),
        (Load(row=1000, count=1, address=0), over),
    ):
        ended = await chip.host.run((dot(n), instruction, Halt()))
        assert ended.total == total, f"CHIP-IDLE: {instruction}: {ended.total} cycles, not {total}"
    ended = await chip.host.run((dot(n), Load(row=0, count=-1, address=0)))
    assert (ended.total, ended.error_pc) == (over, 1)
    ended = await chip.host.run((Store(row=0, count=2, address=OUT), Load(row=0, count=-1, address=0)))
    assert (ended.total, ended.written_words) == (5 + 2 * ROW_WORDS, 2 * ROW_WORDS)


@cocotb.test()
@cocotb.parametrize(latency=[1, 6])
async def a_write_waits_until_no_read_is_outstanding(top: HierarchyObject, latency: int) -> None:
    """CHIP-QUIET: a store behind a load begins in the cycle after the last answer, as if it were issued in that one."""
    chip = await loaded_chip(top, latency)
    answered = 2 + 3 * ROW_WORDS + latency
    load = Load(row=0, count=3, address=0)
    wanted = Cycles(
        total=answered + 3 + 2 * ROW_WORDS,
        dma=answered + 2 * ROW_WORDS,
        stall=answered + 3 + 2 * ROW_WORDS - 4,
        read_words=3 * ROW_WORDS,
        written_words=2 * ROW_WORDS,
    )
    await takes(chip, (load, Store(row=0, count=2, address=OUT), Halt()), wanted)
    wanted = Cycles(total=answered + 2, dma=answered - 1, stall=answered - 2, read_words=3 * ROW_WORDS, written_words=1)
    await takes(chip, (load, StReg(address=OUT), Halt()), wanted)


@cocotb.test()
async def a_loaded_row_goes_before_a_result_row(top: HierarchyObject) -> None:
    """CHIP-PORTS: the latency is swept over the one cycle in which both want the write port: there, the op is a cycle longer."""
    n = 12
    chip = await loaded_chip(top, 1)
    for latency in range(n - 3, n + 4):
        chip.memory.behave(steady(latency))
        ended = await chip.host.run((dot(n), Load(row=1000, count=1, address=0), Halt()))
        # The op writes in 7 + n; the load, issued in 3, in 3 + RW + k.
        result, loaded = 7 + n, 3 + ROW_WORDS + latency
        total = max(result + (result == loaded), loaded) + 1
        assert ended.total == total, f"CHIP-PORTS: latency {latency}: {ended.total} cycles, not {total}"


@cocotb.test()
async def a_stores_read_goes_before_an_ops(top: HierarchyObject) -> None:
    """CHIP-PORTS: each row that is stored while CX reads costs it one cycle, and STALL counts it when the head is not held."""
    chip = await loaded_chip(top, 1)
    for rows in (1, 2, 5):
        ended = await chip.host.run((dot(40), Store(row=55, count=rows, address=OUT), Halt()))
        assert ended.total == 8 + 40 + rows, f"CHIP-PORTS: {rows} rows: {ended.total} cycles"


@cocotb.test()
async def the_ninth_descriptor_waits_for_the_first_to_leave(top: HierarchyObject) -> None:
    """Eight loads fill the queue in cycles 3 .. 10; the ninth issues when the first has left, by its last answer."""
    latency = 30
    chip = await loaded_chip(top, latency)
    loads = tuple(Load(row=100 + i, count=1, address=0) for i in range(9))
    ended = await chip.host.run((*loads, SetQ(entry=2, m=2**15, shift=2), Halt()))
    # Load 0 was asked for in 3 .. 2 + RW and leaves by the answer in 2 + RW + k; the queue has 7 entries in the next cycle.
    ninth = 2 + ROW_WORDS + latency + 1
    assert ended.stall >= ninth - 10, "the ninth load was not held"
    outstanding_full = [3 + w for w in range(16)]
    for w in range(16, 9 * ROW_WORDS):
        earliest = outstanding_full[w - 16] + latency + 1
        outstanding_full.append(max(outstanding_full[-1] + 1, earliest, ninth + 1 if w >= 8 * ROW_WORDS else 0))
    total = outstanding_full[-1] + latency + 1
    assert ended.total == total, f"CHIP-CYCLE: {ended.total} cycles, not {total}"
