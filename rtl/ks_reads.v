// ks_reads: the order of an op's reads, one launch a cycle, with the tags of the read now at the scratchpad's output (S1).
// Rule:    docs/chip.md, 6 CX, "An op makes its reads in this order".
// Latency: the first launch is in the cycle after start_i at the earliest; s1_ outputs follow a launch by one cycle.
// Caller:  raises start_i only when done_o, with count_i 1 .. 255 and x_valid_i only for a DOT.
`default_nettype none

`include "kestrel_isa.vh"

module ks_reads #(
    parameter LANES = 16
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,
    input  wire                     start_i,
    input  wire [5:0]               op_i,
    input  wire [9:0]               first_i,
    input  wire [7:0]               count_i,
    input  wire [9:0]               a_i,
    input  wire [3:0]               x_valid_i,   // result row i has a residual row
    input  wire [39:0]              x_row_i,
    output reg  [9:0]               row_o,       // the next read's row
    input  wire                     stop_i,      // it may not be launched in this cycle
    output wire                     launch_o,
    output wire                     wait_o,
    output wire                     done_o,      // no read is left to launch
    // the op's rows, as they were at start_i
    output wire                     a_valid_o,
    output wire [9:0]               a_row_o,
    output wire [9:0]               first_o,
    output wire [10:0]              end_o,
    output wire [3:0]               x_valid_o,
    output wire [39:0]              x_row_o,
    // S1: what is at the scratchpad's output
    output wire                     s1_a_o,      // the A row
    output wire                     s1_x_o,      // a residual row
    output wire                     s1_b_o,      // a B row
    output wire [7:0]               s1_j_o,      // its number in the op
    output wire [$clog2(LANES)-1:0] s1_lane_o,   // its lane (DOT) or word (DOTL) of its result row
    output wire [1:0]               s1_grp_o,    // its result row
    output wire                     s1_rowend_o, // the last of its result row
    output wire                     s1_last_o    // the last of the op
);
    localparam [1:0] READ_A   = 2'd0;
    localparam [1:0] READ_X   = 2'd1;
    localparam [1:0] READ_B   = 2'd2;
    localparam [1:0] READ_END = 2'd3;
    localparam LANE_BITS = $clog2(LANES);
    localparam [LANE_BITS-1:0] ONE = 1;

    reg [1:0]  state_q;
    reg        a_valid_q;
    reg        words_q;                // DOTL: a result row holds L/4 sums
    reg [9:0]  a_q;
    reg [9:0]  first_q;
    reg [10:0] end_q;
    reg [3:0]  x_valid_q;
    reg [39:0] x_row_q;
    reg [9:0]  b_q;                    // the next B row
    reg [7:0]  j_q;
    reg [LANE_BITS-1:0] lane_q;
    reg [1:0]  grp_q;
    reg        s1_a_q;
    reg        s1_x_q;
    reg        s1_b_q;
    reg [7:0]  s1_j_q;
    reg [LANE_BITS-1:0] s1_lane_q;
    reg [1:0]  s1_grp_q;
    reg        s1_rowend_q;
    reg        s1_last_q;

    wire [10:0] b_next   = {1'b0, b_q} + 11'd1;
    wire [1:0]  grp_next = grp_q + 2'd1;
    wire [5:0]  x_bit    = {4'd0, grp_q} * 6'd10;
    wire        last     = b_next == end_q;
    // LANES and LANES/4 are powers of two: the last lane, the last word are all ones.
    wire        rowend   = last | (words_q ? &lane_q[LANE_BITS-3:0] : &lane_q);

    wire        moves    = launch_o | s1_a_q | s1_x_q | s1_b_q | start_i;

    assign launch_o    = (state_q != READ_END) & ~stop_i;
    assign wait_o      = (state_q != READ_END) & stop_i;
    assign done_o      = state_q == READ_END;
    assign a_valid_o   = a_valid_q;
    assign a_row_o     = a_q;
    assign first_o     = first_q;
    assign end_o       = end_q;
    assign x_valid_o   = x_valid_q;
    assign x_row_o     = x_row_q;
    assign s1_a_o      = s1_a_q;
    assign s1_x_o      = s1_x_q;
    assign s1_b_o      = s1_b_q;
    assign s1_j_o      = s1_j_q;
    assign s1_lane_o   = s1_lane_q;
    assign s1_grp_o    = s1_grp_q;
    assign s1_rowend_o = s1_rowend_q;
    assign s1_last_o   = s1_last_q;

    always @* begin
        case (state_q)
            READ_A:  row_o = a_q;
            READ_X:  row_o = x_row_q[x_bit +: 10];
            default: row_o = b_q;
        endcase
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q     <= READ_END;
            a_valid_q   <= 1'b0;
            words_q     <= 1'b0;
            a_q         <= 10'd0;
            first_q     <= 10'd0;
            end_q       <= 11'd0;
            x_valid_q   <= 4'd0;
            x_row_q     <= 40'd0;
            b_q         <= 10'd0;
            j_q         <= 8'd0;
            lane_q      <= {LANE_BITS{1'b0}};
            grp_q       <= 2'd0;
            s1_a_q      <= 1'b0;
            s1_x_q      <= 1'b0;
            s1_b_q      <= 1'b0;
            s1_j_q      <= 8'd0;
            s1_lane_q   <= {LANE_BITS{1'b0}};
            s1_grp_q    <= 2'd0;
            s1_rowend_q <= 1'b0;
            s1_last_q   <= 1'b0;
        end else if (moves) begin
            s1_a_q <= launch_o & (state_q == READ_A);
            s1_x_q <= launch_o & (state_q == READ_X);
            s1_b_q <= launch_o & (state_q == READ_B);
            if (launch_o) begin
                s1_j_q      <= j_q;
                s1_lane_q   <= lane_q;
                s1_grp_q    <= grp_q;
                s1_rowend_q <= rowend;
                s1_last_q   <= last;
                case (state_q)
                    READ_A: state_q <= x_valid_q[0] ? READ_X : READ_B;
                    READ_X: state_q <= READ_B;
                    default: begin
                        b_q     <= b_next[9:0];
                        j_q     <= j_q + 8'd1;
                        lane_q  <= rowend ? {LANE_BITS{1'b0}} : lane_q + ONE;
                        grp_q   <= rowend ? grp_next : grp_q;
                        state_q <= last ? READ_END : rowend & x_valid_q[grp_next] ? READ_X : READ_B;
                    end
                endcase
            end
            if (start_i) begin
                state_q   <= op_i == `KS_OP_AV ? READ_B : READ_A;
                a_valid_q <= op_i != `KS_OP_AV;
                words_q   <= op_i == `KS_OP_DOTL;
                a_q       <= a_i;
                first_q   <= first_i;
                end_q     <= {1'b0, first_i} + {3'd0, count_i};
                x_valid_q <= x_valid_i;
                x_row_q   <= x_row_i;
                b_q       <= first_i;
                j_q       <= 8'd0;
                lane_q    <= {LANE_BITS{1'b0}};
                grp_q     <= 2'd0;
            end
        end
    end

`ifndef SYNTHESIS
    // An op that starts inside another would leave reads of both in one pipeline.
    wire second_op = start_i && !done_o;
    // The end is found by equality: without a B row, or past row 1,023, it would be missed.
    wire bad_rows  = start_i && (count_i == 8'd0 || {2'd0, first_i} + {4'd0, count_i} > 12'd1024);
    // One bit for a simulator to look at in a cycle.
    wire broken    = rst_ni && (second_op || bad_rows);

    always @(posedge clk_i) begin
        if (broken) begin
            if (second_op) begin
                $display("ASSERTION ks_reads: start while reads are left, time %0t", $time);
            end
            if (bad_rows) begin
                $display("ASSERTION ks_reads: B rows out of range, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
