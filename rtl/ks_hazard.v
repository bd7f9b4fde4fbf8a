// ks_hazard: the holds that compare rows: LOAD, STORE, RESULT, and the owed row for CHASE.
// Rule:    docs/chip.md, 5 CHASE, LOAD, STORE, RESULT.
// Latency: combinational.
// Caller:  ranges are first .. end - 1; a queue range holds only rows still owed (load) or all rows (store).
`default_nettype none

module ks_hazard (
    // the head instruction: rows of a LOAD or STORE, result rows of an op
    input  wire [9:0]  first_i,
    input  wire [10:0] end_i,
    input  wire [3:0]  res_valid_i,
    input  wire [39:0] res_row_i,
    // the active op
    input  wire        act_i,
    input  wire        act_a_valid_i,
    input  wire [9:0]  act_a_row_i,
    input  wire [9:0]  act_first_i,
    input  wire [10:0] act_end_i,
    input  wire [3:0]  act_x_valid_i,
    input  wire [39:0] act_x_row_i,
    input  wire [3:0]  act_res_valid_i,
    input  wire [39:0] act_res_row_i,
    // the queue: entry e in bit e, bits 10e+9:10e, bits 11e+10:11e
    input  wire [7:0]  q_load_i,
    input  wire [7:0]  q_store_i,
    input  wire [79:0] q_first_i,
    input  wire [87:0] q_end_i,
    // the row that CX would read
    input  wire [9:0]  cx_row_i,
    output reg         load_o,         // a row of the head LOAD is a row of the active op
    output reg         store_o,        // a row of the head STORE is a result row of the active op
    output reg         result_o,       // a result row of the head op is owed or waits to be stored
    output reg         owed_o          // cx_row_i is owed
);
    reg [10:0] lo;
    reg [10:0] hi;
    reg [10:0] row;
    reg [10:0] q_lo;
    reg [10:0] q_hi;
    reg [10:0] q_row;
    integer    i;
    integer    e;
    integer    k;

    always @* begin
        load_o  = 1'b0;
        store_o = 1'b0;
        lo      = {1'b0, first_i};
        hi      = end_i;
        row     = {1'b0, act_a_row_i};
        if (act_i) begin
            if (act_a_valid_i && row >= lo && row < hi) begin
                load_o = 1'b1;
            end
            if ({1'b0, act_first_i} < hi && lo < act_end_i) begin
                load_o = 1'b1;
            end
            for (i = 0; i < 4; i = i + 1) begin
                row = {1'b0, act_x_row_i[10 * i +: 10]};
                if (act_x_valid_i[i] && row >= lo && row < hi) begin
                    load_o = 1'b1;
                end
                row = {1'b0, act_res_row_i[10 * i +: 10]};
                if (act_res_valid_i[i] && row >= lo && row < hi) begin
                    load_o  = 1'b1;
                    store_o = 1'b1;
                end
            end
        end
    end

    always @* begin
        result_o = 1'b0;
        owed_o   = 1'b0;
        q_lo     = 11'd0;
        q_hi     = 11'd0;
        q_row    = 11'd0;
        // Without a result row, or without a load, nothing is compared: a simulator runs this block whenever a row moves.
        for (k = 0; k < 4; k = k + 1) begin
            if (res_valid_i[k]) begin
                q_row = {1'b0, res_row_i[10 * k +: 10]};
                for (e = 0; e < 8; e = e + 1) begin
                    q_lo = {1'b0, q_first_i[10 * e +: 10]};
                    q_hi = q_end_i[11 * e +: 11];
                    if ((q_load_i[e] || q_store_i[e]) && q_row >= q_lo && q_row < q_hi) begin
                        result_o = 1'b1;
                    end
                end
            end
        end
        for (e = 0; e < 8; e = e + 1) begin
            if (q_load_i[e]) begin
                q_row = {1'b0, cx_row_i};
                q_lo  = {1'b0, q_first_i[10 * e +: 10]};
                q_hi  = q_end_i[11 * e +: 11];
                if (q_row >= q_lo && q_row < q_hi) begin
                    owed_o = 1'b1;
                end
            end
        end
    end

`ifndef SYNTHESIS
    // A result row is also a row of its op: what holds a store holds a load of the same rows. The block sets both at once,
    // so no delta cycle shows one without the other.
    always @(load_o or store_o) begin
        if (store_o && !load_o) begin
            $display("ASSERTION ks_hazard: store held where a load is not, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
