// ks_sm: SCORE's memory: scores and their maximum, then the weights e_t and their sum Z, kept for AV.
// Rule:    docs/chip.md, 2 e_t and Z; 6 CX, SCORE.
// Latency: with the last put_i in cycle s, done_o is high in s + 1 + count; e_t and Z are complete from the next cycle on.
// Caller:  puts t_i = 0, 1, .. in this order, last_i with the last; m_i and sh_i stay until done_o.
`default_nettype none

module ks_sm (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire        put_i,
    input  wire        last_i,
    input  wire [7:0]  t_i,
    input  wire [20:0] s_i,            // with its sign
    input  wire [15:0] m_i,
    input  wire [5:0]  sh_i,
    output wire        exp_o,          // an exponential is looked up
    output wire        done_o,
    // for AV
    input  wire [7:0]  e_t_i,
    output wire [7:0]  e_o,
    output wire [15:0] z_o
);
    reg [20:0] s_q [0:255];
    reg [7:0]  e_q [0:255];
    reg [20:0] max_q;
    reg        run_q;                  // index t_q is computed in this cycle
    reg [7:0]  t_q;
    reg [7:0]  last_t_q;
    reg        e_valid_q;              // index_q is looked up in this cycle
    reg        e_last_q;
    reg [7:0]  e_t_q;
    reg [7:0]  index_q;
    reg [15:0] z_q;

    wire [7:0]  value;
    // The maximum is the largest, so the difference is not negative; 20 bits hold it, 40 the product with its term.
    wire [20:0] score   = s_q[t_q];
    wire [20:0] diff    = max_q - score;
    wire [39:0] half    = 40'd1 << (sh_i - 6'd1);
    wire [39:0] scaled  = {19'd0, diff} * {24'd0, m_i} + half;
    wire [39:0] shifted = scaled >> sh_i;
    wire [7:0]  index   = shifted > 40'd255 ? 8'd255 : shifted[7:0];
    wire        higher  = (t_i == 8'd0) | ($signed(s_i) > $signed(max_q));

    wire        works   = put_i | run_q | e_valid_q;

    assign exp_o  = e_valid_q;
    assign done_o = e_valid_q & e_last_q;
    assign e_o    = e_q[e_t_i];
    assign z_o    = z_q;

    ks_exp exp (
        .index_i(index_q),
        .value_o(value)
    );

    always @(posedge clk_i) begin
        // The largest Z keeps the divider in range with any weights that a flushed SCORE may have left.
        if (!rst_ni) begin
            max_q     <= 21'd0;
            run_q     <= 1'b0;
            t_q       <= 8'd0;
            last_t_q  <= 8'd0;
            e_valid_q <= 1'b0;
            e_last_q  <= 1'b0;
            e_t_q     <= 8'd0;
            index_q   <= 8'd0;
            z_q       <= 16'hFFFF;
        end else if (works) begin
            if (put_i) begin
                s_q[t_i] <= s_i;
            end
            if (e_valid_q) begin
                e_q[e_t_q] <= value;
            end
            if (put_i & higher) begin
                max_q <= s_i;
            end
            if (put_i & last_i) begin
                run_q    <= 1'b1;
                t_q      <= 8'd0;
                last_t_q <= t_i;
            end else if (run_q) begin
                run_q <= t_q != last_t_q;
                t_q   <= t_q + 8'd1;
            end
            e_valid_q <= run_q;
            if (run_q) begin
                index_q  <= index;
                e_t_q    <= t_q;
                e_last_q <= t_q == last_t_q;
            end
            if (e_valid_q) begin
                z_q <= (e_t_q == 8'd0 ? 16'd0 : z_q) + {8'd0, value};
            end
        end
    end

`ifndef SYNTHESIS
    // A score that arrives while weights are computed would change the maximum under them.
    wire late_put = put_i && (run_q || e_valid_q);
    // The largest score has weight 255: with less, Z could be 0 and the divider without a result.
    wire small_z  = done_o && {1'b0, z_q} + {9'd0, value} < 17'd255;
    // One bit for a simulator to look at in a cycle.
    wire broken   = rst_ni && (late_put || small_z);

    always @(posedge clk_i) begin
        if (broken) begin
            if (late_put) begin
                $display("ASSERTION ks_sm: score while weights are computed, time %0t", $time);
            end
            if (small_z) begin
                $display("ASSERTION ks_sm: Z below 255, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
