// kestrel_bench_files: the request that the bench reads and the reply that it writes, files of 32-bit words, high byte first in
// the request and low byte first in the reply (verify/chips/exchange.py has both), and the waves. Owns how a run begins and ends.
//
// It does nothing by itself: the bench calls `open` when reset is over, `take_piece` for what to do next, `keep` and `tell` for
// what a start left, and `stop` for what ends the run. A request that cannot be read ends it, too, so `over` has to be looked at.
`timescale 1ns / 1ps
`default_nettype none

module kestrel_bench_files;

    // What the request asks for, and how a start ends: the words of both files.
    localparam [31:0] DO_END = 32'd0, DO_MEMORY = 32'd1, DO_WRITE = 32'd2, DO_RUN = 32'd3;
    localparam [31:0] SAID_END = 32'd0, SAID_DONE = 32'd1, SAID_LIMIT = 32'd2;
    localparam [31:0] X_REGISTER = 32'd5, BAD_FILE = 32'd10;  // kestrel_bench_monitor has the ones between

    integer request, reply, got, i;

    // The header of the request: what memory is like, what a start may take, and whether waves are wanted.
    reg [31:0] latency, seed, mute_after, limit, waves;
    reg [159:0] header;

    // The piece of the request that is carried out, and its words: two of memory, two of a write, one of a run.
    reg [31:0] piece, first, count, address, value, reset_at;
    reg [63:0] two;

    // What the host read after a start: STATUS, ERRPC, TOK, then the seven counters.
    localparam integer REGISTERS = 10;
    reg [31:0] registers[0:REGISTERS-1];

    // Before the run has begun nobody can be told: what ended it in reset, 0 nothing, and in which cycle.
    reg begun, over;
    reg [31:0] early, early_cycle;

    task clear;
        begin
            begun = 1'b0;
            over  = 1'b0;
            early = 32'd0;
        end
    endtask

    // The request is first looked at here, in cycle `now`: what a process has done until then does not depend on it.
    task open(input [31:0] now);
        begin
`ifdef KESTREL_FORKS
            $kestrel_await;
`endif
            begun   = 1'b1;
            reply   = $fopen("reply", "wb");
            request = $fopen("request", "rb");
            header  = 160'd0;
            got     = $fread(header, request);
            if (got != 20) stop(BAD_FILE, now);
            {latency, seed, mute_after, limit, waves} = header;
`ifdef KESTREL_WAVES
            if (waves[0]) begin
                $dumpfile("waves");
                $dumpvars(0, kestrel_bench);
            end
`endif
            if (early != 32'd0) stop(early, early_cycle);
        end
    endtask

    // The next piece, with its words; it may be the end. Words are taken together, for each call of $fread takes its time.
    task take_piece(input [31:0] now);
        begin
            got = $fread(piece, request);
            if (got != 4) stop(BAD_FILE, now);
            case (piece)
                DO_MEMORY: begin
                    take_two(now);
                    {first, count} = two;
                end
                DO_WRITE: begin
                    take_two(now);
                    {address, value} = two;
                end
                DO_RUN: begin
                    got = $fread(reset_at, request);
                    if (got != 4) stop(BAD_FILE, now);
                end
                DO_END: stop(SAID_END, now);
                default: stop(BAD_FILE, now);
            endcase
        end
    endtask

    task take_two(input [31:0] now);
        begin
            got = $fread(two, request);
            if (got != 8) stop(BAD_FILE, now);
        end
    endtask

    task keep(input integer index, input [31:0] word);
        registers[index] = word;
    endtask

    // Tell how a start ended and the registers that were kept; what it wrote to memory has to follow.
    task tell;
        begin
            $fwrite(reply, "%u", SAID_DONE);
            for (i = 0; i < REGISTERS; i = i + 1) $fwrite(reply, "%u", registers[i]);
        end
    endtask

    // The run ends in cycle `now`. The first to say why counts, for a simulator may go on to the end of the cycle.
    task stop(input [31:0] said, input [31:0] now);
        if (!begun) begin
            if (early == 32'd0) early_cycle = now;
            if (early == 32'd0) early = said;
        end else if (!over) begin
            $fwrite(reply, "%u%u", said, now);
            $fclose(reply);
            over = 1'b1;
`ifdef KESTREL_FORKS
            if (!waves[0]) $kestrel_end;  // at once: the simulator's own end takes as long as a short run
`endif
            $finish(0);
        end
    endtask

endmodule
`default_nettype wire
