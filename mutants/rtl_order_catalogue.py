"""The mutants of the chip's RTL that overlapping instructions, memory's traffic or the cycles show.

Source: docs/chip.md sections 5 and 6. Expected is a rule of order for what goes wrong only when instructions overlap, and
CHIP-CYCLE for what costs or saves cycles and nothing else.
"""

from mutants.mutant import any_of
from mutants.rtl_mutant import CYCLE, PROGRAM, RtlMutant
from verify.chips.planted_rtl import Edit

_ORDER = (
    RtlMutant(
        "R45",
        "the last owed row is read",
        "ks_hazard",
        "{1'b0, cx_row_i}",
        "{1'b0, cx_row_i} + 11'd1",
        any_of("CHIP-CHASE"),
    ),
    RtlMutant(
        "R46", "an op reads rows that are owed", "ks_cx", "owed_i | st_launch_i", "st_launch_i", any_of("CHIP-CHASE")
    ),
    RtlMutant(
        "R47", "a load takes no notice of residual rows", "ks_hazard", "act_x_valid_i[i]", "1'b0", any_of("CHIP-LOAD")
    ),
    RtlMutant(
        "R48",
        "a load takes no notice of the last B row",
        "ks_hazard",
        "first < act_end_i",
        "first + 11'd1 < act_end_i",
        any_of("CHIP-LOAD"),
    ),
    RtlMutant(
        "R49",
        "a load takes no notice of result rows",
        "ks_hazard",
        "(res_hit != 4'd0)",
        "1'b0",
        any_of("CHIP-LOAD"),
        "(x_hit != 4'd0) | (res_hit != 4'd0)",
    ),
    RtlMutant(
        "R50",
        "a store overtakes an op",
        "ks_seq",
        "~queue_full_i & ~store_hold_i",
        "~queue_full_i",
        any_of("CHIP-STORE"),
    ),
    RtlMutant(
        "R51",
        "an op takes no notice of stores",
        "ks_hazard",
        "q_load_i[e] | q_store_i[e]",
        "q_load_i[e]",
        any_of("CHIP-RESULT"),
    ),
    RtlMutant(
        "R52",
        "an op takes no notice of the last row of a move",
        "ks_hazard",
        "row < hi",
        "row + 11'd1 < hi",
        any_of("CHIP-RESULT"),
        "taken & (row >= lo) & (row < hi)",
    ),
    RtlMutant(
        "R53", "SETQ does not wait for the op", "ks_seq", "ready = ~cx_active_i;", "ready = 1'b1;", any_of("CHIP-IDLE")
    ),
    RtlMutant(
        "R54",
        "a descriptor's TOK is taken late",
        "ks_queue",
        "word_q[cur_q]",
        "cur_gather_o ? word_q[cur_q] : push_word_i",
        any_of("CHIP-IDLE"),
    ),
    RtlMutant(
        "R55",
        "a store reads while a read is outstanding",
        "ks_row_sender",
        "store_i & quiet_i",
        "store_i",
        any_of("CHIP-QUIET"),
    ),
    RtlMutant(
        "R56",
        "the write port goes to the result row first",
        "kestrel",
        "load_we ? load_row : out_row",
        "out_we ? out_row : load_row",
        any_of("CHIP-PORTS"),
        also=(
            Edit("kestrel", "load_we ? load_data : out_data", "out_we ? out_data : load_data"),
            Edit("ks_cx", "out_valid & ~row_we_i", "out_valid"),
        ),
    ),
    RtlMutant(
        "R57",
        "the read port is taken from a store",
        "kestrel",
        "st_launch ? st_row : cx_row",
        "cx_launch ? cx_row : st_row",
        any_of("CHIP-PORTS"),
        also=(Edit("ks_cx", "owed_i | st_launch_i", "owed_i"),),
    ),
    RtlMutant(
        "R58",
        "a row that waits behind another is lost",
        "ks_pack",
        "pend_q <= rowend_i;",
        "pend_q <= 1'b0;",
        any_of("CHIP-PORTS"),
    ),
)

_MOVES = (
    RtlMutant("R59", "a queue entry too many", "ks_queue", "occupancy_q == 4'd8", "occupancy_q == 4'd9", PROGRAM),
    RtlMutant("R60", "a queue entry too few", "ks_queue", "occupancy_q == 4'd8", "occupancy_q == 4'd7", CYCLE),
    RtlMutant("R61", "a load leaves with its first row", "ks_dma", "row_we_o & head_last_i", "row_we_o", PROGRAM),
    RtlMutant(
        "R62", "a read too many is outstanding", "ks_dma", "outstanding_q != 5'd16", "outstanding_q != 5'd17", PROGRAM
    ),
    RtlMutant(
        "R63", "a read too few is outstanding", "ks_dma", "outstanding_q != 5'd16", "outstanding_q != 5'd15", CYCLE
    ),
    RtlMutant(
        "R64", "a STREG's write does not wait for reads", "ks_dma", "streg & quiet", "streg", any_of("CHIP-QUIET")
    ),
    RtlMutant(
        "R65",
        "the next register is overwritten",
        "ks_row_sender",
        "store_i & quiet_i & ~all & ~flight_q & ~next_valid_q",
        "store_i & quiet_i & ~all & ~flight_q",
        PROGRAM,
    ),
    RtlMutant(
        "R66",
        "a store ends before its last row",
        "ks_row_sender",
        "all & ~flight_q & ~next_valid_q",
        "all & ~flight_q",
        PROGRAM,
        "(&word_q) & all & ~flight_q & ~next_valid_q",
    ),
    RtlMutant(
        "R67",
        "the valid bit of the row register is ignored",
        "ks_row_sender",
        "row_valid_q",
        "1'b1",
        PROGRAM,
        "valid_o  = row_valid_q;",
    ),
)

_TIME = (
    RtlMutant("R68", "VEC is frozen", "ks_counters", "count_q[3] + 32'd1", "count_q[3]", CYCLE),
    RtlMutant("R69", "a start keeps the counters", "ks_counters", "~rst_ni | clear_i", "~rst_ni", CYCLE),
    RtlMutant("R70", "STALL misses a waiting op", "kestrel", "held | cx_wait", "held", CYCLE),
    RtlMutant("R71", "VEC counts the last B row, too", "ks_cx", "reads_done & ~s1_b", "reads_done", CYCLE),
    RtlMutant(
        "R72",
        "result rows are compared by their hull",
        "ks_hazard",
        "(row >= lo) & (row < hi)",
        "(row >= lo) & ({1'b0, res_row_i[9:0]} < hi)",
        CYCLE,
        "taken & (row >= lo) & (row < hi)",
    ),
    # The A row is read before any younger load could have changed it, so only the cycles show it.
    RtlMutant(
        "R73",
        "a load takes no notice of the A row",
        "ks_hazard",
        "act_a_valid_i",
        "1'b0",
        CYCLE,
        "= act_a_valid_i &",
    ),
)

RTL_ORDER_MUTANTS = (*_ORDER, *_MOVES, *_TIME)
