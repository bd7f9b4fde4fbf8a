// ks_pack: packs bytes or words into result rows, holds a full row in the out register, and finds the argmax of the words.
// Rule:    docs/chip.md, 6 CX, S3 and out register; 4 DOTL (TOK).
// Latency: with rowend_i in cycle c the row is valid_o from c + 1, or behind the row before it; arg_o counts a word from c + 1.
// Caller:  lanes upwards from 0 in a row; a DOTL's first put has j_i = 0; never a third row while two wait.
`default_nettype none

module ks_pack #(
    parameter LANES = 16
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,
    input  wire                     put_i,
    input  wire                     word_i,   // data_i is a 32-bit word, else a byte in bits 7:0
    input  wire [$clog2(LANES)-1:0] lane_i,   // byte or word number in the row
    input  wire [7:0]               j_i,      // number of the word in the op
    input  wire [31:0]              data_i,
    input  wire                     rowend_i, // the row is full with this put
    output wire                     valid_o,
    output wire [8*LANES-1:0]       row_o,
    input  wire                     take_i,   // row_o is written in this cycle
    output wire [7:0]               arg_o     // lowest j of the largest word
);
    reg [8*LANES-1:0] pack_q;
    reg               pend_q;          // pack_q is a full row that waits for the out register
    reg [8*LANES-1:0] out_q;
    reg               out_valid_q;
    reg [31:0]        best_q;
    reg [7:0]         arg_q;

    localparam LANE_BITS = $clog2(LANES);

    wire [LANE_BITS+2:0] byte_bit = {lane_i, 3'd0};
    wire [LANE_BITS+2:0] word_bit = {lane_i[LANE_BITS-3:0], 5'd0};
    wire                 free     = ~out_valid_q | take_i;
    wire                 works    = put_i | out_valid_q;

    // Lane 0 starts from zeros, so that the lanes beyond the last one are 0. A function, so that a simulator packs once a put.
    function [8*LANES-1:0] packed_row;
        input [8*LANES-1:0] row;
        begin
            packed_row = lane_i == {LANE_BITS{1'b0}} ? {8 * LANES{1'b0}} : row;
            if (word_i) begin
                packed_row[word_bit +: 32] = data_i;
            end else begin
                packed_row[byte_bit +: 8] = data_i[7:0];
            end
        end
    endfunction

    assign valid_o = out_valid_q;
    assign row_o   = out_q;
    assign arg_o   = arg_q;

    // Two rows can end in consecutive cycles (the last one holds a single lane) while a loaded row takes the write port from
    // the first: the second then waits in pack_q and follows it.
    always @(posedge clk_i) begin
        if (!rst_ni) begin
            pack_q      <= {8 * LANES{1'b0}};
            pend_q      <= 1'b0;
            out_q       <= {8 * LANES{1'b0}};
            out_valid_q <= 1'b0;
            best_q      <= 32'd0;
            arg_q       <= 8'd0;
        end else if (works) begin
            if (put_i) begin
                pack_q <= packed_row(pack_q);
                if (word_i & ((j_i == 8'd0) | ($signed(data_i) > $signed(best_q)))) begin
                    best_q <= data_i;
                    arg_q  <= j_i;
                end
            end
            if (free) begin
                if (pend_q) begin
                    out_q <= pack_q;
                end else if (put_i & rowend_i) begin
                    out_q <= packed_row(pack_q);
                end
                out_valid_q <= pend_q | (put_i & rowend_i);
                pend_q      <= 1'b0;
            end else if (put_i) begin
                pend_q <= rowend_i;
            end
        end
    end

`ifndef SYNTHESIS
    // A row behind two that wait has no place; loaded rows leave the port free too often for that.
    wire third_row  = put_i && pend_q;
    // Only a row that is there can be written.
    wire empty_take = take_i && !out_valid_q;
    // One bit for a simulator to look at in a cycle.
    wire broken     = rst_ni && (third_row || empty_take);

    always @(posedge clk_i) begin
        if (broken) begin
            if (third_row) begin
                $display("ASSERTION ks_pack: a third row, time %0t", $time);
            end
            if (empty_take) begin
                $display("ASSERTION ks_pack: take without a row, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
