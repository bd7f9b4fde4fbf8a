"""ks_rows: the result rows of every op with every count (docs/chip.md section 4)."""

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.op_rows import OPS, rows_of
from verify.benches.unit import unit_after_reset


@cocotb.test()
async def every_op_with_every_count(top: HierarchyObject) -> None:
    """Counts 1 .. 255, flags 0 .. 3, dst where no row, some and all are beyond the last; all sets of residuals."""
    unit = await unit_after_reset(top, "ks_rows")
    vectors = [
        (op, count, fl)
        for op in OPS
        for fl in ((0, 1, 2, 3) if op == OPS[0] else (0, 1) if op == OPS[1] else (0,))
        for count in (*range(1, 70), 127, 128, 129, 192, 254, 255)
    ]
    for number, (op, count, fl) in enumerate(vectors):
        dst = (0, 100, 255, 256, 511, 512, 1020, 1021, 1022, 1023)[number % 10]
        rm = [number >> i & 1 for i in range(4)]
        wanted = rows_of(op, count, dst, fl, rm)
        await unit.sees(op_i=op, count_i=count, dst_i=dst, apart_i=fl >> 1, rm_nz_i=number & 15)
        pins, which = unit.pins, f"{op.name} count {count} dst {dst} fl {fl}"
        assert pins["many_o"] == wanted.many, f"{which}: many_o is {pins['many_o']}"
        if not wanted.many:
            assert pins["beyond_o"] == wanted.beyond, f"{which}: beyond_o is {pins['beyond_o']}"
            assert pins["x_valid_o"] == sum(1 << i for i in wanted.residuals), f"{which}: residual rows"
        if not wanted.many and not wanted.beyond:
            valid, rows = pins["res_valid_o"], pins["res_row_o"]
            seen = [rows >> (10 * i) & 1023 for i in range(4) if valid >> i & 1]
            assert seen == list(wanted.results), f"{which}: result rows {seen}, not {wanted.results}"
            assert valid & (valid + 1) == 0, f"{which}: result rows are not the first ones"
        await unit.clocking.next_cycle()
