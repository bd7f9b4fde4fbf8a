// ks_counters: the seven counters of a run.
// Rule:    docs/chip.md, 6 Counters.
// Latency: an event of cycle c is counted from c + 1 on.
// Caller:  events are those of the same cycle; start_i only while not busy_i.
`default_nettype none

module ks_counters (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire         start_i,       // all become 0
    input  wire         busy_i,        // TOTAL; nothing counts without it
    input  wire         dma_i,
    input  wire         mac_i,
    input  wire         vec_i,
    input  wire         stall_i,
    input  wire         rdw_i,
    input  wire         wrw_i,
    output wire [223:0] counters_o     // TOTAL, DMA, MAC, VEC, STALL, RDW, WRW, the first in the low word
);
    reg [31:0] total_q;
    reg [31:0] dma_q;
    reg [31:0] mac_q;
    reg [31:0] vec_q;
    reg [31:0] stall_q;
    reg [31:0] rdw_q;
    reg [31:0] wrw_q;

    assign counters_o = {wrw_q, rdw_q, stall_q, vec_q, mac_q, dma_q, total_q};

    always @(posedge clk_i) begin
        if (!rst_ni || start_i) begin
            total_q <= 32'd0;
            dma_q   <= 32'd0;
            mac_q   <= 32'd0;
            vec_q   <= 32'd0;
            stall_q <= 32'd0;
            rdw_q   <= 32'd0;
            wrw_q   <= 32'd0;
        end else if (busy_i) begin
            total_q <= total_q + 32'd1;
            if (dma_i) begin
                dma_q <= dma_q + 32'd1;
            end
            if (mac_i) begin
                mac_q <= mac_q + 32'd1;
            end
            if (vec_i) begin
                vec_q <= vec_q + 32'd1;
            end
            if (stall_i) begin
                stall_q <= stall_q + 32'd1;
            end
            if (rdw_i) begin
                rdw_q <= rdw_q + 32'd1;
            end
            if (wrw_i) begin
                wrw_q <= wrw_q + 32'd1;
            end
        end
    end

`ifndef SYNTHESIS
    always @(posedge clk_i) begin
        if (rst_ni && !busy_i) begin
            // Nothing is counted in more cycles than are busy, nor is more than one word accepted in a cycle.
            if (dma_q > total_q || mac_q > total_q || vec_q > total_q || stall_q > total_q || rdw_q + wrw_q > total_q) begin
                $display("ASSERTION ks_counters: more than TOTAL, time %0t", $time);
                $finish;
            end
        end
    end
`endif

endmodule

`default_nettype wire
