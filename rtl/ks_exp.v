// ks_exp: LUT[i] = floor(255*exp(-i/32) + 1/2).
// Rule:    docs/chip.md, 2 Numbers.
// Latency: combinational.
// Caller:  any index.
`default_nettype none

module ks_exp (
    input  wire [7:0] index_i,
    output wire [7:0] value_o
);
    // Entry 0 in the highest byte, entry 255 in the lowest.
    localparam [2047:0] TABLE = {
        8'd255, 8'd247, 8'd240, 8'd232, 8'd225, 8'd218, 8'd211, 8'd205,
        8'd199, 8'd192, 8'd187, 8'd181, 8'd175, 8'd170, 8'd165, 8'd160,
        8'd155, 8'd150, 8'd145, 8'd141, 8'd136, 8'd132, 8'd128, 8'd124,
        8'd120, 8'd117, 8'd113, 8'd110, 8'd106, 8'd103, 8'd100, 8'd97,
        8'd94, 8'd91, 8'd88, 8'd85, 8'd83, 8'd80, 8'd78, 8'd75,
        8'd73, 8'd71, 8'd69, 8'd67, 8'd64, 8'd62, 8'd61, 8'd59,
        8'd57, 8'd55, 8'd53, 8'd52, 8'd50, 8'd49, 8'd47, 8'd46,
        8'd44, 8'd43, 8'd42, 8'd40, 8'd39, 8'd38, 8'd37, 8'd36,
        8'd35, 8'd33, 8'd32, 8'd31, 8'd30, 8'd30, 8'd29, 8'd28,
        8'd27, 8'd26, 8'd25, 8'd24, 8'd24, 8'd23, 8'd22, 8'd22,
        8'd21, 8'd20, 8'd20, 8'd19, 8'd18, 8'd18, 8'd17, 8'd17,
        8'd16, 8'd16, 8'd15, 8'd15, 8'd14, 8'd14, 8'd14, 8'd13,
        8'd13, 8'd12, 8'd12, 8'd12, 8'd11, 8'd11, 8'd11, 8'd10,
        8'd10, 8'd10, 8'd9, 8'd9, 8'd9, 8'd8, 8'd8, 8'd8,
        8'd8, 8'd7, 8'd7, 8'd7, 8'd7, 8'd7, 8'd6, 8'd6,
        8'd6, 8'd6, 8'd6, 8'd5, 8'd5, 8'd5, 8'd5, 8'd5,
        8'd5, 8'd5, 8'd4, 8'd4, 8'd4, 8'd4, 8'd4, 8'd4,
        8'd4, 8'd4, 8'd3, 8'd3, 8'd3, 8'd3, 8'd3, 8'd3,
        8'd3, 8'd3, 8'd3, 8'd3, 8'd2, 8'd2, 8'd2, 8'd2,
        8'd2, 8'd2, 8'd2, 8'd2, 8'd2, 8'd2, 8'd2, 8'd2,
        8'd2, 8'd2, 8'd2, 8'd2, 8'd2, 8'd1, 8'd1, 8'd1,
        8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1,
        8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1,
        8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1,
        8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1, 8'd1,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0,
        8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0, 8'd0
    };

    wire [7:0]  place   = ~index_i;
    wire [10:0] low_bit = {place, 3'd0};

    assign value_o = TABLE[low_bit +: 8];

`ifndef SYNTHESIS
    // Three entries fix the table's length, its direction and its step.
    initial begin
        if (TABLE[2047:2040] != 8'd255 || TABLE[8 * 223 +: 8] != 8'd94 || TABLE[7:0] != 8'd0) begin
            $display("ASSERTION ks_exp: table differs from the formula, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
