// ks_watchdog: ends a run that has made no progress in 4,096 busy cycles one after the other.
// Rule:    docs/chip.md, 6 Watchdog; 4 code 8 TIMEOUT.
// Latency: timeout_o is combinational of the cycle's events.
// Caller:  events are those of the same cycle; the run ends at the edge of timeout_o.
`default_nettype none

module ks_watchdog (
    input  wire clk_i,
    input  wire rst_ni,
    input  wire start_i,
    input  wire busy_i,
    // progress
    input  wire issue_i,
    input  wire accept_i,              // a request
    input  wire answer_i,
    input  wire row_i,                 // a B row enters
    input  wire exp_i,                 // an exponential is looked up
    input  wire out_i,                 // the out register is written
    input  wire finish_i,              // the run ends otherwise
    output wire timeout_o
);
    reg [11:0] quiet_q;

    wire progress = issue_i | accept_i | answer_i | row_i | exp_i | out_i;

    wire counts   = busy_i & ~progress;
    wire clear    = ~rst_ni | start_i | (busy_i & progress);

    assign timeout_o = busy_i & (&quiet_q) & ~progress & ~finish_i;

    always @(posedge clk_i) begin
        if (clear) begin
            quiet_q <= 12'd0;
        end else if (counts) begin
            quiet_q <= quiet_q + 12'd1;
        end
    end

`ifndef SYNTHESIS
    reg  late_q;                       // timeout_o in the cycle before
    wire late   = timeout_o | late_q | ~rst_ni;
    // A run that goes on after its end would count to 4,096 again, with the queue flushed under it.
    wire broken = rst_ni && late_q && busy_i;

    always @(posedge clk_i) begin
        if (late) begin
            late_q <= timeout_o;
        end
        if (broken) begin
            $display("ASSERTION ks_watchdog: busy after the timeout, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
