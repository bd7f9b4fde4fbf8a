// ks_counters: the seven counters of a run.
// Rule:    docs/chip.md, 6 Counters.
// Latency: an event of cycle c is counted from c + 1 on.
// Caller:  events are those of the same cycle; clear_i wins over them.
`default_nettype none

module ks_counters (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire         clear_i,
    input  wire         busy_i,        // TOTAL; nothing counts without it
    input  wire         dma_i,
    input  wire         mac_i,
    input  wire         vec_i,
    input  wire         stall_i,
    input  wire         rdw_i,
    input  wire         wrw_i,
    input  wire [2:0]   index_i,
    output wire [31:0]  counter_o      // 0 .. 6: TOTAL, DMA, MAC, VEC, STALL, RDW, WRW
);
    reg [31:0] count_q [0:7];          // the eighth stays 0
    integer    i;

    wire clear = ~rst_ni | clear_i;

    assign counter_o = count_q[index_i];

    always @(posedge clk_i) begin
        if (clear) begin
            for (i = 0; i < 8; i = i + 1) begin
                count_q[i] <= 32'd0;
            end
        end else if (busy_i) begin
            count_q[0] <= count_q[0] + 32'd1;
            if (dma_i) begin
                count_q[1] <= count_q[1] + 32'd1;
            end
            if (mac_i) begin
                count_q[2] <= count_q[2] + 32'd1;
            end
            if (vec_i) begin
                count_q[3] <= count_q[3] + 32'd1;
            end
            if (stall_i) begin
                count_q[4] <= count_q[4] + 32'd1;
            end
            if (rdw_i) begin
                count_q[5] <= count_q[5] + 32'd1;
            end
            if (wrw_i) begin
                count_q[6] <= count_q[6] + 32'd1;
            end
        end
    end

`ifndef SYNTHESIS
    always @(posedge clk_i) begin
        if (!busy_i) begin
            // Nothing is counted in more cycles than are busy, nor is more than one word accepted in a cycle.
            if (rst_ni && (count_q[1] > count_q[0] || count_q[2] > count_q[0] || count_q[3] > count_q[0]
                    || count_q[4] > count_q[0] || count_q[5] + count_q[6] > count_q[0])) begin
                $display("ASSERTION ks_counters: more than TOTAL, time %0t", $time);
                $finish;
            end
        end
    end
`endif

endmodule

`default_nettype wire
