"""The named mutants of the chip's RTL, each with the rules that must catch it in every simulator; and the controls.

Source: docs/chip.md, whose words the titles use; the rules are those of spec/rules.py. Expected is what the definition says is
wrong: CHIP-INT for the integers of a decode step, CHIP-ISA for what a program leaves otherwise. Here are those of numbers and of
single instructions; those of order and of time are in mutants/rtl_order_catalogue.py, those of the walker, the watchdog and
resets in mutants/rtl_walk_catalogue.py.
"""

from mutants.rtl_mutant import INTEGER, PROGRAM, RtlMutant
from mutants.rtl_order_catalogue import RTL_ORDER_MUTANTS
from mutants.rtl_walk_catalogue import RTL_WALK_MUTANTS

_NUMBERS = (
    RtlMutant("R1", "a byte is cut off, not rounded", "ks_rq", "41'd1 << (sh_i - 6'd1)", "41'd0", INTEGER),
    RtlMutant("R2", "bytes saturate at -127", "ks_rq", "8'h80", "8'h81", INTEGER),
    RtlMutant("R3", "what is too large wraps", "ks_rq", "fits", "1'b1", INTEGER, "byte_o = fits ?"),
    RtlMutant("R4", "the residual row counts without its sign", "ks_rq", "{{16{xr[7]}}, xr}", "{16'd0, xr}", INTEGER),
    RtlMutant("R5", "an exponential's index wraps", "ks_sm", "shifted > 40'd255", "1'b0", INTEGER),
    RtlMutant(
        "R6", "the maximum is compared without sign", "ks_sm", "$signed(s_i) > $signed(max_q)", "s_i > max_q", INTEGER
    ),
    RtlMutant("R7", "Z goes on from the last SCORE's", "ks_sm", "(e_t_q == 8'd0 ? 16'd0 : z_q)", "z_q", PROGRAM),
    RtlMutant("R8", "LUT has one value for two indices", "ks_exp", "~index_i", "~{index_i[7:1], 1'b0}", INTEGER),
    RtlMutant("R9", "a quotient bit too few", "ks_qdiv", "rem >= sub", "rem > sub", INTEGER),
    RtlMutant("R10", "o is cut off, not rounded", "ks_av", "{9'd0, z_i}", "25'd0", INTEGER),
    RtlMutant(
        "R11",
        "weights have a sign",
        "ks_mac",
        "{16'd0, e} * {{16{b[7]}}, b}",
        "{{16{e[7]}}, e} * {{16{b[7]}}, b}",
        INTEGER,
    ),
    RtlMutant(
        "R12", "an AV's sums begin with the last AV's", "ks_mac", "clear_i", "1'b0", PROGRAM, "if (clear_i) begin"
    ),
    RtlMutant(
        "R13",
        "of equal logits the last is taken",
        "ks_pack",
        "$signed(data_i) > $signed(best_q)",
        "$signed(data_i) >= $signed(best_q)",
        INTEGER,
    ),
    RtlMutant(
        "R14",
        "logits are compared without sign",
        "ks_pack",
        "$signed(data_i) > $signed(best_q)",
        "data_i > best_q",
        INTEGER,
    ),
    RtlMutant(
        "R15", "lanes beyond the last keep the row before", "ks_pack", "lane_i == {LANE_BITS{1'b0}}", "1'b0", PROGRAM
    ),
    RtlMutant("R16", "every result row has the first entry", "ks_cx", "fl0_q ? s2_grp_q : 2'd0", "2'd0", INTEGER),
    RtlMutant("R17", "result rows are never 256 apart", "ks_rows", "apart_i", "1'b0", INTEGER, "(apart_i ?"),
    RtlMutant(
        "R18",
        "an op has its entry where SETQ has it",
        "ks_decode",
        "q_op ? w1[31:28] : w0[25:22]",
        "w0[25:22]",
        INTEGER,
    ),
    RtlMutant("R19", "an AV goes on dividing behind its last lane", "ks_av", "~&lane_q", "1'b1", INTEGER),
)

