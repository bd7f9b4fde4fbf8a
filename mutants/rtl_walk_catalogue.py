"""The mutants of the chip's RTL that a walk, silent memory, an error of the walk or a soft reset show.

Source: docs/chip.md section 3, soft reset, section 4, GATHER and PAGE, and section 6, DMA requests, Flush and Watchdog.
Expected is CHIP-GATHER where a walk brings other rows, CHIP-ERROR for another code or ERRPC, CHIP-WATCH and CHIP-RESET for what
their titles say, and CHIP-CYCLE for what costs or saves cycles and nothing else.
"""

from mutants.mutant import any_of
from mutants.rtl_mutant import CYCLE, RtlMutant

GATHER = any_of("CHIP-GATHER")
ERROR = any_of("CHIP-ERROR")
WATCH = any_of("CHIP-WATCH")
RESET = any_of("CHIP-RESET")

_WALK = (
    RtlMutant(
        "R74",
        "the entry behind the next one is read ahead",
        "ks_walk",
        "i + {15'd0, left}",
        "i + {14'd0, left, 1'b0}",
        GATHER,
    ),
    RtlMutant("R75", "values are gathered from the keys", "ks_walk", "kv_i", "1'b0", GATHER, "{7'd0, page, kv_i}"),
    RtlMutant(
        "R76", "a walk begins at the first row of its page", "ks_walk", "i[6:0] & mask", "k_q[6:0] & mask", GATHER
    ),
    RtlMutant(
        "R77",
        "the table is no ring",
        "ks_walk",
        "i_table[low_bit +: 16] & btmask_i",
        "i_table[low_bit +: 16]",
        GATHER,
    ),
    RtlMutant(
        "R78",
        "a table word fills a row",
        "ks_dma",
        "rsp_valid_i & ~is_table & ~drain_o",
        "rsp_valid_i & ~drain_o",
        GATHER,
    ),
    RtlMutant(
        "R79",
        "the next answer is taken for the table's",
        "ks_walk",
        "ahead_q   <= ahead_i;",
        "ahead_q   <= 4'd0;",
        GATHER,
    ),
    RtlMutant(
        "R80",
        "a table read counts as accepted when it is raised",
        "ks_walk",
        "accept_i & due",
        "up_o & due",
        GATHER,
        "if (accept_i & due) begin",
    ),
    RtlMutant(
        "R81",
        "an entry that arrives with the end of a page is lost, and read again",
        "ks_walk",
        "arrive | next_valid_q",
        "next_valid_q",
        CYCLE,
        "entry_valid_q  <= arrive | next_valid_q",
    ),
    RtlMutant("R82", "a page is not held to NPAGES", "ks_walk", "({1'b0, page} >= npages_i)", "1'b0", ERROR),
    RtlMutant("R83", "page NPAGES is one", "ks_walk", "{1'b0, page} >= npages_i", "{1'b0, page} > npages_i", ERROR),
    RtlMutant("R84", "an entry's bits 30:16 are not looked at", "ks_walk", "(entry_q[30:16] != 15'd0)", "1'b0", ERROR),
    RtlMutant(
        "R85", "a row of a page may lie beyond memory", "ks_walk", "row_addr + ROW_WORDS > MEM_WORDS", "1'b0", ERROR
    ),
    RtlMutant(
        "R86",
        "an entry beyond memory is that of the page before",
        "ks_walk",
        "entry_beyond_q | page_bad | row_bad",
        "page_bad | row_bad",
        ERROR,
    ),
    RtlMutant(
        "R87",
        "EXT_RANGE is looked for before PAGE",
        "ks_walk",
        "~entry_beyond_q & page_bad",
        "~entry_beyond_q & page_bad & ~row_bad",
        ERROR,
    ),
    RtlMutant(
        "R88",
        "ERRPC of a walk is the head's",
        "ks_seq",
        "fault_i ? fault_pc_i : head_pc_o",
        "head_pc_o",
        ERROR,
    ),
    RtlMutant("R89", "an error of a walk waits for no answer", "ks_dma", "walk_fault & quiet", "walk_fault", CYCLE),
)

_WATCHDOG = (
    RtlMutant("R90", "there is no TIMEOUT", "ks_watchdog", "(&quiet_q)", "1'b0", WATCH),
    RtlMutant("R91", "TIMEOUT comes a cycle early", "ks_watchdog", "(&quiet_q)", "(&quiet_q[11:1])", CYCLE),
    RtlMutant(
        "R92",
        "a start goes on with the quiet cycles of the run before",
        "ks_watchdog",
        "~rst_ni | start_i | (busy_i & progress)",
        "~rst_ni | (busy_i & progress)",
        WATCH,
    ),
    RtlMutant(
        "R93",
        "ERRPC of TIMEOUT is the current entry's",
        "ks_seq",
        "fault_i ? fault_pc_i : head_pc_o",
        "(fault_i | timeout_i) ? fault_pc_i : head_pc_o",
        WATCH,
    ),
)

_RESET = (
    RtlMutant(
        "R94",
        "a flush leaves the queue",
        "kestrel",
        "work_n",
        "rst_n",
        RESET,
        "ks_queue queue (\n        .clk_i(clk), .rst_ni(work_n)",
    ),
    RtlMutant(
        "R95",
        "a flush leaves the op",
        "kestrel",
        "work_n",
        "rst_n",
        RESET,
        ") cx (\n        .clk_i(clk), .rst_ni(work_n)",
    ),
    RtlMutant(
        "R96",
        "a flush leaves the fault",
        "ks_dma",
        "work_n",
        "rst_ni",
        RESET,
        ".rst_ni      (work_n),\n        .btbase_i ",
    ),
    RtlMutant("R97", "a flush leaves the words of a row", "ks_dma", "rst_ni & ~flush_i", "rst_ni", RESET),
    RtlMutant(
        "R98",
        "an answer from before a reset is a row's",
        "ks_dma",
        "rsp_valid_i & ~is_table & ~drain_o",
        "rsp_valid_i & ~is_table",
        RESET,
    ),
    RtlMutant(
        "R99",
        "the head does not wait while the chip drains",
        "ks_seq",
        "~drain_i & (error ? idle : ready)",
        "(error ? idle : ready)",
        RESET,
    ),
    RtlMutant(
        "R100",
        "a request that is up is dropped by a flush",
        "ks_dma",
        "stale_q <= req_valid_o & ~req_ready_i & (flush_i | stale_q);",
        "stale_q <= 1'b0;",
        RESET,
    ),
    RtlMutant(
        "R101",
        "a soft reset leaves a SCORE",
        "ks_seq",
        "scored_q      <= 1'b0;",
        "",
        RESET,
        "if (soft_i) begin\n                scored_q      <= 1'b0;",
    ),
    RtlMutant(
        "R102",
        "a soft reset clears the walker's registers",
        "ks_host",
        "!rst_ni",
        "!rst_ni | soft_o",
        RESET,
        "if (!rst_ni) begin\n            btbase_q",
    ),
    RtlMutant(
        "R103", "a soft reset leaves R", "ks_host", "r_q[i] <= 32'd0;", "r_q[i] <= rst_ni ? r_q[i] : 32'd0;", RESET
    ),
    RtlMutant("R104", "a soft reset leaves the counters", "kestrel", "start | soft_reset", "start", CYCLE),
)

RTL_WALK_MUTANTS = (*_WALK, *_WATCHDOG, *_RESET)
