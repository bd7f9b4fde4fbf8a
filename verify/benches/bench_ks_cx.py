"""ks_cx: whole ops, cycle by cycle, and their result rows (docs/chip.md section 6; CHIP-CYCLE, CHIP-INT, CHIP-PORTS)."""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import Op
from verify.benches.chip_under_test import LANES, ROW_WORDS
from verify.benches.formulas import dot, exponentials, packed, requantised, weighted_mean
from verify.benches.op_reads import Tag, reads_of
from verify.benches.op_rows import group_size, rows_of, side_by_side
from verify.benches.unit import Unit, unit_after_reset

Entry = tuple[int, int, int, int]
"""M, sh, xrow, Rm with its sign."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An op with R added; B rows start at `first`."""

    op: Op
    first: int
    count: int
    a: int = 0
    dst: int = 800
    q: int = 0
    fl: int = 0


@dataclass(slots=True)
class Surroundings:
    """What is around CX: a scratchpad of lanes, 16 entries, and the weights that the last SCORE left."""

    scratchpad: list[list[int]]
    entries: list[Entry]
    weights: list[int] = field(default_factory=list)

    def residuals(self, work: Operation) -> dict[int, int]:
        """Residual rows of a DOT by the number of their result row."""
        chosen = [self.entries[(work.q + i * (work.fl & 1)) % 16] for i in range(4)]
        rows = rows_of(work.op, work.count, work.dst, work.fl, [entry[3] for entry in chosen])
        return {i: chosen[i][2] for i in rows.residuals}

    def result_rows(self, work: Operation) -> list[int]:
        """The rows that the op writes, each as one number; a SCORE leaves its weights instead."""
        b_rows = self.scratchpad[work.first : work.first + work.count]
        if work.op == Op.AV:
            return [packed(weighted_mean(self.weights, b_rows))]
        sums = [dot(self.scratchpad[work.a], row) for row in b_rows]
        if work.op == Op.SCORE:
            m, sh, _, _ = self.entries[work.q]
            self.weights = exponentials(sums, m, sh)
            return []
        size = group_size(work.op)
        groups = [sums[start : start + size] for start in range(0, work.count, size)]
        if work.op == Op.DOTL:
            return [side_by_side([s & 0xFFFFFFFF for s in group], width=32) for group in groups]
        results = []
        for i, group in enumerate(groups):
            m, sh, xrow, rm = self.entries[(work.q + i * (work.fl & 1)) % 16]
            x = self.scratchpad[xrow]
            results.append(packed([requantised(acc, m, sh, rm, x[lane]) for lane, acc in enumerate(group)]))
        return results


def last_cycles(work: Operation, launches: list[tuple[int, Tag]]) -> tuple[list[int], int]:
    """The cycles from which each result row is in the out register, and a SCORE's last active cycle (else 0).

    A B row launched in cycle c enters in c + 1 (S1), is through S2 in c + 2 and, of DOT and DOTL, packed in c + 3.
    """
    if work.op == Op.SCORE:
        return [], launches[-1][0] + 2 + 1 + work.count
    if work.op == Op.AV:
        return [launches[-1][0] + 1 + 11 + LANES - 1], 0
    return [cycle + 4 for cycle, tag in launches if tag.kind == "b" and tag.ends_row], 0


