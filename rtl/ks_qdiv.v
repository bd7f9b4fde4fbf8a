// ks_qdiv: a restoring divider, one quotient bit a stage, a new division each cycle.
// Rule:    docs/chip.md, 2 o_l; 6 CX, AV.
// Latency: operands of cycle c are registered at its end, bits 7 .. 0 follow in c + 1 .. c + 8, quot_o is there in c + 9.
// Caller:  den_i > 0 and floor(num_i/den_i) at most 255.
`default_nettype none

module ks_qdiv (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire        valid_i,
    input  wire [24:0] num_i,
    input  wire [16:0] den_i,
    output wire        valid_o,
    output wire [7:0]  quot_o
);
    // Stage 0 holds the operands; stage i follows from i - 1 by quotient bit 8 - i.
    reg [8:0]   valid_q;
    reg [224:0] rem_q;
    reg [152:0] den_q;
    reg [71:0]  quot_q;

    integer i;

    // {quotient bit, remainder}: subtracts the shifted divisor where it fits.
    function [25:0] step;
        input [24:0] rem;
        input [24:0] sub;
        step = rem >= sub ? {1'b1, rem - sub} : {1'b0, rem};
    endfunction

    wire works = valid_i || valid_q != 9'd0;

    assign valid_o = valid_q[8];
    assign quot_o  = quot_q[71:64];

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            valid_q <= 9'd0;
            rem_q   <= 225'd0;
            den_q   <= 153'd0;
            quot_q  <= 72'd0;
        end else if (works) begin
            valid_q       <= {valid_q[7:0], valid_i};
            rem_q[24:0]   <= num_i;
            den_q[16:0]   <= den_i;
            quot_q[7:0]   <= 8'd0;
            for (i = 1; i < 9; i = i + 1) begin
                {quot_q[8 * i], rem_q[25 * i +: 25]}
                    <= step(rem_q[25 * (i - 1) +: 25], {8'd0, den_q[17 * (i - 1) +: 17]} << (8 - i));
                quot_q[8 * i + 1 +: 7] <= quot_q[8 * (i - 1) +: 7];
                den_q[17 * i +: 17]    <= den_q[17 * (i - 1) +: 17];
            end
        end
    end

`ifndef SYNTHESIS
    // A remainder below the divisor is what makes the quotient the floor; a quotient above 255 leaves more.
    always @(posedge clk_i) begin
        if (valid_o) begin
            if (rst_ni && rem_q[224:200] >= {8'd0, den_q[152:136]}) begin
                $display("ASSERTION ks_qdiv: remainder not below the divisor, time %0t", $time);
                $finish;
            end
        end
    end
`endif

endmodule

`default_nettype wire
