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
    reg [24*LANES-1:0] sums_q;

    reg [20:0] dot;
    reg [15:0] product;
    integer    l;
    integer    k;

    // e*b, of 17 bits with its sign, as 24 bits.
    function [23:0] weighted;
        input [7:0] e;
        input [7:0] b;
        weighted = {16'd0, e} * {{16{b[7]}}, b};
    endfunction

    // Products and sums are taken modulo their width on operands extended by hand: the widths hold every result.
    always @* begin
        dot     = 21'd0;
        product = 16'd0;
        if (dot_i) begin
            for (l = 0; l < LANES; l = l + 1) begin
                product = {{8{a_q[8 * l + 7]}}, a_q[8 * l +: 8]} * {{8{row_i[8 * l + 7]}}, row_i[8 * l +: 8]};
                dot     = dot + {{5{product[15]}}, product};
            end
        end
    end

    // 24*lane = 16*lane + 8*lane
    wire [$clog2(LANES)+4:0] lane_bit = {1'b0, lane_i, 4'd0} + {2'd0, lane_i, 3'd0};

    assign acc_o = acc_q;
    assign sum_o = sums_q[lane_bit +: 24];

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q    <= {8 * LANES{1'b0}};
            acc_q  <= 21'd0;
            sums_q <= {24 * LANES{1'b0}};
        end else begin
            if (a_we_i) begin
                a_q <= row_i;
            end
            if (dot_i) begin
                acc_q <= dot;
            end
            if (clear_i) begin
                sums_q <= {24 * LANES{1'b0}};
            end else if (add_i) begin
                for (k = 0; k < LANES; k = k + 1) begin
                    sums_q[24 * k +: 24] <= sums_q[24 * k +: 24] + weighted(e_i, row_i[8 * k +: 8]);
                end
            end
        end
    end

`ifndef SYNTHESIS
    // One row enters at a time, and the sums are not cleared under a row.
    always @(posedge clk_i) begin
        if (rst_ni && ({1'b0, a_we_i} + {1'b0, dot_i} + {1'b0, add_i} > 2'd1 || (clear_i && add_i))) begin
            $display("ASSERTION ks_mac: two uses of one row, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
