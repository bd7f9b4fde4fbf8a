// ks_mac: L multipliers: the dot product of the A register with a row, or the weighted sums of rows, a lane each.
// Rule:    docs/chip.md, 6 CX, S1.
// Latency: acc_o and the sums hold a row's result one cycle after it enters.
// Caller:  raises at most one of a_we_i, dot_i, add_i; clear_i before an AV's first row.
`default_nettype none

module ks_mac #(
    parameter LANES = 16
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,
    input  wire [8*LANES-1:0]       row_i,
    input  wire                     a_we_i, // row_i is the A row
    input  wire                     dot_i,  // row_i is a B row of DOT, DOTL or SCORE
    output wire [20:0]              acc_o,  // with its sign
    input  wire                     clear_i,
    input  wire                     add_i,  // row_i is a B row of AV
    input  wire [7:0]               e_i,    // its weight
    input  wire [$clog2(LANES)-1:0] lane_i,
    output wire [23:0]              sum_o   // the sum of lane_i, with its sign
);
    reg [8*LANES-1:0]  a_q;
    reg [20:0]         acc_q;
    reg [23:0]         sums_q [0:LANES-1];
    integer            k;

    wire works = a_we_i | dot_i | clear_i | add_i;

    // Products and sums are taken modulo their width on operands with their sign: the widths hold every result. Eight lanes in one
    // expression, so that a simulator takes a row apart with few steps, and only a row that enters.
    function signed [20:0] dot8;
        input [63:0] a;
        input [63:0] b;
        dot8 = $signed(a[7:0]) * $signed(b[7:0])
             + $signed(a[15:8]) * $signed(b[15:8])
             + $signed(a[23:16]) * $signed(b[23:16])
             + $signed(a[31:24]) * $signed(b[31:24])
             + $signed(a[39:32]) * $signed(b[39:32])
             + $signed(a[47:40]) * $signed(b[47:40])
             + $signed(a[55:48]) * $signed(b[55:48])
             + $signed(a[63:56]) * $signed(b[63:56]);
    endfunction

    function signed [20:0] dot;
        input [8*LANES-1:0] a;
        input [8*LANES-1:0] b;
        integer             w;
        begin
            dot = 21'd0;
            for (w = 0; w < LANES / 8; w = w + 1) begin
                dot = dot + dot8(a[64 * w +: 64], b[64 * w +: 64]);
            end
        end
    endfunction

    // e*b, of 17 bits with its sign, as 24 bits.
    function [23:0] weighted;
        input [7:0] e;
        input [7:0] b;
        weighted = {16'd0, e} * {{16{b[7]}}, b};
    endfunction

    assign acc_o = acc_q;
    assign sum_o = sums_q[lane_i];

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q   <= {8 * LANES{1'b0}};
            acc_q <= 21'd0;
        end else if (works) begin
            if (a_we_i) begin
                a_q <= row_i;
            end
            if (dot_i) begin
                acc_q <= dot(a_q, row_i);
            end
            if (clear_i) begin
                for (k = 0; k < LANES; k = k + 1) begin
                    sums_q[k] <= 24'd0;
                end
            end else if (add_i) begin
                for (k = 0; k < LANES; k = k + 1) begin
                    sums_q[k] <= sums_q[k] + weighted(e_i, row_i[8 * k +: 8]);
                end
            end
        end
    end

`ifndef SYNTHESIS
    // One row enters at a time, and the sums are not cleared under a row.
    wire broken = rst_ni && ((a_we_i && dot_i) || (a_we_i && add_i) || (dot_i && add_i) || (clear_i && add_i));

    always @(posedge clk_i) begin
        if (broken) begin
            $display("ASSERTION ks_mac: two uses of one row, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
