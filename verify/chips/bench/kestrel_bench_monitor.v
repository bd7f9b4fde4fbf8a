// kestrel_bench_monitor: looks at the requests of a chip to its memory, and drives nothing (docs/chip.md section 3).
//
// `look` is to be called in each cycle in which a request is raised, or was and was not accepted; `broken` then says what is
// wrong with the port, in the words of the reply, 0 while nothing is.
`timescale 1ns / 1ps
`default_nettype none

module kestrel_bench_monitor #(
    parameter integer EXT_WORDS = 8192
) (
    input wire valid,
    input wire ready,
    input wire we,
    input wire [19:0] addr,
    input wire [31:0] wdata
);

    localparam [31:0] X_VALID = 32'd3, X_REQUEST = 32'd4;
    localparam [31:0] BAD_ADDRESS = 32'd6, BAD_READ_DATA = 32'd7, BAD_OUTSTANDING = 32'd8, BAD_CHANGE = 32'd9;
    localparam [5:0] MOST_OUTSTANDING = 6'd16;

    // A request that was raised and not accepted: it has to stay.
    reg held;
    reg [52:0] held_request;
    reg [31:0] broken;

    task clear;
        begin
            held = 1'b0;
            broken = 32'd0;
        end
    endtask

    task look(input [5:0] outstanding);
        begin
            if (valid === 1'b0) broken = BAD_CHANGE;
            else if (valid !== 1'b1) broken = X_VALID;
            else if (^{we, addr, wdata} === 1'bx) broken = X_REQUEST;
            else if (held && {we, addr, wdata} != held_request) broken = BAD_CHANGE;
            else if (addr >= EXT_WORDS) broken = BAD_ADDRESS;
            else if (!we && wdata != 32'd0) broken = BAD_READ_DATA;
            else if (!we && outstanding == MOST_OUTSTANDING) broken = BAD_OUTSTANDING;
            held = !ready;
            if (held) held_request = {we, addr, wdata};
        end
    endtask

endmodule
`default_nettype wire
