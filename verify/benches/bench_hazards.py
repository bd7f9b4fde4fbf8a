"""Results do not depend on time: programs that provoke each rule of docs/chip.md section 5, on every memory of patterns.FEW.

Every scenario is a short program that gives a wrong result when its rule is not kept and the memory is fast, or slow,
enough. Memory holds rows at SOURCE; what comes out is compared with the definition's formulas.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import DONE, Av, Dot, DotL, Fence, Halt, Instruction, Load, Score, SetQ, Store, StReg
from verify.benches.chip_under_test import LANES, ROW_WORDS, chip_after_reset
from verify.benches.formulas import dot, exponentials, requantised, weighted_mean, words_of
from verify.benches.patterns import FEW, Traffic, steady

Lanes = list[int]

OUT = 0x1000
ROWS = 96
RESIDUAL = 2 * LANES + 7
M, SHIFT = 50000, 25
FAST, OTHER = SetQ(entry=0, m=M, shift=SHIFT), SetQ(entry=0, m=2**15, shift=18)
QUICK = steady(1)
EXPONENT = SetQ(entry=7, m=45000, shift=24)


def source_rows() -> list[Lanes]:
    """The rows in memory, from address 0 on."""
    chance = random.Random(17)
    return [[chance.randint(-128, 127) for _ in range(LANES)] for _ in range(ROWS)]


SOURCE = source_rows()


def at(row: int) -> int:
    """The address of a source row."""
    return row * ROW_WORDS


def out(slot: int) -> int:
    """The address of a result row."""
    return OUT + slot * ROW_WORDS


def load(row: int, source: int, count: int = 1) -> Load:
    """Source rows into scratchpad rows."""
    return Load(row=row, count=count, address=at(source))


def store(row: int, slot: int, count: int = 1) -> Store:
    """Scratchpad rows to result slots."""
    return Store(row=row, count=count, address=out(slot))


def dotted(a: Lanes, rows: list[Lanes], m: int = M, shift: int = SHIFT) -> Lanes:
    """A result row of a DOT without a residual row."""
    lanes = [requantised(dot(a, row), m, shift) for row in rows]
    return lanes + [0] * (LANES - len(lanes))


def argmax(a: Lanes, rows: list[Lanes]) -> int:
    """TOK of a DOTL."""
    sums = [dot(a, row) for row in rows]
    return sums.index(max(sums))


def averaged(q: Lanes, keys: list[Lanes], values: list[Lanes]) -> Lanes:
    """The row of an AV after a SCORE with entry EXPONENT."""
    weights = exponentials([dot(q, key) for key in keys], EXPONENT.m, EXPONENT.shift)
    return weighted_mean(weights, values)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A program that begins with source rows 0 .. rows - 1 in these scratchpad rows, and the words that it has to leave."""

    name: str
    rule: str
    program: tuple[Instruction, ...]
    results: Callable[[], dict[int, list[int]]]
    rows: int = LANES + 1


def rows_at(**slots: Lanes) -> dict[int, list[int]]:
    """Words by address, for rows named by their slots: s0, s1, ..."""
    return {out(int(name[1:])): words_of(lanes) for name, lanes in slots.items()}