async def operated(
    unit: Unit,
    around: Surroundings,
    work: Operation,
    owed: Callable[[int, int], bool] = lambda cycle, row: False,
    store_reads: Callable[[int], bool] = lambda cycle: False,
    loads: Callable[[int], bool] = lambda cycle: False,
) -> int:
    """Run the op and compare every cycle; the active cycles. The callables say what is in its way in a cycle."""
    pins, residuals = unit.pins, around.residuals(work)
    results = rows_of(work.op, work.count, work.dst, work.fl, [0] * 4).results
    reads = deque(reads_of(work.op, work.first, work.count, work.a, residuals))
    sums = [dot(around.scratchpad[work.a], around.scratchpad[work.first + j]) for j in range(work.count)]
    rows = deque(zip(results, around.result_rows(work), strict=True))
    await unit.sees(
        start_i=1,
        op_i=work.op,
        first_i=work.first,
        count_i=work.count,
        a_i=work.a,
        q_i=work.q,
        fl0_i=work.fl & 1,
        res_valid_i=(1 << len(results)) - 1,
        res_row_i=side_by_side(results),
        x_valid_i=sum(1 << i for i in residuals),
        x_row_i=side_by_side([residuals.get(i, 0) for i in range(4)]),
    )
    assert not pins["active_o"]
    await unit.clocking.next_cycle()
    # Nothing of the instruction is there after its issue.
    pins.drive(start_i=0, op_i=0, first_i=0, count_i=0, a_i=0, q_i=15, fl0_i=0, res_valid_i=0, x_valid_i=0, res_row_i=0)
    launches: list[tuple[int, Tag]] = []
    at_output, active, cycle = packed([85] * LANES), True, 1
    while active:
        m, sh, _, rm = around.entries[pins["ridx_o"]]
        is_owed = bool(reads) and owed(cycle, reads[0][0])
        stopped = is_owed or store_reads(cycle)
        pins.drive(m_i=m, sh_i=sh, rm_i=rm & 0xFFFF, rdata_i=at_output)
        pins.drive(owed_i=int(is_owed), st_launch_i=int(store_reads(cycle)), row_we_i=int(loads(cycle)))
        await unit.clocking.settled()
        launch = bool(reads) and not stopped
        assert pins["active_o"], f"CHIP-CYCLE: {work} is over in cycle {cycle}"
        assert pins["launch_o"] == launch, f"CHIP-CHASE, CHIP-PORTS: launch_o of {work} in cycle {cycle}"
        assert pins["wait_o"] == (bool(reads) and stopped)
        assert not reads or pins["row_o"] == reads[0][0]
        entered = [c for c, tag in launches if tag.kind == "b" and c + 1 <= cycle]
        assert pins["mac_o"] == (cycle - 1 in entered), f"CHIP-CYCLE: MAC of {work} in cycle {cycle}"
        assert pins["vec_o"] == (len([c for c in entered if c + 1 < cycle]) == work.count), f"VEC in cycle {cycle}"
        ready, ends = last_cycles(work, launches) if not reads else ([], 0)
        if reads and work.op in (Op.DOT, Op.DOTL):
            ready, _ = last_cycles(work, launches)
        done_rows = len(results) - len(rows)
        writes = len(ready) > done_rows and ready[done_rows] <= cycle and not loads(cycle)
        assert pins["out_we_o"] == writes, f"CHIP-CYCLE, CHIP-PORTS: out_we_o of {work} in cycle {cycle}"
        if writes:
            row, data = rows.popleft()
            seen = (pins["out_row_o"], pins["out_data_o"])
            assert seen == (row, data), f"CHIP-INT: {work} writes {seen[1]:x} to {seen[0]}, not {data:x} to {row}"
        over = cycle == ends if work.op == Op.SCORE else writes and not rows
        names_token = over and work.op == Op.DOTL and work.fl & 1
        assert pins["tok_we_o"] == bool(names_token), f"tok_we_o of {work} in cycle {cycle}"
        if names_token:
            assert pins["tok_o"] == sums.index(max(sums)), f"CHIP-INT: TOK of {sums} is {pins['tok_o']}"
        at_output = packed([85] * LANES)
        if launch:
            row, tag = reads.popleft()
            launches.append((cycle, tag))
            at_output = packed(around.scratchpad[row])
        active = not over
        cycle += 1
        await unit.clocking.next_cycle()
    pins.drive(owed_i=0, st_launch_i=0, row_we_i=0)
    await unit.clocking.settled()
    assert not pins["active_o"], f"CHIP-CYCLE: {work} goes on after cycle {cycle - 1}"
    await unit.clocking.next_cycle()
    return cycle - 1


