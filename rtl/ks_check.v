// ks_check: the error of the head instruction, the first in the definition's order.
// Rule:    docs/chip.md, 4 Errors: PC_END, ILLEGAL, COUNT, ROW_RANGE, EXT_RANGE, DIV0. A GATHER's words are ks_walk's to check.
// Latency: combinational.
// Caller:  first_i, count_i and addr_i already hold their R; many_i .. x_valid_i are those of ks_rows for the same instruction.
`default_nettype none

`include "kestrel_isa.vh"

module ks_check #(
    parameter LANES     = 16,
    parameter EXT_WORDS = 8192
) (
    input  wire        end_i,          // instruction 256
    input  wire        illegal_i,
    input  wire [5:0]  op_i,
    input  wire [31:0] first_i,
    input  wire [31:0] count_i,        // with its sign
    input  wire [31:0] addr_i,
    input  wire [9:0]  a_i,
    input  wire        many_i,
    input  wire        beyond_i,
    input  wire [3:0]  res_valid_i,
    input  wire [39:0] res_row_i,
    input  wire [3:0]  x_valid_i,
    input  wire [39:0] x_row_i,        // xrow of result row i's entry, bits 10i+9:10i
    input  wire        scored_i,
    input  wire [7:0]  score_count_i,
    output reg  [7:0]  code_o          // 0: no error
);
    localparam [32:0] MEM_WORDS = EXT_WORDS;

    wire plain = (op_i == `KS_OP_LOAD) | (op_i == `KS_OP_STORE);
    wire move  = plain | (op_i == `KS_OP_GATHER);
    wire streg = op_i == `KS_OP_STREG;
    wire av    = op_i == `KS_OP_AV;
    wire op    = (op_i == `KS_OP_DOT) | (op_i == `KS_OP_DOTL) | (op_i == `KS_OP_SCORE) | av;
    wire some  = op | (move & (count_i != 32'd0));

    // Unsigned, a negative count is above 1,024 as well.
    wire count_bad = move ? count_i > 32'd1024
                   : op & ((count_i == 32'd0) | (count_i > 32'd255) | many_i
                           | (av & scored_i & (count_i != {24'd0, score_count_i})));

    // One bit more than the operands, so that no sum wraps. With a bad count these say nothing: COUNT comes first.
    wire [32:0] row_end = {1'b0, first_i} + {1'b0, count_i};
    wire [13:0] words   = streg ? 14'd1 : {3'd0, count_i[10:0]} << ($clog2(LANES) - 2);
    wire [32:0] mem_end = {1'b0, addr_i} + {19'd0, words};
    wire        row_bad = some & ((row_end > 33'd1024) | (op & (beyond_i | clash)));
    wire        ext_bad = ((plain & some) | streg) & (mem_end > MEM_WORDS);

    reg       clash;                   // a result row is a row that the op reads
    reg [9:0] row;
    integer   i;
    integer   k;

    always @* begin
        clash = 1'b0;
        for (i = 0; i < 4; i = i + 1) begin
            row = res_row_i[10 * i +: 10];
            if (res_valid_i[i]) begin
                if (!av && row == a_i) begin
                    clash = 1'b1;
                end
                if ({23'd0, row} >= {1'b0, first_i} && {23'd0, row} < row_end) begin
                    clash = 1'b1;
                end
                for (k = 0; k < 4; k = k + 1) begin
                    if (x_valid_i[k] && row == x_row_i[10 * k +: 10]) begin
                        clash = 1'b1;
                    end
                end
            end
        end
    end

    always @* begin
        if (end_i) begin
            code_o = `KS_ERR_PC_END;
        end else if (illegal_i) begin
            code_o = `KS_ERR_ILLEGAL;
        end else if (count_bad) begin
            code_o = `KS_ERR_COUNT;
        end else if (row_bad) begin
            code_o = `KS_ERR_ROW_RANGE;
        end else if (ext_bad) begin
            code_o = `KS_ERR_EXT_RANGE;
        end else if (av & ~scored_i) begin
            code_o = `KS_ERR_DIV0;
        end else begin
            code_o = 8'd0;
        end
    end

`ifndef SYNTHESIS
    // The memory port has 20 address bits; more words could not be addressed, and EXT_RANGE would not protect the rest.
    initial begin
        if (EXT_WORDS > 1048576 || (LANES != 16 && LANES != 32)) begin
            $display("ASSERTION ks_check: parameters out of range, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
