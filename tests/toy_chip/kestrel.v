// kestrel: a stand-in for the chip with its ports, which copies words and misbehaves when it is told to.
//
// R1: cycles to wait first. R2, R3, R4: how many words to copy, from where, to where. TOK becomes their sum. The low word of
// instruction 0 is a misdeed (toy.py), or PIPELINED: it then only reads, a word a cycle.
//
// What survives a soft reset: STALL counts the starts since power-on, DMA answers that came after a soft reset had given up on
// them. ERRPC tells the last soft reset: its busy cycle, or 256 and the number of writes since the end of the run. VEC is how
// long the host left it alone before that, or a register that nobody sets.
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
    localparam ENDLESS = 9, BEYOND = 10, GREEDY = 11, PIPELINED = 12, CHANGES = 13, DROPS = 14, FORGETS = 15, DEAF = 16;

    reg busy, finished;
    reg [31:0] misdeed, waiting, words, from, to, token, total, read, written, sent, back, starts, spin, held;
    reg holds;
    reg [31:0] never;

    // After a soft reset: a request that was raised stays, and answers on their way are dropped.
    reg refused, stuck;
    reg [52:0] stuck_request;
    reg [31:0] outstanding, lost, dropped, reset_in, writes_since, idle, left_alone;

    initial begin
        starts = 0;
        dropped = 0;
        reset_in = 0;
        misdeed = 0;
        if ($test$plusargs("TOY_SHOUTS")) $display("it shouts");
        if (LANES != 16) $display("a toy of %0d lanes", LANES);
    end

    wire reads_on = misdeed == GREEDY || misdeed == PIPELINED;
    wire copying = busy && waiting == 0 && misdeed != ENDLESS && !stuck && lost == 0;
    wire writes = copying && holds && !reads_on;
    wire reads = copying && sent < words && (reads_on || (!holds && sent == back));
    wire raised = misdeed == X_VALID && busy ? never[0] : (writes || reads) && !(misdeed == DROPS && refused);
    wire [31:0] address = writes ? to + written : misdeed == BEYOND ? EXT_WORDS : from + sent + (misdeed == CHANGES && refused);
    wire [31:0] data = misdeed == READ_DATA ? 1 : !writes ? 0 : misdeed == X_WRITE ? never : held;
    wire [52:0] asked = {writes, address[19:0], data};
    assign mem_req_valid = stuck || raised;
    assign {mem_req_we, mem_req_addr, mem_req_wdata} = stuck ? stuck_request : asked;

    wire accepted = mem_req_valid && mem_req_ready;
    wire [31:0] left = outstanding + (accepted && !mem_req_we) - mem_rsp_valid;
    wire soft_reset = h_we && h_addr == 0 && h_wdata[1] && misdeed != DEAF;

    always @*
        case (h_addr)
            11'h001: h_rdata = {30'd0, finished, busy};
            11'h002: h_rdata = reset_in;
            11'h003: h_rdata = token;
            11'h010: h_rdata = total;
            11'h011: h_rdata = dropped;
            11'h012: h_rdata = `TOY_MAC;
            11'h013: h_rdata = misdeed == X_COUNTER ? never : left_alone;
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
            refused <= 0;
            stuck <= 0;
            outstanding <= 0;
            lost <= 0;
            writes_since <= 0;
            idle <= 0;
            left_alone <= 0;
        end else if (soft_reset) begin
            reset_in <= busy ? total + 1 : 256 + writes_since;
            busy <= 0;
            finished <= 0;
            token <= 0;
            holds <= 0;
            waiting <= 0;
            words <= 0;
            from <= 0;
            to <= 0;
            total <= 0;
            read <= 0;
            written <= 0;
            stuck <= mem_req_valid && !mem_req_ready && misdeed != FORGETS;
            stuck_request <= {mem_req_we, mem_req_addr, mem_req_wdata};
            refused <= 0;
            outstanding <= left;
            lost <= left;
            idle <= 0;
            writes_since <= busy ? 0 : writes_since + 1;
            if (!busy && writes_since == 0) left_alone <= idle;
        end else if (!busy || lost != 0 || stuck) begin
            outstanding <= left;
            lost <= left;
            dropped <= dropped + mem_rsp_valid;
            if (accepted) stuck <= 0;
            if (busy) total <= total + 1;
            idle <= idle + 1;
            if (h_we && writes_since == 0) left_alone <= idle;
            if (h_we) writes_since <= writes_since + 1;
            if (h_we && !busy)
                case (h_addr)
                    11'h000:
                    if (h_wdata[0]) begin
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
            outstanding <= left;
            refused <= mem_req_valid && !mem_req_ready;
            idle <= 0;
            writes_since <= 0;
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
                token <= (misdeed == PIPELINED ? 3 * token : token) + mem_rsp_data;
            end
            if (copying && (words == 0 || (writes && mem_req_ready && written + 1 == words) || (reads_on && back == words))) begin
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