_INSTRUCTIONS = (
    RtlMutant("R20", "sh may be 41", "ks_decode", "sh_o > 6'd40", "sh_o > 6'd41", PROGRAM),
    RtlMutant("R21", "an unknown opcode does nothing", "ks_decode", "illegal_o = 1'b1;", "illegal_o = 1'b0;", PROGRAM),
    RtlMutant("R22", "an op may have 256 rows", "ks_check", "count_i > 32'd255", "count_i > 32'd256", PROGRAM),
    RtlMutant(
        "R23",
        "an AV may have fewer rows than its SCORE",
        "ks_check",
        "count_i != {24'd0, score_count_i}",
        "count_i > {24'd0, score_count_i}",
        PROGRAM,
    ),
    RtlMutant(
        "R24", "a row behind the last one is in range", "ks_check", "row_end > 33'd1024", "row_end > 33'd1025", PROGRAM
    ),
    RtlMutant("R25", "the last row is out of range", "ks_check", "row_end > 33'd1024", "row_end >= 33'd1024", PROGRAM),
    RtlMutant(
        "R26", "the last word is out of range", "ks_check", "mem_end > MEM_WORDS", "mem_end >= MEM_WORDS", PROGRAM
    ),
    RtlMutant("R27", "a STREG is not held to its range", "ks_check", "(plain & some) | streg", "plain & some", PROGRAM),
    RtlMutant(
        "R28",
        "a result row may be the last B row",
        "ks_check",
        "{23'd0, row} < row_end",
        "{23'd0, row} + 33'd1 < row_end",
        PROGRAM,
    ),
    RtlMutant("R29", "a result row may be a residual row", "ks_check", "x_valid_i[k]", "1'b0", PROGRAM),
    RtlMutant("R30", "an op may have five result rows", "ks_rows", "last > 8'd3", "last > 8'd4", PROGRAM),
    RtlMutant("R31", "a result row behind the last one wraps", "ks_rows", "beyond_o | row[10]", "beyond_o", PROGRAM),
    RtlMutant(
        "R32",
        "entry 15 is followed by no entry",
        "ks_entries",
        "hidx_i + {3'd0, hstep_i}",
        "(&hidx_i ? hidx_i : hidx_i + {3'd0, hstep_i})",
        PROGRAM,
    ),
    RtlMutant(
        "R33",
        "reset misses the entries",
        "ks_entries",
        "m_q[i]    <= 16'd32768;\n                sh_q[i]   <= 6'd1;",
        "",
        PROGRAM,
    ),
    RtlMutant(
        "R34",
        "reset leaves a SCORE",
        "ks_seq",
        "scored_q      <= 1'b0;",
        "",
        PROGRAM,
        "head_end_q    <= 1'b0;\n            scored_q      <= 1'b0;",
    ),
    RtlMutant("R35", "reset misses TOK", "ks_host", "tok_q   <= 32'd0;", "", PROGRAM),
    RtlMutant("R36", "R0 takes writes", "ks_host", "(h_index != 3'd0)", "1'b1", PROGRAM),
    RtlMutant(
        "R37",
        "a start keeps the error of the run before",
        "ks_host",
        "err_q   <= 1'b0;",
        "",
        PROGRAM,
        "busy_q  <= 1'b1;\n                done_q  <= 1'b0;\n                err_q   <= 1'b0;",
    ),
    RtlMutant("R38", "ERRPC of PC_END is 0", "ks_seq", "head_end_q ? 8'd255 : head_pc_q", "head_pc_q", PROGRAM),
    RtlMutant(
        "R39",
        "an error does not wait for what is older",
        "ks_seq",
        "error ? idle : ready",
        "error ? 1'b1 : ready",
        PROGRAM,
    ),
    RtlMutant("R40", "a count of 0 becomes a descriptor", "ks_seq", "count_i == 32'd0", "1'b0", PROGRAM),
    RtlMutant("R41", "a DOTL sets TOK unasked", "ks_cx", "out_last & dotl_q & fl0_q", "out_last & dotl_q", PROGRAM),
    RtlMutant(
        "R42",
        "the write enable of the scratchpad is ignored",
        "ks_spad",
        "we_i",
        "1'b1",
        INTEGER,
        "if (we_i) begin\n            mem_q",
    ),
    RtlMutant(
        "R43",
        "result rows have no residual row but the first",
        "ks_reads",
        "rowend & x_valid_q[grp_next]",
        "1'b0",
        PROGRAM,
    ),
    RtlMutant(
        "R44", "address registers are not added", "kestrel", "{12'd0, base} + ra_value", "{12'd0, base}", INTEGER
    ),
)

RTL_MUTANTS = (*_NUMBERS, *_INSTRUCTIONS, *RTL_ORDER_MUTANTS, *RTL_WALK_MUTANTS)

RTL_NO_OP = RtlMutant(
    "R no-op",
    "control: another spelling of the same sum",
    "ks_av",
    "{1'b0, z_i, 8'd0} + {9'd0, z_i}",
    "{9'd0, z_i} + {1'b0, z_i, 8'd0}",
)

RTL_BROKEN = RtlMutant(
    "R broken",
    "control: every sum is one too many",
    "ks_mac",
    "acc_q <= dot(a_q, row_i);",
    "acc_q <= dot(a_q, row_i) + 21'd1;",
)
