// ks_decode: the fields of an instruction, and whether it is ILLEGAL.
// Rule:    docs/chip.md, 4 Instructions, the table and code 1.
// Latency: combinational.
// Caller:  uses a field only for an opcode that has it; cnt_o has its sign in bit 9, rm_o in bit 15.
`default_nettype none

`include "kestrel_isa.vh"

module ks_decode (
    input  wire [63:0] insn_i,
    output wire [5:0]  op_o,
    output wire [2:0]  rc_o,
    output wire [2:0]  rr_o,
    output wire [2:0]  ra_o,
    output wire [9:0]  row_o,
    output wire [9:0]  cnt_o,
    output wire [19:0] addr_o,
    output wire        kv_o,           // GATHER: values, not keys
    output wire [3:0]  q_o,            // SETQ's, DOT's or SCORE's entry
    output wire [1:0]  fl_o,           // DOT's or DOTL's flags, else 0
    output wire [9:0]  a_o,
    output wire [9:0]  dst_o,
    output wire [15:0] m_o,
    output wire [5:0]  sh_o,
    output wire [9:0]  xrow_o,
    output wire [15:0] rm_o,
    output reg         illegal_o
);
    wire [31:0] w0 = insn_i[31:0];
    wire [31:0] w1 = insn_i[63:32];

    wire q_op  = (op_o == `KS_OP_DOT) | (op_o == `KS_OP_SCORE);
    wire fl_op = (op_o == `KS_OP_DOT) | (op_o == `KS_OP_DOTL);

    assign op_o   = w0[31:26];
    assign rc_o   = w0[25:23];
    assign rr_o   = w0[22:20];
    assign row_o  = w0[19:10];
    assign cnt_o  = w0[9:0];
    assign ra_o   = w1[31:29];
    assign addr_o = w1[19:0];
    assign kv_o   = w1[28];
    assign q_o    = q_op ? w1[31:28] : w0[25:22];
    assign fl_o   = fl_op ? w1[25:24] : 2'd0;
    assign a_o    = w1[19:10];
    assign dst_o  = w1[9:0];
    assign m_o    = w0[15:0];
    assign sh_o   = w0[21:16];
    assign xrow_o = w1[25:16];
    assign rm_o   = w1[15:0];

    always @* begin
        case (op_o)
            `KS_OP_HALT,
            `KS_OP_FENCE:  illegal_o = (w0[25:0] != 26'd0) | (w1 != 32'd0);
            `KS_OP_SETQ:   illegal_o = (w1[31:26] != 6'd0) | ~m_o[15] | (sh_o == 6'd0) | (sh_o > 6'd40);
            `KS_OP_LOAD,
            `KS_OP_STORE:  illegal_o = w1[28:20] != 9'd0;
            `KS_OP_GATHER: illegal_o = w1[27:0] != 28'd0;
            `KS_OP_STREG:  illegal_o = (w0[25:0] != 26'd0) | (w1[28:20] != 9'd0);
            `KS_OP_DOT:    illegal_o = (w1[23:20] != 4'd0) | (w1[27:24] > 4'd3);
            `KS_OP_DOTL:   illegal_o = (w1[31:28] != 4'd0) | (w1[23:20] != 4'd0) | (w1[27:24] > 4'd1);
            `KS_OP_SCORE:  illegal_o = (w1[27:20] != 8'd0) | (w1[9:0] != 10'd0);
            `KS_OP_AV:     illegal_o = w1[31:10] != 22'd0;
            default:       illegal_o = 1'b1;
        endcase
    end

`ifndef SYNTHESIS
    // The header is generated elsewhere: an opcode that moved would decode a program written from section 4 as another one.
    initial begin
        if ({`KS_OP_HALT, `KS_OP_FENCE, `KS_OP_SETQ, `KS_OP_LOAD, `KS_OP_STORE, `KS_OP_GATHER}
                != {6'd1, 6'd2, 6'd4, 6'd8, 6'd9, 6'd10}
                || {`KS_OP_STREG, `KS_OP_DOT, `KS_OP_DOTL, `KS_OP_SCORE, `KS_OP_AV} != {6'd12, 6'd16, 6'd17, 6'd18, 6'd19}) begin
            $display("ASSERTION ks_decode: kestrel_isa.vh differs from section 4, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
