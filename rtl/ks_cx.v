// ks_cx: runs one op: the read sequencer with the pipeline S1, S2, S3 and the result rows behind it.
// Rule:    docs/chip.md, 6 CX.
// Latency: active_o from the cycle after start_i; a launched read is at rdata_i one cycle later.
// Caller:  rst_ni is low in a flush, too; raises start_i only while not active_o, with legal operands; entries do not change
//          while active_o.
`default_nettype none

`include "kestrel_isa.vh"

module ks_cx #(
    parameter LANES = 16
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    // the op at its issue
    input  wire               start_i,
    input  wire [5:0]         op_i,
    input  wire [9:0]         first_i,
    input  wire [7:0]         count_i,
    input  wire [9:0]         a_i,
    input  wire [3:0]         q_i,
    input  wire               fl0_i,       // DOT: an entry each result row; DOTL: sets TOK
    input  wire [3:0]         res_valid_i,
    input  wire [39:0]        res_row_i,
    input  wire [3:0]         x_valid_i,
    input  wire [39:0]        x_row_i,
    // the active op's rows, for ks_hazard
    output wire               active_o,
    output wire               a_valid_o,
    output wire [9:0]         a_row_o,
    output wire [9:0]         first_o,
    output wire [10:0]        end_o,
    output wire [3:0]         x_valid_o,
    output wire [39:0]        x_row_o,
    output wire [3:0]         res_valid_o,
    output wire [39:0]        res_row_o,
    // reads
    output wire [9:0]         row_o,       // the row of the next read
    input  wire               owed_i,      // it is owed
    input  wire               st_launch_i, // the port is a store's in this cycle
    output wire               launch_o,
    input  wire [8*LANES-1:0] rdata_i,
    // requantisation entry
    output wire [3:0]         ridx_o,
    input  wire [15:0]        m_i,
    input  wire [5:0]         sh_i,
    input  wire [15:0]        rm_i,
    // result rows
    input  wire               row_we_i,    // a loaded row is written in this cycle
    output wire               out_we_o,
    output wire [9:0]         out_row_o,
    output wire [8*LANES-1:0] out_data_o,
    // TOK
    output wire               tok_we_o,
    output wire [31:0]        tok_o,
    // events of this cycle
    output wire               wait_o,
    output wire               mac_o,       // a B row enters
    output wire               exp_o,       // an exponential is looked up
    output wire               vec_o
);
    // The op
    reg        active_q, dot_q, dotl_q, score_q, av_q, fl0_q;
    reg [3:0]  q_q;
    reg [3:0]  res_valid_q;
    reg [39:0] res_row_q;
    reg [1:0]  out_q;                  // number of the result row to be written next
    // Tags of the row whose sum is in the accumulator (S2), of the sum behind it (S3)
    reg        s2_q, s2_rowend_q, s2_last_q;
    reg [7:0]  s2_j_q;
    reg [$clog2(LANES)-1:0] s2_lane_q;
    reg [1:0]  s2_grp_q;
    reg        s3_q, s3_rowend_q;
    reg [7:0]  s3_j_q;
    reg [$clog2(LANES)-1:0] s3_lane_q;
    reg [20:0] s3_acc_q;

    wire        reads_done, s1_a, s1_x, s1_b, s1_rowend, s1_last;
    wire [7:0]  s1_j;
    wire [$clog2(LANES)-1:0] s1_lane, sum_lane, av_lane;
    wire [1:0]  s1_grp;
    wire [20:0] acc;
    wire [7:0]  weight, rq_byte, av_byte, arg;
    wire [15:0] z;
    wire [23:0] sum;
    wire        sm_done, av_valid, av_last, out_valid;

    wire [1:0]  out_next  = out_q + 2'd1;
    wire [5:0]  out_bit   = {4'd0, out_q} * 6'd10;
    wire        out_last  = out_we_o & ((out_q == 2'd3) | ~res_valid_q[out_next]);
    wire        ends_some = out_we_o | sm_done;
    wire        flows     = s1_b | s2_q | s3_q;
    wire [31:0] pack_data = dotl_q ? {{11{s3_acc_q[20]}}, s3_acc_q} : {24'd0, av_q ? av_byte : rq_byte};

    assign active_o    = active_q;
    assign res_valid_o = res_valid_q;
    assign res_row_o   = res_row_q;
    assign ridx_o      = q_q + {2'd0, fl0_q ? s2_grp_q : 2'd0};
    assign out_we_o    = out_valid & ~row_we_i;
    assign out_row_o   = res_row_q[out_bit +: 10];
    assign tok_we_o    = out_last & dotl_q & fl0_q;
    assign tok_o       = {24'd0, arg};
    assign mac_o       = s1_b;
    assign vec_o       = active_q & reads_done & ~s1_b;

    ks_reads #(.LANES(LANES)) reads (
        .clk_i(clk_i), .rst_ni(rst_ni),
        .start_i(start_i), .op_i(op_i), .first_i(first_i), .count_i(count_i), .a_i(a_i),
        .x_valid_i(x_valid_i), .x_row_i(x_row_i),
        .row_o(row_o), .stop_i(owed_i | st_launch_i), .launch_o(launch_o), .wait_o(wait_o), .done_o(reads_done),
        .a_valid_o(a_valid_o), .a_row_o(a_row_o), .first_o(first_o), .end_o(end_o),
        .x_valid_o(x_valid_o), .x_row_o(x_row_o),
        .s1_a_o(s1_a), .s1_x_o(s1_x), .s1_b_o(s1_b), .s1_j_o(s1_j), .s1_lane_o(s1_lane), .s1_grp_o(s1_grp),
        .s1_rowend_o(s1_rowend), .s1_last_o(s1_last)
    );

    ks_mac #(.LANES(LANES)) mac (
        .clk_i(clk_i), .rst_ni(rst_ni), .row_i(rdata_i),
        .a_we_i(s1_a), .dot_i(s1_b & ~av_q), .acc_o(acc),
        .clear_i(start_i), .add_i(s1_b & av_q), .e_i(weight), .lane_i(sum_lane), .sum_o(sum)
    );

    ks_rq #(.LANES(LANES)) rq (
        .clk_i(clk_i), .rst_ni(rst_ni), .x_we_i(s1_x), .x_row_i(rdata_i),
        .en_i(s2_q & dot_q), .acc_i(acc), .lane_i(s2_lane_q), .m_i(m_i), .sh_i(sh_i), .rm_i(rm_i), .byte_o(rq_byte)
    );

    ks_sm sm (
        .clk_i(clk_i), .rst_ni(rst_ni),
        .put_i(s2_q & score_q), .last_i(s2_last_q), .t_i(s2_j_q), .s_i(acc), .m_i(m_i), .sh_i(sh_i),
        .exp_o(exp_o), .done_o(sm_done), .e_t_i(s1_j), .e_o(weight), .z_o(z)
    );

    ks_av #(.LANES(LANES)) av (
        .clk_i(clk_i), .rst_ni(rst_ni), .last_i(s1_b & s1_last & av_q),
        .lane_o(sum_lane), .sum_i(sum), .z_i(z),
        .valid_o(av_valid), .out_lane_o(av_lane), .out_last_o(av_last), .byte_o(av_byte)
    );

    ks_pack #(.LANES(LANES)) pack (
        .clk_i(clk_i), .rst_ni(rst_ni),
        .put_i(s3_q | av_valid), .word_i(dotl_q), .lane_i(av_q ? av_lane : s3_lane_q), .j_i(s3_j_q),
        .data_i(pack_data), .rowend_i(av_q ? av_last : s3_rowend_q),
        .valid_o(out_valid), .row_o(out_data_o), .take_i(out_we_o), .arg_o(arg)
    );

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            active_q    <= 1'b0;
            dot_q       <= 1'b0;
            dotl_q      <= 1'b0;
            score_q     <= 1'b0;
            av_q        <= 1'b0;
            q_q         <= 4'd0;
            fl0_q       <= 1'b0;
            res_valid_q <= 4'd0;
            res_row_q   <= 40'd0;
            out_q       <= 2'd0;
        end else if (start_i) begin
            active_q    <= 1'b1;
            dot_q       <= op_i == `KS_OP_DOT;
            dotl_q      <= op_i == `KS_OP_DOTL;
            score_q     <= op_i == `KS_OP_SCORE;
            av_q        <= op_i == `KS_OP_AV;
            q_q         <= q_i;
            fl0_q       <= fl0_i;
            res_valid_q <= res_valid_i;
            res_row_q   <= res_row_i;
            out_q       <= 2'd0;
        end else if (ends_some) begin
            active_q <= active_q & ~out_last & ~sm_done;
            out_q    <= out_we_o ? out_next : out_q;
        end
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            s2_q        <= 1'b0;
            s2_rowend_q <= 1'b0;
            s2_last_q   <= 1'b0;
            s2_j_q      <= 8'd0;
            s2_lane_q   <= {$clog2(LANES){1'b0}};
            s2_grp_q    <= 2'd0;
            s3_q        <= 1'b0;
            s3_rowend_q <= 1'b0;
            s3_j_q      <= 8'd0;
            s3_lane_q   <= {$clog2(LANES){1'b0}};
            s3_acc_q    <= 21'd0;
        end else if (flows) begin
            s2_q <= s1_b & ~av_q;
            s3_q <= s2_q & ~score_q;
            if (s1_b) begin
                s2_rowend_q <= s1_rowend;
                s2_last_q   <= s1_last;
                s2_j_q      <= s1_j;
                s2_lane_q   <= s1_lane;
                s2_grp_q    <= s1_grp;
            end
            if (s2_q) begin
                s3_rowend_q <= s2_rowend_q;
                s3_j_q      <= s2_j_q;
                s3_lane_q   <= s2_lane_q;
                s3_acc_q    <= acc;
            end
        end
    end

`ifndef SYNTHESIS
    // One op at a time: a second one would take over the tags of the first.
    wire second_op  = start_i && active_q;
    // The op ends with its last result: nothing of it may be in the pipeline afterwards.
    wire stray_work = !active_q && (!reads_done || s1_b || s2_q || s3_q || out_valid || av_valid);
    // One bit for a simulator to look at in a cycle.
    wire broken     = rst_ni && (second_op || stray_work);

    always @(posedge clk_i) begin
        if (broken) begin
            if (second_op) begin
                $display("ASSERTION ks_cx: start while an op is active, time %0t", $time);
            end
            if (stray_work) begin
                $display("ASSERTION ks_cx: work without an op, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
