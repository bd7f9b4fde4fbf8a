"""Faults of the RTL's modules, each with the tests that have to see it: one, a quick one, of every bench that does.

A test is BENCH.TEST, as cocotb names it.
"""

from verify.chips.planted_rtl import RtlFault

FAULTS: tuple[tuple[RtlFault, tuple[str, ...]], ...] = (
    (
        RtlFault("sums are cut off, not rounded", "ks_rq", "41'd1 << (sh_i - 6'd1)", "41'd0", "CHIP-INT"),
        (
            "ks_rq.halves_round_up_and_bounds_saturate",
            "ks_cx.a_result_row_waits_while_loaded_rows_are_written",
            "decode_step.a_step_gives_the_same_on/traffic=alternate",
        ),
    ),
    (
        RtlFault("bytes end at 126", "ks_rq", "8'h7F", "8'h7E", "CHIP-INT"),
        ("ks_rq.halves_round_up_and_bounds_saturate",),
    ),
    (
        RtlFault("an index of 256 wraps", "ks_sm", "shifted > 40'd255", "1'b0", "CHIP-INT"),
        ("ks_sm.scores_may_come_with_pauses",),
    ),
    (
        RtlFault("a quotient bit too few", "ks_qdiv", "rem >= sub", "rem > sub", "CHIP-INT"),
        (
            "ks_qdiv.every_quotient_and_both_its_ends",
            "ks_av.halves_round_up",
        ),
    ),
    (
        RtlFault(
            "the last of equal logits wins",
            "ks_pack",
            "$signed(data_i) > $signed(best_q)",
            "$signed(data_i) >= $signed(best_q)",
            "CHIP-INT",
        ),
        ("ks_pack.the_argmax_is_the_lowest_of_the_largest",),
    ),
    (
        RtlFault("seven entries are full", "ks_queue", "occupancy_q == 4'd8", "occupancy_q == 4'd7", "CHIP-CYCLE"),
        ("ks_queue.eight_entries_fill_it_and_one_that_leaves_makes_room",),
    ),
    (
        RtlFault("ready is ignored", "ks_dma", "req_valid_o & req_ready_i", "req_valid_o", "CHIP-CYCLE"),
        (
            "ks_dma.an_error_of_the_walk_waits_for_all_answers_on/traffic=alternate",
            "memory_port.requests_hold_and_come_in_order_on/traffic=alternate",
        ),
    ),
    (
        RtlFault(
            "fifteen reads are the most", "ks_dma", "outstanding_q != 5'd16", "outstanding_q != 5'd15", "CHIP-CYCLE"
        ),
        (
            "ks_dma.sixteen_reads_may_be_outstanding",
            "memory_port.a_slow_memory_sees_sixteen_reads_outstanding_and_never_more",
            "cycles.the_ninth_descriptor_waits_for_the_first_to_leave",
        ),
    ),
    (
        RtlFault("writes wait for no read", "ks_dma", "outstanding_q == 5'd0", "1'b1", "CHIP-QUIET"),
        (
            "memory_port.requests_hold_and_come_in_order_on/traffic=always",
            "cycles.a_write_waits_until_no_read_is_outstanding/latency=1",
        ),
    ),
    (
        RtlFault(
            "the row before the owed one waits",
            "ks_hazard",
            "{1'b0, cx_row_i}",
            "{1'b0, cx_row_i} + 11'd1",
            "CHIP-CHASE",
        ),
        (
            "ks_hazard.each_kind_of_row_alone_holds_at_both_its_ends",
            "hazards.results_are_the_definitions_on/traffic=always",
        ),
    ),
    (
        RtlFault("a load overtakes an op", "ks_seq", "~queue_full_i & ~load_hold_i", "~queue_full_i", "CHIP-LOAD"),
        (
            "ks_seq.each_condition_alone_holds_what_it_has_to",
            "hazards.results_are_the_definitions_on/traffic=always",
            "cycles.a_load_waits_for_an_op_that_has_its_rows_and_for_no_other",
        ),
    ),
    (
        RtlFault("a store overtakes an op", "ks_seq", "~queue_full_i & ~store_hold_i", "~queue_full_i", "CHIP-STORE"),
        (
            "ks_seq.each_condition_alone_holds_what_it_has_to",
            "hazards.results_are_the_definitions_on/traffic=always",
            "cycles.a_store_waits_for_the_op_that_writes_its_rows_and_for_no_other",
        ),
    ),
    (
        RtlFault("an op overtakes moves", "ks_seq", "~cx_active_i & ~result_hold_i", "~cx_active_i", "CHIP-RESULT"),
        (
            "ks_seq.every_cycle_issues_ends_or_holds_as_the_definition_says/calm=0.7",
            "hazards.results_are_the_definitions_on/traffic=always",
            "cycles.an_op_waits_for_its_result_rows_one_by_one",
        ),
    ),
    (
        RtlFault("a STREG overtakes an op", "ks_seq", "~cx_active_i & ~queue_full_i", "~queue_full_i", "CHIP-IDLE"),
        (
            "ks_seq.every_cycle_issues_ends_or_holds_as_the_definition_says/calm=0.7",
            "hazards.results_are_the_definitions_on/traffic=always",
            "cycles.what_looks_at_results_waits_until_cx_is_idle",
        ),
    ),
    (
        RtlFault("the last row is out of range", "ks_check", "row_end > 33'd1024", "row_end > 33'd1023", "spec"),
        ("ks_check.the_first_error_in_order_is_the_one",),
    ),
    (
        RtlFault("a busy chip takes writes", "ks_host", "h_we_i & ~busy_q", "h_we_i", "ports"),
        ("host_port.a_write_counts_from_the_first_cycle_that_is_not_busy",),
    ),
    (
        RtlFault("the page at hand is fetched again", "ks_walk", "i + {15'd0, left}", "i", "CHIP-GATHER"),
        (
            "ks_walk.a_slot_beyond_the_memory_is_not_read",
            "memory_port.requests_hold_and_come_in_order_on/traffic=always",
            "gather.rows_come_from_the_pages_that_the_ring_names_on/traffic=always",
        ),
    ),
    (
        RtlFault("an entry is late by a cycle", "ks_walk", "arrive | next_valid_q", "next_valid_q", "CHIP-GATHER"),
        (
            "ks_walk.a_page_changes_before_with_and_after_its_entry",
            "gather.a_gather_takes_its_words_and_what_its_table_lets_it_wait",
        ),
    ),
    (
        RtlFault(
            "bit 30 of an entry is ignored",
            "ks_walk",
            "entry_q[30:16] != 15'd0",
            "entry_q[29:16] != 14'd0",
            "CHIP-ERROR",
        ),
        (
            "ks_walk.every_bit_of_an_entry_is_looked_at",
            "gather.an_error_of_the_walk_ends_the_run/latency=4",
        ),
    ),
    (
        RtlFault("a fault names the oldest descriptor", "ks_queue", "pc_q[cur_q]", "pc_q[head_q]", "CHIP-ERROR"),
        ("ks_queue.a_flush_empties_it",),
    ),
    (
        RtlFault("the watchdog is silent", "ks_watchdog", "(&quiet_q) & ~progress", "1'b0", "CHIP-WATCH"),
        (
            "ks_watchdog.only_busy_cycles_count_and_a_start_begins_at_zero",
            "soft_reset.a_memory_that_stops_is_a_timeout",
        ),
    ),
    (
        RtlFault("an issue is no progress", "ks_watchdog", "issue_i | accept_i", "accept_i", "CHIP-WATCH"),
        ("ks_watchdog.each_kind_of_progress_starts_the_count_anew",),
    ),
    (
        RtlFault("a flush takes the request back", "ks_dma", "(flush_i | stale_q)", "stale_q", "CHIP-RESET"),
        (
            "ks_dma.a_flush_keeps_what_is_raised_and_drops_the_answers_on/traffic=alternate",
            "soft_reset.a_request_of_the_run_before_counts_in_the_run_that_it_meets",
        ),
    ),
    (
        RtlFault("an answer to a forgotten read counts", "ks_dma", "~is_table & ~drain_o", "~is_table", "CHIP-RESET"),
        ("ks_dma.a_flush_keeps_what_is_raised_and_drops_the_answers_on/traffic=always",),
    ),
    (
        RtlFault(
            "a draining chip runs on",
            "ks_seq",
            "~drain_i & (error ? idle : ready)",
            "error ? idle : ready",
            "CHIP-RESET",
        ),
        (
            "ks_seq.every_cycle_issues_ends_or_holds_as_the_definition_says/calm=0.7",
            "soft_reset.a_request_of_the_run_before_counts_in_the_run_that_it_meets",
        ),
    ),
)
