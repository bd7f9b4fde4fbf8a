// kestrel: a decode accelerator of one attention layer; this file wires its machines and adds R to the head's operands.
// Rule:    docs/chip.md, 3 Ports and 6 Cycle by cycle.
// Latency: a start at the end of a cycle makes the next one the first busy cycle; memory outputs are combinational of registers.
// Caller:  answers reads in the order of acceptance, the earliest in the cycle after it; holds rst_n low at one edge at least.
`default_nettype none

`include "kestrel_isa.vh"

module kestrel #(
    parameter LANES     = 16,
    parameter EXT_WORDS = 8192
) (
    input  wire        clk,
    input  wire        rst_n,
    output wire        mem_req_valid,
    input  wire        mem_req_ready,
    output wire        mem_req_we,
    output wire [19:0] mem_req_addr,
    output wire [31:0] mem_req_wdata,
    input  wire        mem_rsp_valid,
    input  wire [31:0] mem_rsp_data,
    input  wire        h_we,
    input  wire [10:0] h_addr,
    input  wire [31:0] h_wdata,
    output wire [31:0] h_rdata
);
    // The run
    wire         start, soft_reset, busy, run_end, held, issue, finish, fault, timeout, drain;
    wire [7:0]   end_code, end_pc, fetch, head_pc, fault_code;
    wire [63:0]  insn, head;
    wire [31:0]  counter;
    wire [2:0]   counter_index;
    // The head instruction
    wire         head_end, kv, illegal, many, beyond, load_hold, store_hold, result_hold, push, op_start, setq;
    wire [5:0]   op, sh;
    wire [2:0]   rc, rr, ra;
    wire [1:0]   fl;
    wire [3:0]   q, h_rm_nz, h_res_valid, h_x_valid;
    wire [9:0]   row, cnt, a, dst, xrow;
    wire [15:0]  m, rm;
    wire [19:0]  base;
    wire [31:0]  rc_value, rr_value, ra_value, tok;
    wire [39:0]  h_xrow, h_res_row;
    wire [7:0]   code;
    wire         scored;
    wire [7:0]   score_count;
    // The queue
    wire         q_empty, q_full, q_next, q_pop, cur_valid, cur_load, cur_gather, cur_kv, cur_store, head_load, head_last;
    wire [7:0]   cur_pc;
    wire [9:0]   cur_first, load_row;
    wire [10:0]  cur_count;
    wire [19:0]  cur_addr;
    wire [31:0]  cur_word;
    wire [7:0]   q_load, q_store;
    wire [79:0]  q_first;
    wire [87:0]  q_end;
    // The walker
    wire [19:0]  btbase, pool;
    wire [15:0]  btmask;
    wire [2:0]   logp;
    wire [16:0]  npages;
    // The scratchpad
    wire               st_launch, cx_launch, load_we, out_we;
    wire [9:0]         st_row, cx_row, out_row;
    wire [8*LANES-1:0] rdata, load_data, out_data;
    // The active op
    wire         active, act_a_valid, owed, cx_wait, mac, exp, vec, tok_we, read, write;
    wire [9:0]   act_a_row, act_first;
    wire [10:0]  act_end;
    wire [3:0]   act_x_valid, act_res_valid, ridx;
    wire [39:0]  act_x_row, act_res_row;
    wire [15:0]  r_m, r_rm;
    wire [5:0]   r_sh;
    wire [31:0]  tok_next;

    // The head's operands, modulo 2^32. ks_check keeps what is too large out; the narrow ones below are exact for the rest.
    wire [31:0] first = {22'd0, row} + rr_value;
    wire [31:0] addr  = {12'd0, base} + ra_value;
    wire [31:0] count = {{22{cnt[9]}}, cnt} + rc_value;

    // A flush is a reset of the queue and CX; SEQ and DMA keep some registers, DMA to let the chip drain.
    wire        flush  = soft_reset | fault | timeout;
    wire        work_n = rst_n & ~flush;

    ks_host host (
        .clk_i(clk), .rst_ni(rst_n),
        .h_we_i(h_we), .h_addr_i(h_addr), .h_wdata_i(h_wdata), .h_rdata_o(h_rdata),
        .start_o(start), .soft_o(soft_reset), .busy_o(busy), .end_i(run_end), .end_code_i(end_code), .end_pc_i(end_pc),
        .tok_we_i(tok_we), .tok_i(tok_next), .tok_o(tok),
        .rc_i(rc), .rr_i(rr), .ra_i(ra), .rc_o(rc_value), .rr_o(rr_value), .ra_o(ra_value),
        .btbase_o(btbase), .btmask_o(btmask), .pool_o(pool), .logp_o(logp), .npages_o(npages),
        .fetch_i(fetch), .insn_o(insn), .counter_index_o(counter_index), .counter_i(counter)
    );

    ks_seq seq (
        .clk_i(clk), .rst_ni(rst_n), .start_i(start), .soft_i(soft_reset), .flush_i(flush), .busy_i(busy),
        .fetch_o(fetch), .insn_i(insn), .head_o(head), .head_end_o(head_end), .head_pc_o(head_pc),
        .op_i(op), .code_i(code), .count_i(count),
        .load_hold_i(load_hold), .store_hold_i(store_hold), .result_hold_i(result_hold),
        .cx_active_i(active), .queue_empty_i(q_empty), .queue_full_i(q_full), .drain_i(drain),
        .fault_i(fault), .fault_code_i(fault_code), .fault_pc_i(cur_pc), .timeout_i(timeout),
        .held_o(held), .issue_o(issue), .push_o(push), .op_start_o(op_start), .setq_o(setq),
        .finish_o(finish), .end_o(run_end), .end_code_o(end_code), .end_pc_o(end_pc),
        .scored_o(scored), .score_count_o(score_count)
    );

    ks_watchdog watchdog (
        .clk_i(clk), .rst_ni(rst_n), .start_i(start), .busy_i(busy),
        .issue_i(issue), .accept_i(read | write), .answer_i(mem_rsp_valid), .row_i(mac), .exp_i(exp), .out_i(out_we),
        .finish_i(finish), .timeout_o(timeout)
    );

    ks_decode decode (
        .insn_i(head), .op_o(op), .rc_o(rc), .rr_o(rr), .ra_o(ra), .row_o(row), .cnt_o(cnt), .addr_o(base), .kv_o(kv),
        .q_o(q), .fl_o(fl), .a_o(a), .dst_o(dst), .m_o(m), .sh_o(sh), .xrow_o(xrow), .rm_o(rm), .illegal_o(illegal)
    );

    ks_rows #(.LANES(LANES)) rows (
        .op_i(op), .count_i(count[7:0]), .dst_i(dst), .apart_i(fl[1]), .rm_nz_i(h_rm_nz),
        .many_o(many), .beyond_o(beyond), .res_valid_o(h_res_valid), .res_row_o(h_res_row), .x_valid_o(h_x_valid)
    );

    ks_check #(.LANES(LANES), .EXT_WORDS(EXT_WORDS)) check (
        .end_i(head_end), .illegal_i(illegal), .op_i(op), .first_i(first), .count_i(count), .addr_i(addr), .a_i(a),
        .many_i(many), .beyond_i(beyond), .res_valid_i(h_res_valid), .res_row_i(h_res_row),
        .x_valid_i(h_x_valid), .x_row_i(h_xrow), .scored_i(scored), .score_count_i(score_count), .code_o(code)
    );

    ks_hazard hazard (
        .first_i(first[9:0]), .end_i({1'b0, first[9:0]} + count[10:0]), .res_valid_i(h_res_valid), .res_row_i(h_res_row),
        .act_i(active), .act_a_valid_i(act_a_valid), .act_a_row_i(act_a_row),
        .act_first_i(act_first), .act_end_i(act_end), .act_x_valid_i(act_x_valid), .act_x_row_i(act_x_row),
        .act_res_valid_i(act_res_valid), .act_res_row_i(act_res_row),
        .q_load_i(q_load), .q_store_i(q_store), .q_first_i(q_first), .q_end_i(q_end), .cx_row_i(cx_row),
        .load_o(load_hold), .store_o(store_hold), .result_o(result_hold), .owed_o(owed)
    );

    ks_entries entries (
        .clk_i(clk), .rst_ni(rst_n), .we_i(setq), .widx_i(q), .m_i(m), .sh_i(sh), .xrow_i(xrow), .rm_i(rm),
        .hidx_i(q), .hstep_i(fl[0]), .hrm_nz_o(h_rm_nz), .hxrow_o(h_xrow),
        .ridx_i(ridx), .m_o(r_m), .sh_o(r_sh), .rm_o(r_rm)
    );

    ks_queue queue (
        .clk_i(clk), .rst_ni(work_n),
        .push_i(push), .push_load_i(op == `KS_OP_LOAD || op == `KS_OP_GATHER), .push_gather_i(op == `KS_OP_GATHER),
        .push_store_i(op == `KS_OP_STORE),
        .push_first_i(first[9:0]), .push_count_i(count[10:0]), .push_addr_i(addr[19:0]),
        .push_word_i(op == `KS_OP_GATHER ? ra_value : tok), .push_kv_i(kv), .push_pc_i(head_pc),
        .empty_o(q_empty), .full_o(q_full),
        .cur_valid_o(cur_valid), .cur_load_o(cur_load), .cur_gather_o(cur_gather), .cur_store_o(cur_store),
        .cur_first_o(cur_first), .cur_count_o(cur_count), .cur_addr_o(cur_addr), .cur_word_o(cur_word), .cur_kv_o(cur_kv),
        .cur_pc_o(cur_pc), .next_i(q_next),
        .head_load_o(head_load), .head_row_o(load_row), .head_last_o(head_last), .row_i(load_we), .pop_i(q_pop),
        .q_load_o(q_load), .q_store_o(q_store), .q_first_o(q_first), .q_end_o(q_end)
    );

    ks_dma #(.LANES(LANES), .EXT_WORDS(EXT_WORDS)) dma (
        .clk_i(clk), .rst_ni(rst_n), .flush_i(flush), .drain_o(drain),
        .req_valid_o(mem_req_valid), .req_ready_i(mem_req_ready), .req_we_o(mem_req_we), .req_addr_o(mem_req_addr),
        .req_wdata_o(mem_req_wdata), .rsp_valid_i(mem_rsp_valid), .rsp_data_i(mem_rsp_data),
        .cur_valid_i(cur_valid), .cur_load_i(cur_load), .cur_gather_i(cur_gather), .cur_store_i(cur_store),
        .cur_first_i(cur_first), .cur_count_i(cur_count), .cur_addr_i(cur_addr), .cur_word_i(cur_word), .cur_kv_i(cur_kv),
        .next_o(q_next), .btbase_i(btbase), .btmask_i(btmask), .pool_i(pool), .logp_i(logp), .npages_i(npages),
        .fault_o(fault), .fault_code_o(fault_code),
        .head_load_i(head_load), .head_last_i(head_last), .pop_o(q_pop),
        .row_we_o(load_we), .row_data_o(load_data), .st_launch_o(st_launch), .st_row_o(st_row), .rdata_i(rdata),
        .read_o(read), .write_o(write)
    );

    // PORTS: a loaded row goes before a result row, a store's read before the op's.
    ks_spad #(.LANES(LANES)) spad (
        .clk_i(clk), .re_i(st_launch | cx_launch), .raddr_i(st_launch ? st_row : cx_row), .rdata_o(rdata),
        .we_i(load_we | out_we), .waddr_i(load_we ? load_row : out_row), .wdata_i(load_we ? load_data : out_data)
    );

    ks_cx #(.LANES(LANES)) cx (
        .clk_i(clk), .rst_ni(work_n),
        .start_i(op_start), .op_i(op), .first_i(first[9:0]), .count_i(count[7:0]), .a_i(a), .q_i(q), .fl0_i(fl[0]),
        .res_valid_i(h_res_valid), .res_row_i(h_res_row), .x_valid_i(h_x_valid), .x_row_i(h_xrow),
        .active_o(active), .a_valid_o(act_a_valid), .a_row_o(act_a_row), .first_o(act_first), .end_o(act_end),
        .x_valid_o(act_x_valid), .x_row_o(act_x_row), .res_valid_o(act_res_valid), .res_row_o(act_res_row),
        .row_o(cx_row), .owed_i(owed), .st_launch_i(st_launch), .launch_o(cx_launch), .rdata_i(rdata),
        .ridx_o(ridx), .m_i(r_m), .sh_i(r_sh), .rm_i(r_rm),
        .row_we_i(load_we), .out_we_o(out_we), .out_row_o(out_row), .out_data_o(out_data),
        .tok_we_o(tok_we), .tok_o(tok_next), .wait_o(cx_wait), .mac_o(mac), .exp_o(exp), .vec_o(vec)
    );

    ks_counters count_events (
        .clk_i(clk), .rst_ni(rst_n), .clear_i(start | soft_reset), .busy_i(busy), .dma_i(~q_empty), .mac_i(mac), .vec_i(vec),
        .stall_i(held | cx_wait), .rdw_i(read), .wrw_i(write), .index_i(counter_index), .counter_o(counter)
    );

`ifndef SYNTHESIS
    // One read port: the op's launch must give way to the store's.
    wire two_reads  = st_launch && cx_launch;
    // Whatever is at work after the end of a run would be in no counter, and would meet the next program.
    wire work_idle  = !busy && (active || !q_empty);
    // One write port: the out register must give way to a loaded row.
    wire two_writes = load_we && out_we;
    // One bit for a simulator to look at in a cycle.
    wire broken     = rst_n && (two_reads || work_idle || two_writes);

    always @(posedge clk) begin
        if (broken) begin
            if (two_reads) begin
                $display("ASSERTION kestrel: two reads of the scratchpad, time %0t", $time);
            end
            if (work_idle) begin
                $display("ASSERTION kestrel: work while not busy, time %0t", $time);
            end
            if (two_writes) begin
                $display("ASSERTION kestrel: two writes of the scratchpad, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
