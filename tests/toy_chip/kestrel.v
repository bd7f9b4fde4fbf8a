// kestrel: a stand-in for the chip with its ports, which copies words and misbehaves when it is told to.
//
// R1: cycles to wait first. R2, R3, R4: how many words to copy, from where, to where. TOK becomes their sum. STALL counts the
// starts since power-on, VEC shows a register that nobody sets. The low word of instruction 0 is a misdeed (toy.py).
`timescale 1ns / 1ps
`default_nettype none

`ifndef TOY_MAC
`define TOY_MAC 0
`endif

module kestrel #(
    parameter integer LANES = 16,
    parameter integer EXT_WORDS = 8192
) (
    input wire clk,
    input wire rst_n,
    output wire mem_req_valid,
    input wire mem_req_ready,
    output wire mem_req_we,
    output wire [19:0] mem_req_addr,
    output wire [31:0] mem_req_wdata,
    input wire mem_rsp_valid,
    input wire [31:0] mem_rsp_data,
    input wire h_we,
    input wire [10:0] h_addr,
    input wire [31:0] h_wdata,
    output reg [31:0] h_rdata
);
    localparam X_VALID = 1, X_WRITE = 2, X_COUNTER = 3, FINISH = 4, ZERO_DELAY = 5, READ_DATA = 6, ASSERTION = 7, BABBLE = 8;
    localparam ENDLESS = 9, BEYOND = 10, GREEDY = 11;

    reg busy, finished;
    reg [31:0] misdeed, waiting, words, from, to, token, total, read, written, sent, back, starts, spin, held;
    reg holds;
    reg [31:0] never;

    initial begin
        starts  = 0;
        misdeed = 0;
        if ($test$plusargs("TOY_SHOUTS")) $display("it shouts");
        if (LANES != 16) $display("a toy of %0d lanes", LANES);
    end

    wire copying = busy && waiting == 0 && misdeed != ENDLESS;
    wire writes = copying && holds && misdeed != GREEDY;
    wire reads = copying && sent < words && (misdeed == GREEDY || (!holds && sent == back));
    assign mem_req_valid = misdeed == X_VALID && busy ? never[0] : writes || reads;
    assign mem_req_we = writes;
    wire [31:0] address = writes ? to + written : misdeed == BEYOND ? EXT_WORDS : from + sent;
    assign mem_req_addr = address[19:0];
    assign mem_req_wdata = misdeed == READ_DATA ? 1 : !writes ? 0 : misdeed == X_WRITE ? never : held;

    always @*
        case (h_addr)
            11'h001: h_rdata = {30'd0, finished, busy};
            11'h003: h_rdata = token;
            11'h010: h_rdata = total;
            11'h012: h_rdata = `TOY_MAC;
            11'h013: h_rdata = misdeed == X_COUNTER ? never : 0;
            11'h014: h_rdata = starts;
            11'h015: h_rdata = read;
            11'h016: h_rdata = written;
            default: h_rdata = 0;
        endcase

    always @(posedge clk)
        if (!rst_n) begin
            busy <= 0;
            finished <= 0;
            token <= 0;
            holds <= 0;
            sent <= 0;
            back <= 0;
            waiting <= 0;
            words <= 0;
            from <= 0;
            to <= 0;
            total <= 0;
            read <= 0;
            written <= 0;
        end else if (!busy) begin
            if (h_we)
                case (h_addr)
                    11'h000: begin
                        busy <= 1;
                        finished <= 0;
                        starts <= starts + 1;
                        token <= 0;
                        total <= 0;
                        read <= 0;
                        written <= 0;
                        sent <= 0;
                        back <= 0;
                    end
                    11'h009: waiting <= h_wdata;
                    11'h00A: words <= h_wdata;
                    11'h00B: from <= h_wdata;
                    11'h00C: to <= h_wdata;
                    11'h400: misdeed <= h_wdata;
                    default: ;
                endcase
        end else begin
            total <= total + 1;
            if (waiting != 0) waiting <= waiting - 1;
            if (mem_req_valid && mem_req_ready && mem_req_we) begin
                written <= written + 1;
                holds   <= 0;
            end
            if (mem_req_valid && mem_req_ready && !mem_req_we) begin
                sent <= sent + 1;
                read <= read + 1;
            end
            if (mem_rsp_valid) begin
                back  <= back + 1;
                holds <= 1;
                held  <= mem_rsp_data;
                token <= token + mem_rsp_data;
            end
            if (copying && (words == 0 || (writes && written + 1 == words))) begin
                busy <= 0;
                finished <= 1;
            end
            case (misdeed)
                FINISH: $finish;
                ZERO_DELAY: begin
                    spin = misdeed;
                    while (spin != 0) spin = spin + 2;  // odd for ever
                end
                ASSERTION: $display("ASSERTION toy: %0d words", words);
                BABBLE: begin
                    spin = misdeed;
                    while (spin[0] == 0) begin
                        $display("words, words, words, words, words, words, words, words, words, words, words, words");
                        spin = spin + 2;
                    end
                end
                default: ;
            endcase
        end
endmodule
`default_nettype wire
