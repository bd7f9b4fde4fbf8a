// ks_spad: the scratchpad, 1,024 rows, one read port and one write port.
// Rule:    docs/chip.md, 6 Scratchpad.
// Latency: a read of cycle c gives its row in c + 1; a write of cycle c is seen by reads from c + 1 on.
// Caller:  reads only rows that were written: the array has no reset.
`default_nettype none

module ks_spad #(
    parameter LANES = 16
) (
    input  wire               clk_i,
    input  wire               re_i,
    input  wire [9:0]         raddr_i,
    output wire [8*LANES-1:0] rdata_o,
    input  wire               we_i,
    input  wire [9:0]         waddr_i,
    input  wire [8*LANES-1:0] wdata_i
);
    reg [8*LANES-1:0] mem_q [0:1023];
    reg [8*LANES-1:0] rdata_q;

    assign rdata_o = rdata_q;

    always @(posedge clk_i) begin
        if (re_i) begin
            rdata_q <= mem_q[raddr_i];
        end
        if (we_i) begin
            mem_q[waddr_i] <= wdata_i;
        end
    end

`ifndef SYNTHESIS
    // A write to an unknown row, in a four-state simulator, would be lost without a trace.
    wire broken = we_i && (^waddr_i) === 1'bx;

    always @(posedge clk_i) begin
        if (broken) begin
            $display("ASSERTION ks_spad: write to an unknown row, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
