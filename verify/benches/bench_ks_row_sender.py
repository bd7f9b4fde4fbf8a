"""ks_row_sender: the rows of a store, word by word, in every cycle what store_model says (CHIP-CYCLE, CHIP-QUIET)."""

import random
from itertools import cycle

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.chip_under_test import ROW_WORDS
from verify.benches.op_rows import side_by_side
from verify.benches.store_model import StoreModel
from verify.benches.unit import Unit, unit_after_reset

ACCEPTS = {
    "always": (1,),
    "alternate": (0, 1),
    "bursts": (1,) * 6 + (0,) * 7,
    "one_in_five": (0, 0, 0, 0, 1),
    "long_pause": (1, 1, 1) + (0,) * 30,
    "ends_with_a_row": (1, 1, 1, 0),
}
QUIETS = {"always": (1,), "late": (0,) * 9 + (1,) * 500, "now_and_then": (0, 0, 1, 0, 1)}


async def sent(unit: Unit, rows: int, accepts: tuple[int, ...], quiets: tuple[int, ...]) -> int:
    """Send that many rows; the cycles that it took."""
    pins, chance = unit.pins, random.Random(rows)
    words = [[chance.getrandbits(32) for _ in range(ROW_WORDS)] for _ in range(rows)]
    model = StoreModel(1024 - rows, words)
    accept, quiet = cycle(accepts), cycle(quiets)
    at_output, cycles = 0, 0
    while not model.finished:
        is_quiet, data = bool(next(quiet)), model.data()
        accepted = data is not None and bool(next(accept))
        pins.drive(store_i=1, first_i=model.first, count_i=rows, quiet_i=int(is_quiet), accept_i=int(accepted))
        await unit.sees(rdata_i=at_output)
        launch = model.launch(is_quiet)
        assert pins["launch_o"] == (launch is not None), f"CHIP-CYCLE: launch_o in cycle {cycles} of the store"
        assert launch is None or pins["row_o"] == launch
        assert pins["valid_o"] == (data is not None), f"CHIP-CYCLE: valid_o in cycle {cycles} of the store"
        if data is not None:
            assert (pins["data_o"], pins["last_o"]) == (data, model.is_last()), f"in cycle {cycles} of the store"
        # Noise where no row is due: only the cycle after a launch has its row.
        at_output = side_by_side([0x5A5A5A5A] * ROW_WORDS if launch is None else words[launch - model.first], width=32)
        model.clocked(is_quiet, accepted)
        cycles += 1
        await unit.clocking.next_cycle()
    pins.drive(store_i=0, accept_i=0, quiet_i=1)
    return cycles


@cocotb.test()
async def a_word_a_cycle_when_all_are_accepted(top: HierarchyObject) -> None:
    """Launch, data at the output, then RW words a row without a gap: 2 + RW*n cycles."""
    unit = await unit_after_reset(top, "ks_row_sender")
    for rows in (1, 2, 3, 17):
        assert await sent(unit, rows, (1,), (1,)) == 2 + ROW_WORDS * rows


@cocotb.test()
@cocotb.parametrize(accepts=[cocotb.Param(pattern, name) for name, pattern in ACCEPTS.items()])
async def words_come_in_order_however_they_are_accepted(top: HierarchyObject, accepts: tuple[int, ...]) -> None:
    """Stores of one and more rows, one after another, with and without pauses between them."""
    unit = await unit_after_reset(top, "ks_row_sender")
    for pattern in QUIETS.values():
        for rows in (1, 5, 2):
            await sent(unit, rows, accepts, pattern)
        await unit.clocking.next_cycle(3)


@cocotb.test()
async def nothing_is_launched_without_a_store(top: HierarchyObject) -> None:
    """CHIP-QUIET: a quiet port alone is no reason to read a row."""
    unit = await unit_after_reset(top, "ks_row_sender")
    for quiet in (0, 1, 1, 0):
        await unit.sees(store_i=0, quiet_i=quiet, count_i=3)
        assert not unit.pins["launch_o"] and not unit.pins["valid_o"]
        await unit.clocking.next_cycle()
