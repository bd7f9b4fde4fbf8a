// kestrel_bench: serves one request to a chip fresh from power-on, then ends the simulation.
//
// The request is a file of 32-bit words, high byte first; the reply is one of 32-bit words, low byte first
// (verify/chips/exchange.py has both). Owns reset, memory and the host port; whoever drives `clk` and `sample` owns time:
//
//   clk     ____----____----     inputs of the chip change at the falling edge, its outputs are read at the rising edge of
//   sample  __--____--____--     `sample`, after they have settled and before the rising edge at which the chip takes them
//
// Memory: a request accepted in cycle c is carried out then, a read answered in cycle c + latency. Data that is not valid is x.
// Ends early, and says why, on an x where the chip shows a value, and on a request that section 3 of docs/chip.md rules out.
`timescale 1ns / 1ps
`default_nettype none

module kestrel_bench #(
    parameter integer LANES = 16,
    parameter integer EXT_WORDS = 8192
) (
    input wire clk,
    input wire sample
);

    // What the request asks for, and how a start ends: the words of both files.
    localparam [31:0] DO_END = 32'd0, DO_MEMORY = 32'd1, DO_WRITE = 32'd2, DO_RUN = 32'd3;
    localparam [31:0] SAID_END = 32'd0, SAID_DONE = 32'd1, SAID_LIMIT = 32'd2;
    localparam [31:0] X_VALID = 32'd3, X_REQUEST = 32'd4, X_REGISTER = 32'd5;
    localparam [31:0] BAD_ADDRESS = 32'd6, BAD_READ_DATA = 32'd7, BAD_OUTSTANDING = 32'd8, BAD_CHANGE = 32'd9;
    localparam [31:0] BAD_FILE = 32'd10;

    localparam [10:0] CTRL = 11'h000, STATUS = 11'h001;
    localparam integer REGISTERS = 10;  // what is read after a start: STATUS, ERRPC, TOK, then the seven counters
    localparam integer RESET_CYCLES = 2;

    localparam [2:0] RESET = 3'd0, NEXT = 3'd1, WRITE = 3'd2, START = 3'd3, LOOK = 3'd4, WAIT = 3'd5, READ = 3'd6, OVER = 3'd7;

    reg rst_n = 1'b0;
    wire mem_req_valid, mem_req_we;
    reg mem_req_ready = 1'b1;  // a profile that lets the chip wait would set it as the answers are set
    wire [19:0] mem_req_addr;
    wire [31:0] mem_req_wdata;
    reg mem_rsp_valid = 1'b0;
    reg [31:0] mem_rsp_data = 32'bx;
    reg h_we = 1'b0;
    reg [10:0] h_addr = STATUS;
    reg [31:0] h_wdata = 32'bx;
    wire [31:0] h_rdata;

    kestrel #(
        .LANES(LANES),
        .EXT_WORDS(EXT_WORDS)
    ) chip (
        .clk(clk),
        .rst_n(rst_n),
        .mem_req_valid(mem_req_valid),
        .mem_req_ready(mem_req_ready),
        .mem_req_we(mem_req_we),
        .mem_req_addr(mem_req_addr),
        .mem_req_wdata(mem_req_wdata),
        .mem_rsp_valid(mem_rsp_valid),
        .mem_rsp_data(mem_rsp_data),
        .h_we(h_we),
        .h_addr(h_addr),
        .h_wdata(h_wdata),
        .h_rdata(h_rdata)
    );

    // Memory in blocks, each read from its file when it is first needed; blocks that this start has written, in that order.
    localparam integer BLOCK = 8, BLOCKS = (EXT_WORDS + BLOCK - 1) / BLOCK;
    reg [31:0] memory[0:BLOCKS*BLOCK-1];
    reg loaded[0:BLOCKS-1];
    reg dirty[0:BLOCKS-1];
    reg [31:0] written[0:BLOCKS-1];
    integer writes;

    // Answers on their way, oldest first: a ring of twice what may be outstanding.
    reg [31:0] answer[0:31];
    reg [31:0] due[0:31];
    reg [4:0] oldest, youngest;
    reg [5:0] outstanding;

    // A request that was raised and not accepted: it has to stay.
    reg held;
    reg [52:0] held_request;

    reg [2:0] state;
    reg [31:0] now, latency, limit, last, word, first, count;
    reg [31:0] read[0:REGISTERS-1];
    integer request, contents, reply, got, i, index, reset_left;
    reg watching, waves, over;

    initial begin
        for (i = 0; i < BLOCKS; i = i + 1) begin
            loaded[i] = 1'b0;
            dirty[i]  = 1'b0;
        end
