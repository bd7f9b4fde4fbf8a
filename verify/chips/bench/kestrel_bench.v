// kestrel_bench: serves one request to a chip fresh from power-on, then ends the simulation.
//
// Owns reset and the host port; kestrel_bench_files has the request and the reply, kestrel_bench_memory is the memory, and
// kestrel_bench_monitor looks at the requests to it. Whoever drives `clk` and `sample` owns time:
//
//   clk     ____----____----     inputs of the chip change at the falling edge, its outputs are read at the rising edge of
//   sample  __--____--____--     `sample`, after they have settled and before the rising edge at which the chip takes them
//
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

    localparam [10:0] CTRL = 11'h000, STATUS = 11'h001;
    localparam [31:0] CTRL_START = 32'd1, CTRL_RESET = 32'd2;
    localparam integer RESET_CYCLES = 2;
    localparam [31:0] IDLE_CYCLES = 32'd64;  // between the end of a run and the next write of the host

    // ARMED is WAIT for a start with a soft reset, STRIKE its cycle, STRUCK the one after it.
    localparam [3:0] RESET = 4'd0, NEXT = 4'd1, WRITE = 4'd2, START = 4'd3, LOOK = 4'd4, WAIT = 4'd5, READ = 4'd6;
    localparam [3:0] ARMED = 4'd7, STRIKE = 4'd8, STRUCK = 4'd9;

    reg rst_n = 1'b0;
    wire mem_req_valid, mem_req_ready, mem_req_we, mem_rsp_valid;
    wire [19:0] mem_req_addr;
    wire [31:0] mem_req_wdata, mem_rsp_data;
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

    kestrel_bench_files files ();

    kestrel_bench_memory #(
        .EXT_WORDS(EXT_WORDS)
    ) memory (
        .ready(mem_req_ready),
        .rsp_valid(mem_rsp_valid),
        .rsp_data(mem_rsp_data),
        .we(mem_req_we),
        .addr(mem_req_addr),
        .wdata(mem_req_wdata)
    );

    kestrel_bench_monitor #(
        .EXT_WORDS(EXT_WORDS)
    ) monitor (
        .valid(mem_req_valid),
        .ready(mem_req_ready),
        .we(mem_req_we),
        .addr(mem_req_addr),
        .wdata(mem_req_wdata)
    );

    // `free`: the first cycle in which the host may write. `strike`: the one of the soft reset.
    reg [3:0] state;
    reg [31:0] now, last, free, strike;
    integer index, reset_left;
    reg watching;

    initial begin
        memory.clear;
`ifdef KESTREL_FORKS
        // Comes back once for each run, in a process of its own; before the first edge, and when x has settled everywhere, which
        // would otherwise take its time in each run.
        #1 $kestrel_fork;
`endif
        files.clear;
        monitor.clear;
        state = RESET;
        reset_left = RESET_CYCLES;
        now = 32'd0;
        free = 32'd0;
        watching = 1'b0;
    end

    // The inputs of the next cycle. While the host waits, it looks at STATUS, which already shows this cycle's.
    always @(negedge clk) if (!files.over) begin
        now = now + 32'd1;
        if (!memory.fixed) memory.choose((state == WAIT || state == ARMED) ? h_rdata[0] === 1'b1 : state == LOOK);
        if (memory.outstanding != 6'd0 || mem_rsp_valid) memory.drive(now);
        if (state != WAIT) drive_host;
    end

    // The outputs of this cycle. From its first edge in reset on, the chip has to show values.
    always @(posedge sample) if (!files.over) begin
        if (mem_req_valid !== 1'b0 || monitor.held) if (watching) watch_memory;
        if (mem_rsp_valid) memory.pass;
        if (state != WAIT) sample_host;
        else if (h_rdata[0] !== 1'b1 || now >= last) wait_for_end;
    end

    task drive_host;
        begin
            h_we = 1'b0;
            h_wdata = 32'bx;
            if (state == RESET && reset_left == 0) begin
                rst_n = 1'b1;
                state = NEXT;
                files.open(now);
                memory.prepare(files.latency, files.seed, files.mute_after);
            end
            while (state == NEXT && !files.over) next;
            case (state)
                WRITE: write(files.address[10:0], files.value);
                START: write(CTRL, CTRL_START);
                LOOK: begin
                    state = files.reset_at == 32'd0 ? WAIT : ARMED;
                    strike = now + files.reset_at - 32'd1;
                    strike_or_look(1'b1);
                end
                ARMED: strike_or_look(h_rdata[0] === 1'b1);
                STRUCK: begin
                    h_addr = STATUS;
                    state  = WAIT;
                end
                READ: h_addr = register(index);
                default: h_addr = STATUS;
            endcase
        end
    endtask

    // The host's write in this cycle, if it may write already.
    task write(input [10:0] address, input [31:0] value);
        begin
            h_addr = STATUS;
            if (now >= free) begin
                h_we = 1'b1;
                h_addr = address;
                h_wdata = value;
            end
        end
    endtask

    // A soft reset where one is due in this cycle, which is the run's, and within what a start may take.
    task strike_or_look(input busy);
        begin
            h_addr = STATUS;
            if (state == ARMED && now == strike && now != last && busy) begin
                state = STRIKE;
                h_we = 1'b1;
                h_addr = CTRL;
                h_wdata = CTRL_RESET;
            end
        end
    endtask

    task wait_for_end;
        if (h_rdata[0] !== 1'b1) begin
            index = 0;
            state = READ;
            free  = now + IDLE_CYCLES;
            if (^h_rdata === 1'bx) files.stop(files.X_REGISTER, now);
        end else if (now >= last) files.stop(files.SAID_LIMIT, now);
    endtask

    task sample_host;
        case (state)
            RESET: begin
                watching = 1'b1;
                reset_left = reset_left - 1;
            end
            WRITE: if (h_we) state = NEXT;
            START:
            if (h_we) begin
                last  = now + files.limit + 32'd1;
                state = LOOK;
            end
            ARMED: wait_for_end;
            STRIKE: state = STRUCK;
            READ:
            if (!files.over) begin  // a request may have ended the run in this cycle
                files.keep(index, h_rdata);
                index = index + 1;
                if (^h_rdata === 1'bx) files.stop(files.X_REGISTER, now);
                else if (index == files.REGISTERS) done;
            end
            default: ;
        endcase
    endtask

    // Carry out the next piece of the request; what takes a cycle leaves the state NEXT.
    task next;
        begin
            files.take_piece(now);
            if (!files.over)
                case (files.piece)
                    files.DO_MEMORY: begin
                        memory.fill(files.request, files.first, files.count);
                        if (memory.broken) files.stop(files.BAD_FILE, now);
                    end
                    files.DO_WRITE: state = WRITE;
                    files.DO_RUN: state = START;
                    default: ;
                endcase
        end
    endtask

    task watch_memory;
        begin
            monitor.look(memory.outstanding);
            if (monitor.broken != 32'd0) files.stop(monitor.broken, now);
            else if (mem_req_ready) begin
                memory.accept(now);
                if (memory.broken) files.stop(files.BAD_FILE, now);
            end
        end
    endtask

    // What a start left: its end, the registers, and the blocks of memory that it wrote.
    task done;
        begin
            files.tell;
            memory.tell(files.reply);
            state = NEXT;
        end
    endtask

    function [10:0] register(input integer place);
        register = place < 3 ? STATUS + place[10:0] : 11'h00D + place[10:0];
    endfunction

endmodule
`default_nettype wire