def some_surroundings(seed: int) -> Surroundings:
    """A scratchpad of random lanes, entries that saturate now and then, half of them with a residual row."""
    chance = random.Random(seed)
    scratchpad = [[chance.randint(-128, 127) for _ in range(LANES)] for _ in range(1024)]
    entries = [
        (chance.randrange(2**15, 2**16), chance.randint(20, 25), chance.randrange(900, 1024), rm)
        for rm in (0, 300, 0, -300, 1, -(2**15), 2**15 - 1, 0, 0, 0, 77, -77, 0, 5, 0, -1)
    ]
    return Surroundings(scratchpad, entries)


OPERATIONS = (
    Operation(Op.DOT, first=100, count=1, a=5),
    Operation(Op.DOT, first=100, count=LANES, a=5, q=1),
    Operation(Op.DOT, first=100, count=3 * LANES, a=5, q=14, fl=3, dst=0),
    Operation(Op.DOT, first=100, count=4 * LANES, a=7, q=3, fl=1, dst=1020),
    Operation(Op.DOT, first=0, count=2 * LANES + 3, a=99, q=6, fl=2, dst=300),
    Operation(Op.DOTL, first=200, count=LANES, a=3, fl=1),
    Operation(Op.DOTL, first=200, count=5, a=4),
    Operation(Op.DOTL, first=900, count=1, a=4, fl=1),
    Operation(Op.SCORE, first=300, count=20, a=9, q=2),
    Operation(Op.AV, first=400, count=20, dst=1023),
    Operation(Op.SCORE, first=300, count=1, a=9, q=2),
    Operation(Op.AV, first=400, count=1, dst=0),
    Operation(Op.SCORE, first=10, count=255, a=9, q=13),
    Operation(Op.AV, first=400, count=255, dst=700),
)


@cocotb.test()
async def every_op_takes_its_cycles_and_gives_its_rows(top: HierarchyObject) -> None:
    """DOT with n rows is active for n + 5 cycles, residual rows add one each, SCORE for 2n + 4, AV for n + L + 11."""
    unit, around = await unit_after_reset(top, "ks_cx"), some_surroundings(101)
    for work in OPERATIONS:
        n = work.count
        took = await operated(unit, around, work)
        formulas = {Op.SCORE: 2 * n + 4, Op.AV: n + 11 + LANES}
        wanted = formulas.get(work.op, n + 5 + len(around.residuals(work)))
        assert took == wanted, f"CHIP-CYCLE: {work} was active for {took} cycles, not {wanted}"


@cocotb.test()
@cocotb.parametrize(
    ("every", [2, 3, 5, 7]),
)
async def an_op_that_is_in_the_way_of_others_waits_and_gives_the_same(top: HierarchyObject, every: int) -> None:
    """CHIP-CHASE, CHIP-PORTS: owed rows, store reads and loaded rows at a rhythm; only the cycles change."""
    unit, around = await unit_after_reset(top, "ks_cx"), some_surroundings(102 + every)
    for work in OPERATIONS:
        if work.count > 70:
            continue
        await operated(
            unit,
            around,
            work,
            owed=lambda cycle, row: (cycle + row) % every == 0 and cycle < 200,
            store_reads=lambda cycle: cycle % (every + 2) == 1,
            loads=lambda cycle: cycle % ROW_WORDS == every % ROW_WORDS,
        )


@cocotb.test()
async def a_result_row_waits_while_loaded_rows_are_written(top: HierarchyObject) -> None:
    """CHIP-PORTS: the out register keeps its row until the first cycle without a loaded row."""
    unit, around = await unit_after_reset(top, "ks_cx"), some_surroundings(110)
    work = Operation(Op.DOT, first=100, count=4, a=5)
    for until in range(8, 24):
        took = await operated(unit, around, work, loads=lambda cycle, until=until: cycle < until)  # type: ignore[misc]
        assert took == max(work.count + 5, until), f"loaded rows until cycle {until}: active for {took} cycles"