B = SOURCE[1 : LANES + 1]
DOT = Dot(a=0, row=1, count=LANES, dst=100, entry=0)
SCENARIOS = (
    Scenario(
        "an_op_reads_what_the_load_before_it_brings",
        "CHIP-CHASE",
        (FAST, load(0, 50, LANES + 1), DOT, store(100, 0), Halt()),
        lambda: rows_at(s0=dotted(SOURCE[50], SOURCE[51 : 51 + LANES])),
    ),
    Scenario(
        "a_score_and_an_av_chase_two_loads",
        "CHIP-CHASE",
        (
            EXPONENT,
            load(0, 60),
            load(200, 61, 9),
            load(300, 71, 9),
            Score(0, 200, 9, 7),
            Av(300, 9, 5),
            store(5, 0),
            Halt(),
        ),
        lambda: rows_at(s0=averaged(SOURCE[60], SOURCE[61:70], SOURCE[71:80])),
    ),
    Scenario(
        "a_load_does_not_overtake_the_op_that_reads_its_rows",
        "CHIP-LOAD",
        (FAST, DOT, load(LANES, 70), load(0, 71), store(100, 0), store(LANES, 1), store(0, 2), Halt()),
        lambda: rows_at(s0=dotted(SOURCE[0], B), s1=SOURCE[70], s2=SOURCE[71]),
    ),
    Scenario(
        "a_load_does_not_overtake_the_op_that_writes_its_row",
        "CHIP-LOAD",
        (FAST, DOT, load(100, 72), store(100, 0), Halt()),
        lambda: rows_at(s0=SOURCE[72]),
    ),
    Scenario(
        "a_load_does_not_change_a_residual_row_under_way",
        "CHIP-LOAD",
        (
            SetQ(entry=0, m=M, shift=SHIFT, residual_row=RESIDUAL, residual=3000),
            Dot(a=0, row=1, count=2 * LANES, dst=100, entry=0),
            load(RESIDUAL, 73),
            store(101, 0),
            Halt(),
        ),
        lambda: rows_at(
            s0=[
                requantised(dot(SOURCE[0], row), M, SHIFT, 3000, SOURCE[RESIDUAL][lane])
                for lane, row in enumerate(SOURCE[LANES + 1 : 2 * LANES + 1])
            ]
        ),
        rows=RESIDUAL + 1,
    ),
    Scenario(
        "a_store_sends_what_the_op_before_it_gives",
        "CHIP-STORE",
        (load(100, 74), FAST, Fence(), DOT, store(100, 0), Halt()),
        lambda: rows_at(s0=dotted(SOURCE[0], B)),
    ),
    Scenario(
        "an_op_does_not_overwrite_a_row_that_waits_to_be_stored",
        "CHIP-RESULT",
        (FAST, load(93, 75, 8), Fence(), store(93, 0, 8), Dot(0, 1, 1, 100, 0), store(100, 8), Halt()),
        lambda: rows_at(s7=SOURCE[82], s8=dotted(SOURCE[0], SOURCE[1:2])),
    ),
    Scenario(
        "an_ops_result_stays_when_an_older_load_brings_the_same_row",
        "CHIP-RESULT",
        (FAST, load(93, 75, 8), Dot(0, 1, 1, 100, 0), store(100, 0), Halt()),
        lambda: rows_at(s0=dotted(SOURCE[0], SOURCE[1:2])),
    ),
    Scenario(
        "an_op_reads_the_result_of_the_one_before",
        "CHIP-RESULT",
        (FAST, OTHER, DOT, Dot(a=100, row=1, count=LANES, dst=101, entry=0), store(101, 0), Halt()),
        lambda: rows_at(s0=dotted(dotted(SOURCE[0], B, OTHER.m, OTHER.shift), B, OTHER.m, OTHER.shift)),
    ),
    Scenario(
        "a_setq_does_not_change_the_op_before_it",
        "CHIP-IDLE",
        (FAST, DOT, OTHER, Dot(a=0, row=1, count=LANES, dst=101, entry=0), store(100, 0, 2), Halt()),
        lambda: rows_at(s0=dotted(SOURCE[0], B), s1=dotted(SOURCE[0], B, OTHER.m, OTHER.shift)),
    ),
    Scenario(
        "a_streg_takes_the_token_of_its_own_time",
        "CHIP-IDLE",
        (
            DotL(a=0, row=1, count=LANES, dst=100, argmax=True),
            store(0, 1, 8),
            StReg(address=out(0)),
            DotL(a=20, row=1, count=LANES, dst=110, argmax=True),
            StReg(address=out(0) + 1),
            Halt(),
        ),
        lambda: {out(0): [argmax(SOURCE[0], B), argmax(SOURCE[20], B)]},
        rows=max(21, LANES + 1),
    ),
    Scenario(
        "a_load_sees_the_store_before_it",
        "CHIP-QUIET",
        (store(3, 0, 5), Load(row=500, count=5, address=out(0)), store(500, 5, 5), load(3, 80), store(3, 10), Halt()),
        lambda: rows_at(s5=SOURCE[3], s9=SOURCE[7], s0=SOURCE[3], s10=SOURCE[80]),
    ),
    Scenario(
        "ops_loads_and_stores_share_the_ports",
        "CHIP-PORTS",
        (
            FAST,
            Dot(a=0, row=1, count=2 * LANES, dst=100, entry=0),
            store(33, 0, 5),
            load(600, 81, 6),
            Dot(a=600, row=1, count=2 * LANES, dst=102, entry=0),
            store(601, 5, 4),
            load(700, 87, 4),
            store(100, 9, 4),
            Halt(),
        ),
        lambda: rows_at(
            s4=SOURCE[37],
            s8=SOURCE[85],
            s9=dotted(SOURCE[0], B),
            s11=dotted(SOURCE[81], B),
            s12=dotted(SOURCE[81], SOURCE[LANES + 1 : 2 * LANES + 1]),
        ),
        rows=max(38, 2 * LANES + 1),
    ),
)


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in FEW])
async def results_are_the_definitions_on(top: HierarchyObject, traffic: Traffic) -> None:
    """Every scenario, one after another on one chip, as a host would run them."""
    chip = await chip_after_reset(top, QUICK)
    for number, row in enumerate(SOURCE):
        chip.memory.fill(at(number), words_of(row))
    for scenario in SCENARIOS:
        chip.memory.behave(QUICK)
        await chip.host.run((load(0, 0, scenario.rows), Halt()))
        chip.memory.behave(traffic)
        ended = await chip.host.run(scenario.program)
        assert ended.status == DONE, f"{scenario.name}: STATUS is {ended.status:#x}"
        for address, words in scenario.results().items():
            seen = chip.memory.words[address : address + len(words)]
            shown = [f"{word:08x}" for word in seen], [f"{word:08x}" for word in words]
            assert seen == words, f"{scenario.rule}, {scenario.name}: {address:#x} holds {shown[0]}, not {shown[1]}"
        chip.memory.fill(OUT, [0] * 64 * ROW_WORDS)
