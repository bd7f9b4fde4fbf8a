"""ks_reads: the reads of every op in their order, one a cycle, with their tags one cycle later (CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import Op
from verify.benches.op_reads import Tag, reads_of
from verify.benches.op_rows import side_by_side
from verify.benches.unit import Unit, unit_after_reset


def tag_seen(unit: Unit, op: Op) -> Tag | None:
    """The tag at the scratchpad's output in this cycle, with what is of no meaning for the op left out."""
    pins = unit.pins
    kinds = [kind for kind in "axb" if pins[f"s1_{kind}_o"]]
    assert len(kinds) <= 1, f"S1 is {kinds} at once"
    if kinds == ["a"]:
        return Tag("a")
    if kinds == ["x"]:
        return Tag("x", group=pins["s1_grp_o"])
    if kinds == ["b"]:
        rows = op in (Op.DOT, Op.DOTL)
        lane, group = (pins["s1_lane_o"], pins["s1_grp_o"]) if rows else (pins["s1_j_o"], 0)
        last = bool(pins["s1_last_o"])
        return Tag("b", pins["s1_j_o"], lane, group, bool(pins["s1_rowend_o"]) if rows else last, last)
    return None


async def sequenced(
    unit: Unit, op: Op, first: int, count: int, a: int, residuals: dict[int, int], stops: list[int]
) -> None:
    """Start the op and follow every cycle of it; `stops` are the cycles, as 0 or 1, in which a launch is stopped."""
    pins, reads = unit.pins, reads_of(op, first, count, a, residuals)
    await unit.clocking.settled()
    assert pins["done_o"], "not done before the start"
    await unit.clocking.next_cycle()
    listed = side_by_side([residuals.get(i, 1000 + i) for i in range(4)])
    pins.drive(start_i=1, op_i=op, first_i=first, count_i=count, a_i=a)
    await unit.clocked(x_valid_i=sum(1 << i for i in residuals), x_row_i=listed, stop_i=0)
    # After its start the op's fields may be anything.
    pins.drive(start_i=0, op_i=0, first_i=999, count_i=1, a_i=998, x_valid_i=15, x_row_i=0)
    launched: Tag | None = None
    cycle = 0
    while reads or launched is not None:
        stop = stops[cycle % len(stops)]
        await unit.sees(stop_i=stop)
        launch = bool(reads) and not stop
        assert pins["done_o"] == (not reads), f"CHIP-CYCLE: {len(reads)} reads are left in cycle {cycle}"
        assert pins["launch_o"] == launch, f"CHIP-CYCLE: launch_o in cycle {cycle} with stop {stop}"
        assert pins["wait_o"] == (bool(reads) and bool(stop))
        if reads:
            assert pins["row_o"] == reads[0][0], f"read {pins['row_o']} in cycle {cycle}, not {reads[0]}"
            assert (pins["a_valid_o"], pins["first_o"], pins["end_o"]) == (op != Op.AV, first, first + count)
            assert pins["x_valid_o"] == sum(1 << i for i in residuals)
            assert op == Op.AV or pins["a_row_o"] == a
        seen = tag_seen(unit, op)
        assert seen == launched, f"S1 in cycle {cycle} is {seen}, not {launched}"
        launched = reads.pop(0)[1] if launch else None
        if launched is not None and op not in (Op.DOT, Op.DOTL) and launched.kind == "b":
            launched = launched._replace(lane=launched.j, group=0, ends_row=launched.last)
        cycle += 1
        await unit.clocking.next_cycle()


@cocotb.test()
async def every_op_reads_its_rows_in_order(top: HierarchyObject) -> None:
    """Each op with one row, a full result row, one more, and the most; no cycle is lost between reads."""
    unit = await unit_after_reset(top, "ks_reads")
    for op, counts in (
        (Op.DOT, (1, 15, 16, 17, 64)),
        (Op.DOTL, (1, 4, 5, 16)),
        (Op.SCORE, (1, 255)),
        (Op.AV, (1, 17, 255)),
    ):
        for count in counts:
            await sequenced(unit, op, 1024 - count, count, 7, {}, [0])


@cocotb.test()
async def a_residual_row_goes_before_its_b_rows(top: HierarchyObject) -> None:
    """Every set of residual rows of a DOT with four result rows."""
    unit = await unit_after_reset(top, "ks_reads")
    for chosen in range(16):
        residuals = {i: 100 + 3 * i for i in range(4) if chosen >> i & 1}
        await sequenced(unit, Op.DOT, 200, 50, 1023, residuals, [0])


@cocotb.test()
async def a_stopped_read_is_made_later_and_no_other_instead(top: HierarchyObject) -> None:
    """Stops in every pattern of lengths, ops of every kind one after another."""
    unit, chance = await unit_after_reset(top, "ks_reads"), random.Random(61)
    for stops in ([1, 0], [0, 1, 1], [1, 1, 1, 0, 0], [0] * 9 + [1] * 20, [chance.getrandbits(1) for _ in range(37)]):
        await sequenced(unit, Op.DOT, 40, 35, 3, {0: 500, 2: 3}, stops)
        await sequenced(unit, Op.AV, 0, 9, 0, {}, stops)
        await sequenced(unit, Op.SCORE, 1, 6, 0, {}, stops)
        await sequenced(unit, Op.DOTL, 9, 13, 30, {}, stops)
