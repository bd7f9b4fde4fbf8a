// ks_av: the end of an AV: walks the lanes' sums through the divider.
// Rule:    docs/chip.md, 2 o_l; 6 CX, AV.
// Latency: with last_i in cycle s, lane l is at byte_o with valid_o in s + 10 + l.
// Caller:  sum_i is lane_o's sum, combinational; z_i > 0 and the sums stay until valid_o with the last lane.
`default_nettype none

module ks_av #(
    parameter LANES = 16
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,
    input  wire                     last_i, // the last B row enters
    output wire [$clog2(LANES)-1:0] lane_o,
    input  wire [23:0]              sum_i,  // with its sign
    input  wire [15:0]              z_i,
    output wire                     valid_o,
    output wire [$clog2(LANES)-1:0] out_lane_o,
    output wire                     out_last_o,
    output wire [7:0]               byte_o
);
    localparam LANE_BITS = $clog2(LANES);
    localparam [LANE_BITS-1:0] ONE = 1;

    reg                 run_q;
    reg [LANE_BITS-1:0] lane_q;
    reg [LANE_BITS-1:0] out_lane_q;

    // LANES is a power of two: the last lane is all ones, and the numbers come back to 0 behind it.
    // 2a + 257Z is positive, so its 25 bits need no sign.
    wire [24:0] num = {sum_i, 1'b0} + {1'b0, z_i, 8'd0} + {9'd0, z_i};
    wire [16:0] den = {z_i, 1'b0};
    wire [7:0]  quot;

    wire        works = last_i | run_q | valid_o;

    assign lane_o     = lane_q;
    assign out_lane_o = out_lane_q;
    assign out_last_o = valid_o & (&out_lane_q);
    // Subtracting 128 from an unsigned byte turns its highest bit over.
    assign byte_o     = quot ^ 8'h80;

    ks_qdiv qdiv (
        .clk_i  (clk_i),
        .rst_ni (rst_ni),
        .valid_i(run_q),
        .num_i  (num),
        .den_i  (den),
        .valid_o(valid_o),
        .quot_o (quot)
    );

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            run_q      <= 1'b0;
            lane_q     <= {LANE_BITS{1'b0}};
            out_lane_q <= {LANE_BITS{1'b0}};
        end else if (works) begin
            if (last_i) begin
                run_q      <= 1'b1;
                lane_q     <= {LANE_BITS{1'b0}};
                out_lane_q <= {LANE_BITS{1'b0}};
            end else begin
                if (run_q) begin
                    run_q  <= ~&lane_q;
                    lane_q <= lane_q + ONE;
                end
                if (valid_o) begin
                    out_lane_q <= out_lane_q + ONE;
                end
            end
        end
    end

`ifndef SYNTHESIS
    // No SCORE leaves Z = 0; dividing by it would give 255 in every lane without a sign of error.
    wire zero_z      = run_q && z_i == 16'd0;
    // Two AVs in the divider would share one lane counter.
    wire second_last = last_i && (run_q || valid_o);
    // One bit for a simulator to look at in a cycle.
    wire broken      = rst_ni && (zero_z || second_last);

    always @(posedge clk_i) begin
        if (broken) begin
            if (zero_z) begin
                $display("ASSERTION ks_av: Z is 0, time %0t", $time);
            end
            if (second_last) begin
                $display("ASSERTION ks_av: last row while lanes are divided, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
