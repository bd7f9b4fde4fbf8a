// icarus_top: the time of the bench in Icarus. The same three steps a cycle as verilator_main.cpp takes.
`timescale 1ns / 1ps
`default_nettype none

module icarus_top #(
    parameter integer LANES = 16,
    parameter integer EXT_WORDS = 8192
);
    reg clk = 1'b1;
    reg sample = 1'b0;

    kestrel_bench #(
        .LANES(LANES),
        .EXT_WORDS(EXT_WORDS)
    ) kestrel_bench (
        .clk(clk),
        .sample(sample)
    );

    initial
        forever begin
            #5 clk = 1'b0;
            #4 sample = 1'b1;
            #1 clk = 1'b1;
            sample = 1'b0;
        end

endmodule
`default_nettype wire
