// ks_seq: fetches, and lets the head instruction issue, end the run or wait.
// Rule:    docs/chip.md, 6 SEQ; 5 IDLE (the other holds arrive as load_hold_i, store_hold_i and result_hold_i).
// Latency: the head is IMEM[fetch] of the cycle before; all outputs but the head are combinational of it.
// Caller:  code_i and the holds are combinational of the head; busy_i falls at the edge of end_o.
`default_nettype none

`include "kestrel_isa.vh"

module ks_seq (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire        start_i,
    input  wire        busy_i,
    // fetch and head
    output wire [7:0]  fetch_o,
    input  wire [63:0] insn_i,
    output wire [63:0] head_o,
    output wire        head_end_o,     // instruction 256 was reached
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
    // outcome of this cycle
    output wire        held_o,
    output wire        push_o,         // into the queue
    output wire        op_start_o,     // into CX
    output wire        setq_o,         // into the entries
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
    wire move  = (op_i == `KS_OP_LOAD) | (op_i == `KS_OP_STORE);
    wire op    = (op_i == `KS_OP_DOT) | (op_i == `KS_OP_DOTL) | (op_i == `KS_OP_SCORE) | (op_i == `KS_OP_AV);

    always @* begin
        case (op_i)
            `KS_OP_HALT,
            `KS_OP_FENCE: ready = idle;
            `KS_OP_SETQ:  ready = ~cx_active_i;
            `KS_OP_STREG: ready = ~cx_active_i & ~queue_full_i;
            `KS_OP_LOAD:  ready = empty | (~queue_full_i & ~load_hold_i);
            `KS_OP_STORE: ready = empty | (~queue_full_i & ~store_hold_i);
            default:      ready = ~cx_active_i & ~result_hold_i;
        endcase
    end

    wire go    = error ? idle : ready;
    wire last  = error | (op_i == `KS_OP_HALT);
    wire issue = live & go & ~last;
    wire fill  = busy_i & (issue | ~head_valid_q);

    assign fetch_o       = fetch_q[7:0];
    assign head_o        = head_q;
    assign head_end_o    = head_end_q;
    assign held_o        = live & ~go;
    assign push_o        = issue & ((move & ~empty) | (op_i == `KS_OP_STREG));
    assign op_start_o    = issue & op;
    assign setq_o        = issue & (op_i == `KS_OP_SETQ);
    assign end_o         = live & go & last;
    assign end_code_o    = code_i;
    assign end_pc_o      = head_end_q ? 8'd255 : head_pc_q;
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
            if (start_i) begin
                fetch_q      <= 9'd0;
                head_valid_q <= 1'b0;
            end else if (fill) begin
                head_q       <= insn_i;
                head_pc_q    <= fetch_q[7:0];
                head_end_q   <= fetch_q[8];
                head_valid_q <= 1'b1;
                fetch_q      <= fetch_q + 9'd1;
            end else if (end_o) begin
                head_valid_q <= 1'b0;
            end
            if (op_start_o & (op_i == `KS_OP_SCORE)) begin
                scored_q      <= 1'b1;
                score_count_q <= count_i[7:0];
            end
        end
    end

`ifndef SYNTHESIS
    always @(posedge clk_i) begin
        if (rst_ni) begin
            // The end must find nothing in flight: older writes are in memory, and the next run starts clean.
            if (end_o && (cx_active_i || !queue_empty_i)) begin
                $display("ASSERTION ks_seq: run ends with work in flight, time %0t", $time);
                $finish;
            end
            // The head behind instruction 255 is no instruction; it may only end the run.
            if (issue && head_end_q) begin
                $display("ASSERTION ks_seq: instruction 256 issues, time %0t", $time);
                $finish;
            end
            // A start under a running program would lose the head.
            if (start_i && busy_i) begin
                $display("ASSERTION ks_seq: start while busy, time %0t", $time);
                $finish;
            end
        end
    end
`endif

endmodule

`default_nettype wire