`ifdef KESTREL_FORKS
        // Comes back once for each run, in a process of its own; before the first edge, and when x has settled everywhere, which
        // would otherwise take its time in each run.
        #1 $kestrel_fork;
`endif
        writes = 0;
        oldest = 5'd0;
        youngest = 5'd0;
        outstanding = 6'd0;
        held = 1'b0;
        state = RESET;
        reset_left = RESET_CYCLES;
        now = 32'd0;
        watching = 1'b0;
        over = 1'b0;
        reply = $fopen("reply", "wb");
        contents = $fopen("memory", "rb");
        request = $fopen("request", "rb");
        take;
        latency = word;
        take;
        limit = word;
        take;
        waves = word[0];
`ifdef KESTREL_WAVES
        if (waves) begin
            $dumpfile("waves");
            $dumpvars(0, kestrel_bench);
        end
`endif
    end

    // The inputs of the next cycle. While the host waits, it looks at STATUS.
    always @(negedge clk) if (!over) begin
        now = now + 32'd1;
        if (outstanding != 6'd0 && due[oldest] == now) begin
            mem_rsp_valid = 1'b1;
            mem_rsp_data  = answer[oldest];
        end else if (mem_rsp_valid) begin
            mem_rsp_valid = 1'b0;
            mem_rsp_data  = 32'bx;
        end
        if (state != WAIT) drive_host;
    end

    // The outputs of this cycle. From its first edge in reset on, the chip has to show values.
    always @(posedge sample) if (!over) begin
        if (mem_req_valid === 1'b0) begin
            if (held) stop(BAD_CHANGE);
        end else if (watching) watch_memory;
        if (mem_rsp_valid) begin
            oldest = oldest + 5'd1;
            outstanding = outstanding - 6'd1;
        end
        if (state != WAIT) sample_host;
        else if (h_rdata[0] !== 1'b1) begin
            index = 0;
            state = READ;
            if (^h_rdata === 1'bx) stop(X_REGISTER);
        end else if (now == last) stop(SAID_LIMIT);
    end

    task drive_host;
        begin
            h_we = 1'b0;
            h_addr = STATUS;
            h_wdata = 32'bx;
            if (state == RESET && reset_left == 0) begin
                rst_n = 1'b1;
                state = NEXT;
            end
            while (state == NEXT) next;
            case (state)
                WRITE: begin
                    h_we = 1'b1;
                    h_addr = first[10:0];
                    h_wdata = word;
                end
                START: begin
                    h_we = 1'b1;
                    h_addr = CTRL;
                    h_wdata = 32'd1;
                end
                LOOK: state = WAIT;
                READ: h_addr = register(index);
                default: ;
            endcase
        end
    endtask

    task sample_host;
        case (state)
            RESET: begin
                watching = 1'b1;
                reset_left = reset_left - 1;
            end
            WRITE: state = NEXT;
            START: begin
                last = now + limit + 32'd1;
                state = LOOK;
            end
            READ: begin
                read[index] = h_rdata;
                index = index + 1;
                if (^h_rdata === 1'bx) stop(X_REGISTER);
                else if (index == REGISTERS) done;
            end
            default: ;
        endcase
    endtask

    // Carry out the next piece of the request; what takes a cycle leaves the state NEXT.
    task next;
        begin
            take;
            case (word)
                DO_MEMORY: begin
                    take;
                    first = word;
                    take;
                    count = word;
                    for (i = first / BLOCK; i * BLOCK < first + count; i = i + 1) load(i);
                    got = $fread(memory, request, first, count);
                    if (got != 4 * count) stop(BAD_FILE);
                end
                DO_WRITE: begin
                    take;
                    first = word;
                    take;
                    state = WRITE;
                end
                DO_RUN: state = START;
                DO_END: stop(SAID_END);
                default: stop(BAD_FILE);
            endcase
        end
    endtask

    task take;
        begin
            word = 32'd0;
            got = $fread(word, request);
            if (got != 4) stop(BAD_FILE);
        end
    endtask

    task watch_memory;
        begin
            if (mem_req_valid !== 1'b1) stop(X_VALID);
            else if (^{mem_req_we, mem_req_addr, mem_req_wdata} === 1'bx) stop(X_REQUEST);
            else if (held && {mem_req_we, mem_req_addr, mem_req_wdata} != held_request) stop(BAD_CHANGE);
            else if (mem_req_addr >= EXT_WORDS) stop(BAD_ADDRESS);
            else if (!mem_req_we && mem_req_wdata != 32'd0) stop(BAD_READ_DATA);
            else if (!mem_req_we && outstanding == 6'd16) stop(BAD_OUTSTANDING);
            else if (mem_req_ready) accept;
            held = !mem_req_ready;
            if (held) held_request = {mem_req_we, mem_req_addr, mem_req_wdata};
        end
    endtask

    task accept;
        begin
            load(mem_req_addr / BLOCK);
            if (mem_req_we) begin
                memory[mem_req_addr] = mem_req_wdata;
                if (!dirty[mem_req_addr/BLOCK]) begin
                    dirty[mem_req_addr/BLOCK] = 1'b1;
                    written[writes] = mem_req_addr / BLOCK;
                    writes = writes + 1;
                end
            end else begin
                answer[youngest] = memory[mem_req_addr];
                due[youngest] = now + latency;
                youngest = youngest + 5'd1;
                outstanding = outstanding + 6'd1;
            end
        end
    endtask

    task load(input [31:0] block);
        if (!loaded[block]) begin
            loaded[block] = 1'b1;
            got = $fseek(contents, block * BLOCK * 4, 0);
            got = $fread(memory, contents, block * BLOCK, BLOCK);
            if (got != 4 * BLOCK) stop(BAD_FILE);
        end
    endtask

    // What a start left: its end, the registers, and the blocks of memory that it wrote.
    task done;
        begin
            $fwrite(reply, "%u", SAID_DONE);
            for (i = 0; i < REGISTERS; i = i + 1) $fwrite(reply, "%u", read[i]);
            word = writes;
            $fwrite(reply, "%u", word);
            for (i = 0; i < writes; i = i + 1) begin
                dirty[written[i]] = 1'b0;
                $fwrite(reply, "%u", written[i]);
                for (index = 0; index < BLOCK; index = index + 1)
                    $fwrite(reply, "%u", memory[written[i]*BLOCK+index]);
            end
            writes = 0;
            state  = NEXT;
        end
    endtask

    task stop(input [31:0] said);
        if (!over) begin
            $fwrite(reply, "%u%u", said, now);
            $fclose(reply);
            over  = 1'b1;
            state = OVER;
`ifdef KESTREL_FORKS
            if (!waves) $kestrel_end;  // at once: the simulator's own end takes as long as a short run
`endif
            $finish(0);
        end
    endtask

    function [10:0] register(input integer place);
        register = place < 3 ? STATUS + place[10:0] : 11'h00D + place[10:0];
    endfunction

endmodule
`default_nettype wire
