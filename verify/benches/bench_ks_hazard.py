"""ks_hazard: row by row, what LOAD, STORE, RESULT and CHASE hold (CHIP-LOAD, CHIP-STORE, CHIP-RESULT, CHIP-CHASE)."""

import random
from typing import NamedTuple

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import QUEUE
from verify.benches.op_rows import side_by_side
from verify.benches.unit import Unit, unit_after_reset


class Active(NamedTuple):
    """The active op: rows as ranges and lists; `runs` False leaves them as noise."""

    runs: bool
    a: int | None
    b: range
    residuals: dict[int, int]
    results: dict[int, int]


class Scene(NamedTuple):
    """The head instruction's rows, the active op, the queue's entries by slot, and the row that CX would read."""

    moved: range
    results: dict[int, int]
    active: Active
    loads: dict[int, range]
    stores: dict[int, range]
    cx_row: int


NOTHING = Active(False, None, range(1), {}, {})
QUIET = Scene(range(1), {}, NOTHING, {}, {}, 0)


async def judged(unit: Unit, scene: Scene) -> tuple[bool, bool, bool, bool]:
    """load_o, store_o, result_o, owed_o of the scene, each compared with sets of rows."""
    active, queued = scene.active, scene.loads | scene.stores
    slots = [queued.get(slot, range(1000, 1020)) for slot in range(QUEUE)]

    def bits(numbers: dict[int, int] | dict[int, range]) -> int:
        return sum(1 << number for number in numbers)

    def listed(rows: dict[int, int]) -> int:
        return side_by_side([rows.get(i, scene.moved[0]) for i in range(4)])

    await unit.sees(
        first_i=scene.moved.start,
        end_i=scene.moved.stop,
        res_valid_i=bits(scene.results),
        res_row_i=listed(scene.results),
        act_i=int(active.runs),
        act_a_valid_i=int(active.a is not None),
        act_a_row_i=scene.moved[0] if active.a is None else active.a,
        act_first_i=active.b.start,
        act_end_i=active.b.stop,
        act_x_valid_i=bits(active.residuals),
        act_x_row_i=listed(active.residuals),
        act_res_valid_i=bits(active.results),
        act_res_row_i=listed(active.results),
        q_load_i=bits(scene.loads),
        q_store_i=bits(scene.stores),
        q_first_i=side_by_side([rows.start for rows in slots]),
        q_end_i=side_by_side([rows.stop for rows in slots], width=11),
        cx_row_i=scene.cx_row,
    )
    moved, results = set(scene.moved), set(scene.results.values())
    owed = {row for rows in scene.loads.values() for row in rows}
    stored = {row for rows in scene.stores.values() for row in rows}
    written = set(active.results.values()) if active.runs else set()
    touched = written | {*active.b, *active.residuals.values(), active.a} if active.runs else set()
    wanted = (bool(moved & touched), bool(moved & written), bool(results & (owed | stored)), scene.cx_row in owed)
    seen = tuple(bool(unit.pins[name]) for name in ("load_o", "store_o", "result_o", "owed_o"))
    names = "CHIP-LOAD, CHIP-STORE, CHIP-RESULT, CHIP-CHASE"
    assert seen == wanted, f"{names} hold {wanted}, not {seen}: {scene}"
    await unit.clocking.next_cycle()
    return wanted


@cocotb.test()
async def each_kind_of_row_alone_holds_at_both_its_ends(top: HierarchyObject) -> None:
    """One overlap at a time: the row before, the first, the last, and the row after."""
    unit = await unit_after_reset(top, "ks_hazard")
    idle = Active(True, 900, range(910, 911), {}, {})
    for row in range(98, 106):
        for moved in (range(row, row + 1), range(90, row + 1), range(row, 110)):
            scene = QUIET._replace(moved=moved)
            await judged(unit, scene._replace(active=idle._replace(a=100)))
            await judged(unit, scene._replace(active=idle._replace(b=range(100, 104))))
            await judged(unit, scene._replace(active=NOTHING._replace(b=range(100, 104))))
            for i in range(4):
                await judged(unit, scene._replace(active=idle._replace(residuals={i: 100})))
                await judged(unit, scene._replace(active=idle._replace(results={i: 100})))
        for slot in range(QUEUE):
            owed = QUIET._replace(cx_row=row, results={slot % 4: row}, loads={slot: range(100, 104)})
            await judged(unit, owed)
            await judged(unit, owed._replace(loads={}, stores={slot: range(100, 104)}))


@cocotb.test()
async def result_rows_are_compared_one_by_one(top: HierarchyObject) -> None:
    """Result rows 256 apart do not hold for what lies between them."""
    unit = await unit_after_reset(top, "ks_hazard")
    apart = {0: 0, 1: 256, 2: 512, 3: 768}
    between = range(1, 256)
    for loads, stores in (
        ({3: between}, {}),
        ({}, {5: range(257, 512)}),
        ({0: range(513, 768)}, {1: range(769, 1024)}),
    ):
        held = await judged(unit, QUIET._replace(results=apart, loads=loads, stores=stores, cx_row=5))
        assert not held[2]
    running = Active(True, 900, range(910, 911), {}, apart)
    assert not any(await judged(unit, QUIET._replace(moved=between, active=running)))


@cocotb.test()
async def random_scenes(top: HierarchyObject) -> None:
    """Few rows, so that overlaps are frequent; the last row, 1,023, is among them."""
    unit, chance = await unit_after_reset(top, "ks_hazard"), random.Random(41)
    met = [0, 0, 0, 0]
    for _ in range(800):
        low = chance.choice((0, 1004))

        def rows(base: int = low) -> range:
            first = base + chance.randrange(20)
            return range(first, min(base + 20, first + chance.randint(1, 4)))

        def some(most: int, base: int = low) -> dict[int, int]:
            return {i: base + chance.randrange(20) for i in range(chance.randint(0, most))}

        slots = chance.sample(range(QUEUE), chance.randint(0, 5))
        cut = chance.randint(0, len(slots))
        a = low + chance.randrange(20) if chance.random() < 0.7 else None
        active = Active(chance.random() < 0.8, a, rows(), some(2), some(2))
        loads, stores = {slot: rows() for slot in slots[:cut]}, {slot: rows() for slot in slots[cut:]}
        scene = Scene(rows(), some(3), active, loads, stores, low + chance.randrange(20))
        met = [count + held for count, held in zip(met, await judged(unit, scene), strict=True)]
    assert min(met) > 50, met
