// ks_seq: fetches, and lets the head instruction issue, end the run or wait.
// Rule:    docs/chip.md, 6 SEQ, the end of a run; 5 IDLE (the other holds arrive as load_hold_i, store_hold_i and result_hold_i).
// Latency: the head is IMEM[fetch] of the cycle before; all outputs but the head are combinational of it.
// Caller:  code_i and the holds are combinational of the head; busy_i falls at the edge of end_o; flush_i is up whenever
//          soft_i, fault_i or timeout_i is.
`default_nettype none

`include "kestrel_isa.vh"

module ks_seq (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire        start_i,
    input  wire        soft_i,         // forgets that there was a SCORE
    input  wire        flush_i,
    input  wire        busy_i,
    // fetch and head
    output wire [7:0]  fetch_o,
    input  wire [63:0] insn_i,
    output wire [63:0] head_o,
    output wire        head_end_o,     // instruction 256 was reached
    output wire [7:0]  head_pc_o,      // as ERRPC has it: 255 for instruction 256
    // of the head, combinational
    input  wire [5:0]  op_i,
    input  wire [7:0]  code_i,         // 0: no error
    input  wire [31:0] count_i,
    input  wire        load_hold_i,
    input  wire        store_hold_i,
    input  wire        result_hold_i,
    // of the machine
    input  wire        cx_active_i,
    input  wire        queue_empty_i,
    input  wire        queue_full_i,
    input  wire        drain_i,
    // the two ends that are not the head's
    input  wire        fault_i,        // an error of the walk
    input  wire [7:0]  fault_code_i,
    input  wire [7:0]  fault_pc_i,
    input  wire        timeout_i,      // combinational of issue_o and finish_o
    // outcome of this cycle
    output wire        held_o,
    output wire        issue_o,
    output wire        push_o,         // into the queue
    output wire        op_start_o,     // into CX
    output wire        setq_o,         // into the entries
    output wire        finish_o,       // the run ends without timeout_i
    output wire        end_o,
    output wire [7:0]  end_code_o,
    output wire [7:0]  end_pc_o,
    // the last SCORE that issued
    output wire        scored_o,
    output wire [7:0]  score_count_o
);
    reg [8:0]  fetch_q;                // 256 is the instruction after the last
    reg        head_valid_q;
    reg [63:0] head_q;
    reg [7:0]  head_pc_q;
    reg        head_end_q;
    reg        scored_q;
    reg [7:0]  score_count_q;
    reg        ready;

    wire live  = busy_i & head_valid_q;
    wire idle  = ~cx_active_i & queue_empty_i;
    wire error = code_i != 8'd0;
    wire empty = count_i == 32'd0;
    wire move  = (op_i == `KS_OP_LOAD) | (op_i == `KS_OP_STORE) | (op_i == `KS_OP_GATHER);
    wire op    = (op_i == `KS_OP_DOT) | (op_i == `KS_OP_DOTL) | (op_i == `KS_OP_SCORE) | (op_i == `KS_OP_AV);

    always @* begin
        case (op_i)
            `KS_OP_HALT,
            `KS_OP_FENCE:  ready = idle;
            `KS_OP_SETQ:   ready = ~cx_active_i;
            `KS_OP_STREG:  ready = ~cx_active_i & ~queue_full_i;
            `KS_OP_LOAD,
            `KS_OP_GATHER: ready = empty | (~queue_full_i & ~load_hold_i);
            `KS_OP_STORE:  ready = empty | (~queue_full_i & ~store_hold_i);
            default:       ready = ~cx_active_i & ~result_hold_i;
        endcase
    end

    wire go    = ~drain_i & (error ? idle : ready);
    wire last  = error | (op_i == `KS_OP_HALT);
    wire halt  = live & go & last;
    wire issue = live & go & ~last;
    wire fill  = busy_i & (issue | ~head_valid_q);
    wire score = op_start_o & (op_i == `KS_OP_SCORE);
    wire restart = start_i | flush_i;

    assign fetch_o       = fetch_q[7:0];
    assign head_o        = head_q;
    assign head_end_o    = head_end_q;
    assign head_pc_o     = head_end_q ? 8'd255 : head_pc_q;
    assign held_o        = live & ~go;
    assign issue_o       = issue;
    assign push_o        = issue & ((move & ~empty) | (op_i == `KS_OP_STREG));
    assign op_start_o    = issue & op;
    assign setq_o        = issue & (op_i == `KS_OP_SETQ);
    assign finish_o      = halt | fault_i;
    assign end_o         = finish_o | timeout_i;
    assign end_code_o    = fault_i ? fault_code_i : halt ? code_i : `KS_ERR_TIMEOUT;
    assign end_pc_o      = fault_i ? fault_pc_i : head_pc_o;
    assign scored_o      = scored_q;
    assign score_count_o = score_count_q;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            fetch_q       <= 9'd0;
            head_valid_q  <= 1'b0;
            head_q        <= 64'd0;
            head_pc_q     <= 8'd0;
            head_end_q    <= 1'b0;
            scored_q      <= 1'b0;
            score_count_q <= 8'd0;
        end else begin
            if (restart) begin
                fetch_q      <= 9'd0;
                head_valid_q <= 1'b0;
            end else if (fill) begin
                head_q       <= insn_i;
                head_pc_q    <= fetch_q[7:0];
                head_end_q   <= fetch_q[8];
                head_valid_q <= 1'b1;
                fetch_q      <= fetch_q + 9'd1;
            end else if (halt) begin
                head_valid_q <= 1'b0;
            end
            if (soft_i) begin
                scored_q      <= 1'b0;
                score_count_q <= 8'd0;
            end else if (score) begin
                scored_q      <= 1'b1;
                score_count_q <= count_i[7:0];
            end
        end
    end

`ifndef SYNTHESIS
    // The end must find nothing in flight: older writes are in memory, and the next run starts clean.
    wire early_end  = halt && (cx_active_i || !queue_empty_i);
    // The head behind instruction 255 is no instruction; it may only end the run.
    wire issue_end  = issue && head_end_q;
    // A fault's GATHER is in the queue, so that the head cannot end the run in the same cycle with another code.
    wire two_ends   = fault_i && halt;
    // While the chip drains nothing new may meet the answers to forgotten reads.
    wire drain_move = drain_i && (issue || halt);
    // A start under a running program would lose the head.
    wire busy_start = start_i && busy_i;
    // One bit for a simulator to look at in a cycle.
    wire broken     = rst_ni && (early_end || issue_end || two_ends || drain_move || busy_start);

    always @(posedge clk_i) begin
        if (broken) begin
            if (early_end) begin
                $display("ASSERTION ks_seq: run ends with work in flight, time %0t", $time);
            end
            if (issue_end) begin
                $display("ASSERTION ks_seq: instruction 256 issues, time %0t", $time);
            end
            if (two_ends) begin
                $display("ASSERTION ks_seq: two ends of one run, time %0t", $time);
            end
            if (drain_move) begin
                $display("ASSERTION ks_seq: head moves while the chip drains, time %0t", $time);
            end
            if (busy_start) begin
                $display("ASSERTION ks_seq: start while busy, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
