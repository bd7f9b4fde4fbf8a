// ks_rq: requantises an accumulator, with the residual register.
// Rule:    docs/chip.md, 2 RQ; 6 CX, S2 and S3.
// Latency: byte_o is RQ one cycle after en_i, with that cycle's operands; a residual row is used from the cycle after x_we_i.
// Caller:  sh_i 1 .. 40; rm_i and acc_i with their signs.
`default_nettype none

module ks_rq #(
    parameter LANES = 16
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,
    input  wire                     x_we_i,
    input  wire [8*LANES-1:0]       x_row_i,
    input  wire                     en_i,
    input  wire [20:0]              acc_i,
    input  wire [$clog2(LANES)-1:0] lane_i,
    input  wire [15:0]              m_i,
    input  wire [5:0]               sh_i,
    input  wire [15:0]              rm_i,
    output wire [7:0]               byte_o
);
    reg [8*LANES-1:0] x_q;
    reg [40:0]        product_q;
    reg [5:0]         sh_q;

    // Modulo arithmetic on operands extended by hand: 24 and 41 bits hold every sum and product.
    wire [$clog2(LANES)+2:0] x_bit = {lane_i, 3'd0};
    wire [7:0]  xr      = x_q[x_bit +: 8];
    wire [23:0] res     = {{8{rm_i[15]}}, rm_i} * {{16{xr[7]}}, xr};
    wire [23:0] sum     = {{3{acc_i[20]}}, acc_i} + res;
    wire [40:0] half    = 41'd1 << (sh_i - 6'd1);
    wire [40:0] product = {{17{sum[23]}}, sum} * {25'd0, m_i} + half;

    wire               works   = x_we_i | en_i;
    wire signed [40:0] shifted = $signed(product_q) >>> sh_q;
    wire               fits    = (shifted[40:7] == 34'd0) | (&shifted[40:7]);

    assign byte_o = fits ? shifted[7:0] : shifted[40] ? 8'h80 : 8'h7F;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            x_q       <= {8 * LANES{1'b0}};
            product_q <= 41'd0;
            sh_q      <= 6'd1;
        end else if (works) begin
            if (x_we_i) begin
                x_q <= x_row_i;
            end
            if (en_i) begin
                product_q <= product;
                sh_q      <= sh_i;
            end
        end
    end

`ifndef SYNTHESIS
    // sh = 0 has no rounding term, and above 40 the term leaves the product's 41 bits.
    wire broken = rst_ni && en_i && (sh_i == 6'd0 || sh_i > 6'd40);

    always @(posedge clk_i) begin
        if (broken) begin
            $display("ASSERTION ks_rq: sh out of range, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
