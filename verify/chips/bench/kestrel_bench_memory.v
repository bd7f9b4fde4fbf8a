// kestrel_bench_memory: the memory that the bench lets a chip have, and when it is ready and answers (docs/chip.md, Memory
// profiles). It does nothing by itself: the bench calls `choose` and `drive` before a cycle, `accept` and `pass` in it, so that
// nothing of what both look at depends on which of them a simulator takes first. What need not be called is not, to save time.
//
// A request accepted in a cycle is carried out then. Data that is not valid is x.
`timescale 1ns / 1ps
`default_nettype none

module kestrel_bench_memory #(
    parameter integer EXT_WORDS = 8192
) (
    output reg ready,
    output reg rsp_valid,
    output reg [31:0] rsp_data,
    input wire we,
    input wire [19:0] addr,
    input wire [31:0] wdata
);

    // Words in blocks, each read from its file when it is first needed; blocks that this start has written, in that order.
    localparam integer BLOCK = 8, BLOCKS = (EXT_WORDS + BLOCK - 1) / BLOCK;
    reg [31:0] words[0:BLOCKS*BLOCK-1];
    reg loaded[0:BLOCKS-1];
    reg dirty[0:BLOCKS-1];
    reg [31:0] written[0:BLOCKS-1];
    integer writes;

    // Answers on their way, oldest first: a ring of twice what may be outstanding. `due` is the first cycle for each; the one
    // before it may still be in the way.
    reg [31:0] answer[0:31];
    reg [31:0] due[0:31];
    reg [4:0] oldest, youngest;
    reg [5:0] outstanding;

    // The profile: `seed` not 0 is RANDOM, `mute_after` not 0 is MUTE. A run's state of chance, and its accepted requests.
    reg [31:0] latency, seed, mute_after, chance, accepted;
    reg fixed, was_busy, muted, broken;
    integer contents, got, i;

    // `broken`: a file could not be read.
    task prepare(input [31:0] latency_asked, input [31:0] seed_asked, input [31:0] mute_after_asked);
        begin
            latency = latency_asked;
            seed = seed_asked;
            mute_after = mute_after_asked;
            fixed = seed == 32'd0 && mute_after == 32'd0;
            chance = seed;
            accepted = 32'd0;
            was_busy = 1'b0;
            muted = 1'b0;
            broken = 1'b0;
            writes = 0;
            contents = $fopen("memory", "rb");
        end
    endtask

    // Nothing has been asked, read or written yet. Apart from `prepare`, because it takes its time and a fork server does it once.
    task clear;
        begin
            fixed = 1'b1;
            ready = 1'b1;
            rsp_valid = 1'b0;
            rsp_data = 32'bx;
            oldest = 5'd0;
            youngest = 5'd0;
            outstanding = 6'd0;
            for (i = 0; i < BLOCKS; i = i + 1) begin
                loaded[i] = 1'b0;
                dirty[i]  = 1'b0;
            end
        end
    endtask

    // The answer of cycle `now`; needs to be called only where one is on its way, or was there in the cycle before.
    task drive(input [31:0] now);
        if (outstanding != 6'd0 && due[oldest] <= now && !muted) begin
            rsp_valid = 1'b1;
            rsp_data  = answer[oldest];
        end else if (rsp_valid) begin
            rsp_valid = 1'b0;
            rsp_data  = 32'bx;
        end
    endtask

    // Whether memory is ready and answers in the next cycle; needs to be called only unless it is `fixed`. Chance steps at the end of each busy cycle, so the cycle after the last one sees that step, too.
    task choose(input busy);
        begin
            if (was_busy) begin
                chance = chance ^ (chance << 13);
                chance = chance ^ (chance >> 17);
                chance = chance ^ (chance << 5);
            end
            if (busy && !was_busy) begin
                chance   = seed;
                accepted = 32'd0;
            end
            was_busy = busy;
            muted = busy && mute_after != 32'd0 && accepted >= mute_after;
            ready = !busy || (seed != 32'd0 ? chance[1:0] != 2'd0 : !muted);
        end
    endtask

    // The chip's request is accepted in cycle `now`.
    task accept(input [31:0] now);
        begin
            accepted = accepted + 32'd1;
            load(addr / BLOCK);
            if (we) begin
                words[addr] = wdata;
                if (!dirty[addr/BLOCK]) begin
                    dirty[addr/BLOCK] = 1'b1;
                    written[writes] = addr / BLOCK;
                    writes = writes + 1;
                end
            end else begin
                answer[youngest] = words[addr];
                due[youngest] = now + (seed == 32'd0 ? latency : 32'd1 + chance[11:8]);
                youngest = youngest + 5'd1;
                outstanding = outstanding + 6'd1;
            end
        end
    endtask

    // The answer of this cycle has come.
    task pass;
        begin
            oldest = oldest + 5'd1;
            outstanding = outstanding - 6'd1;
        end
    endtask

    // The host writes words first .. first + count - 1; they are the next of the request.
    task fill(input integer request, input [31:0] first, input [31:0] count);
        begin
            for (i = first / BLOCK; i * BLOCK < first + count; i = i + 1) load(i);
            got = $fread(words, request, first, count);
            if (got != 4 * count) broken = 1'b1;
        end
    endtask

    task load(input [31:0] block);
        if (!loaded[block]) begin
            loaded[block] = 1'b1;
            got = $fseek(contents, block * BLOCK * 4, 0);
            got = $fread(words, contents, block * BLOCK, BLOCK);
            if (got != 4 * BLOCK) broken = 1'b1;
        end
    endtask

    // Tell what was written since the last time: how many blocks, and of each its number and its words.
    task tell(input integer reply);
        integer word;
        begin
            $fwrite(reply, "%u", writes);
            for (i = 0; i < writes; i = i + 1) begin
                dirty[written[i]] = 1'b0;
                $fwrite(reply, "%u", written[i]);
                for (word = 0; word < BLOCK; word = word + 1) $fwrite(reply, "%u", words[written[i]*BLOCK+word]);
            end
            writes = 0;
        end
    endtask

endmodule
`default_nettype wire
