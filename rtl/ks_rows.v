// ks_rows: the result rows of an op, and which of its residual rows it reads.
// Rule:    docs/chip.md, 4 DOT, DOTL, AV ("an op's rows").
// Latency: combinational.
// Caller:  count_i is the op's count, 1 .. 255; with many_o or beyond_o the lists are not used (COUNT, ROW_RANGE).
`default_nettype none

`include "kestrel_isa.vh"

module ks_rows #(
    parameter LANES = 16
) (
    input  wire [5:0]  op_i,
    input  wire [7:0]  count_i,
    input  wire [9:0]  dst_i,
    input  wire        apart_i,        // fl[1]: result rows 256 apart
    input  wire [3:0]  rm_nz_i,        // entry of result row i has Rm != 0
    output wire        many_o,         // more than 4 result rows
    output reg         beyond_o,       // one of them above 1,023
    output reg  [3:0]  res_valid_o,    // result row i is one
    output reg  [39:0] res_row_o,      // its row, bits 10i+9:10i
    output wire [3:0]  x_valid_o       // result row i has a residual row
);
    localparam LANE_BITS = $clog2(LANES);

    wire       dot   = op_i == `KS_OP_DOT;
    wire       dotl  = op_i == `KS_OP_DOTL;
    wire       av    = op_i == `KS_OP_AV;
    wire       any   = dot | dotl | av;
    wire [7:0] cm1   = count_i - 8'd1;
    // Number of the last result row: L sums a row of a DOT, L/4 of a DOTL, one row of an AV.
    wire [7:0] last  = dot ? cm1 >> LANE_BITS : dotl ? cm1 >> (LANE_BITS - 2) : 8'd0;
    reg [10:0] row;
    integer    i;

    assign many_o    = any & (last > 8'd3);
    assign x_valid_o = dot ? res_valid_o & rm_nz_i : 4'd0;

    always @* begin
        res_valid_o = 4'd0;
        res_row_o   = 40'd0;
        beyond_o    = 1'b0;
        for (i = 0; i < 4; i = i + 1) begin
            row = {1'b0, dst_i} + (apart_i ? {1'b0, i[1:0], 8'd0} : {9'd0, i[1:0]});
            if (any && last >= i[7:0]) begin
                res_valid_o[i]          = 1'b1;
                res_row_o[10 * i +: 10] = row[9:0];
                beyond_o                = beyond_o | row[10];
            end
        end
    end

`ifndef SYNTHESIS
    // The shifts above divide by LANES and LANES/4.
    initial begin
        if (LANES != 16 && LANES != 32) begin
            $display("ASSERTION ks_rows: LANES is neither 16 nor 32, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
