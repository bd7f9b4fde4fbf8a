"""ks_exp: LUT[i] = floor(255*exp(-i/32) + 1/2), every entry (CHIP-INT)."""

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.formulas import LUT
from verify.benches.unit import unit_after_reset


@cocotb.test()
async def every_entry_is_the_rounded_exponential(top: HierarchyObject) -> None:
    """255 at 0, 1 at 199, 0 from 200."""
    assert (LUT[0], LUT[199], LUT[200], LUT[255]) == (255, 1, 0, 0)
    unit = await unit_after_reset(top, "ks_exp")
    for index, wanted in enumerate(LUT):
        await unit.sees(index_i=index)
        assert unit.pins["value_o"] == wanted, f"CHIP-INT: LUT[{index}] is {unit.pins['value_o']}, not {wanted}"
        await unit.clocking.next_cycle()
