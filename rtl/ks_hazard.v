// ks_hazard: the holds that compare rows: LOAD, STORE, RESULT, and the owed row for CHASE.
// Rule:    docs/chip.md, 5 CHASE, LOAD, STORE, RESULT.
// Latency: combinational.
// Caller:  ranges are first .. end - 1; a queue range holds only rows still owed (load) or all rows (store).
`default_nettype none

module ks_hazard (
    // the head instruction: rows of a LOAD, GATHER or STORE, result rows of an op
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
    output wire        load_o,         // a row of the head LOAD or GATHER is a row of the active op
    output wire        store_o,        // a row of the head STORE is a result row of the active op
    output wire        result_o,       // a result row of the head op is owed or waits to be stored
    output wire        owed_o          // cx_row_i is owed
);
    // Nets throughout, so that a simulator compares again only what has moved.
    wire [10:0] first     = {1'b0, first_i};
    wire [10:0] act_a_row = {1'b0, act_a_row_i};
    wire [10:0] act_first = {1'b0, act_first_i};
    wire [10:0] cx_row    = {1'b0, cx_row_i};
    wire        a_hit     = act_a_valid_i & (act_a_row >= first) & (act_a_row < end_i);
    wire        b_hit     = (act_first < end_i) & (first < act_end_i);
    wire [3:0]  x_hit;
    wire [3:0]  res_hit;
    wire [7:0]  q_owed;
    wire [31:0] q_hit;

    assign load_o   = act_i & (a_hit | b_hit | (x_hit != 4'd0) | (res_hit != 4'd0));
    assign store_o  = act_i & (res_hit != 4'd0);
    assign result_o = q_hit != 32'd0;
    assign owed_o   = q_owed != 8'd0;

    genvar i;
    genvar e;
    generate
        for (i = 0; i < 4; i = i + 1) begin : result
            wire [10:0] x_row   = {1'b0, act_x_row_i[10 * i +: 10]};
            wire [10:0] act_row = {1'b0, act_res_row_i[10 * i +: 10]};
            assign x_hit[i]   = act_x_valid_i[i] & (x_row >= first) & (x_row < end_i);
            assign res_hit[i] = act_res_valid_i[i] & (act_row >= first) & (act_row < end_i);
        end
        for (e = 0; e < 8; e = e + 1) begin : entry
            wire [10:0] lo    = {1'b0, q_first_i[10 * e +: 10]};
            wire [10:0] hi    = q_end_i[11 * e +: 11];
            wire        taken = q_load_i[e] | q_store_i[e];
            assign q_owed[e] = q_load_i[e] & (cx_row >= lo) & (cx_row < hi);
            for (i = 0; i < 4; i = i + 1) begin : result
                wire [10:0] row = {1'b0, res_row_i[10 * i +: 10]};
                assign q_hit[4 * e + i] = res_valid_i[i] & taken & (row >= lo) & (row < hi);
            end
        end
    endgenerate

endmodule

`default_nettype wire
