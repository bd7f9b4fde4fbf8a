// ks_dma: raises the memory requests of the current entry and gives the head entry its responses; drains after a flush.
// Rule:    docs/chip.md, 6 DMA, requests and DMA, responses, and Flush; 5 QUIET.
// Latency: requests are combinational of registers; a loaded row is written in the cycle of its last word.
// Caller:  keeps the cur_ ports stable until next_o, and the queue empty while drain_o; rdata_i is the
//          scratchpad's output, one cycle after st_launch_o.
`default_nettype none

module ks_dma #(
    parameter LANES     = 16,
    parameter EXT_WORDS = 8192
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    input  wire               flush_i,
    output wire               drain_o,     // requests or reads from before a flush are outstanding
    // memory port
    output wire               req_valid_o,
    input  wire               req_ready_i,
    output wire               req_we_o,
    output wire [19:0]        req_addr_o,
    output wire [31:0]        req_wdata_o,
    input  wire               rsp_valid_i,
    input  wire [31:0]        rsp_data_i,
    // current entry; a GATHER is a load; neither load nor store: STREG
    input  wire               cur_valid_i,
    input  wire               cur_load_i,
    input  wire               cur_gather_i,
    input  wire               cur_store_i,
    input  wire [9:0]         cur_first_i,
    input  wire [10:0]        cur_count_i,
    input  wire [19:0]        cur_addr_i,
    input  wire [31:0]        cur_word_i,  // STREG: TOK; GATHER: its first logical row
    input  wire               cur_kv_i,
    output wire               next_o,
    // registers of the walker
    input  wire [19:0]        btbase_i,
    input  wire [15:0]        btmask_i,
    input  wire [19:0]        pool_i,
    input  wire [2:0]         logp_i,
    input  wire [16:0]        npages_i,
    // the GATHER that is the current entry ends the run
    output wire               fault_o,
    output wire [7:0]         fault_code_o,
    // head entry
    input  wire               head_load_i,
    input  wire               head_last_i,
    output wire               pop_o,
    // a loaded row, to the head entry's row
    output wire               row_we_o,
    output wire [8*LANES-1:0] row_data_o,
    // a store's row read
    output wire               st_launch_o,
    output wire [9:0]         st_row_o,
    input  wire [8*LANES-1:0] rdata_i,
    // events of this cycle
    output wire               read_o,
    output wire               write_o
);
    localparam WORD_BITS = $clog2(LANES) - 2;
    localparam [WORD_BITS-1:0] ONE = 1;

    reg [4:0]  outstanding_q;
    reg [12:0] word_q;                 // accepted words of the current entry
    reg [WORD_BITS-1:0] fill_word_q;   // words of the row that is arriving
    reg [8*LANES-33:0] fill_q;         // all its words but the last, the youngest highest
    reg        drain_q;                // since the last flush something was outstanding in each cycle
    reg        stale_q;                // the request of then is still up
    reg        stale_we_q;
    reg [19:0] stale_addr_q;
    reg [31:0] stale_wdata_q;

    wire        quiet    = outstanding_q == 5'd0;
    wire        streg    = cur_valid_i & ~cur_load_i & ~cur_store_i;
    wire        room     = outstanding_q != 5'd16;
    wire        gather   = cur_valid_i & cur_gather_i;
    wire        load_up  = cur_valid_i & cur_load_i & ~cur_gather_i & room;
    wire        walk_up;
    wire [19:0] walk_addr;
    wire        walk_last;
    wire        walk_fault;
    wire        is_table;              // this response is a table word
    wire        tok_up   = streg & quiet;
    wire        row_up;                // the row register holds a word
    wire [31:0] row_word;
    wire        row_last;
    wire        accept   = req_valid_o & req_ready_i;
    wire [13:0] words    = {3'd0, cur_count_i} << WORD_BITS;
    wire        load_last = {1'b0, word_q} + 14'd1 == words;
    wire        last     = cur_gather_i ? walk_last : cur_load_i ? load_last : cur_store_i ? row_last : 1'b1;
    wire        is_row   = rsp_valid_i & ~is_table & ~drain_o;
    wire [3:0]  ahead    = outstanding_q[3:0] - {3'd0, rsp_valid_i};

    // At most one of these is up, a stale one because the queue is empty then. 0 when none is: descriptors that were never pushed
    // have no value.
    assign req_valid_o = load_up | walk_up | row_up | tok_up | stale_q;
    assign req_we_o    = row_up | tok_up | (stale_q & stale_we_q);
    assign req_addr_o  = stale_q ? stale_addr_q : walk_up ? walk_addr : req_valid_o ? cur_addr_i + {7'd0, word_q} : 20'd0;
    assign req_wdata_o = stale_q ? stale_wdata_q : row_up ? row_word : tok_up ? cur_word_i : 32'd0;
    assign drain_o     = drain_q & (stale_q | ~quiet);
    assign fault_o     = walk_fault & quiet;
    assign read_o      = accept & ~req_we_o;
    assign write_o     = accept & req_we_o;
    assign next_o      = accept & last & ~stale_q;
    // LANES/4 is a power of two: its last word is all ones, and the number comes back to 0 behind it.
    assign row_we_o    = is_row & (&fill_word_q);
    assign row_data_o  = {rsp_data_i, fill_q};
    assign pop_o       = (row_we_o & head_last_i) | (next_o & req_we_o);

    // Nets, so that a simulator looks at one bit each in most cycles.
    wire        flushing = flush_i | drain_q | stale_q;
    wire        captures = flush_i & ~stale_q;
    wire        moves    = read_o ^ rsp_valid_i;
    wire        steps    = accept & (load_up | row_up);
    // What a flush forgets of the DMA is what a reset clears of these two, and word, and fill_word.
    wire        work_n   = rst_ni & ~flush_i;

    ks_walk #(
        .LANES    (LANES),
        .EXT_WORDS(EXT_WORDS)
    ) walk (
        .clk_i       (clk_i),
        .rst_ni      (work_n),
        .btbase_i    (btbase_i),
        .btmask_i    (btmask_i),
        .pool_i      (pool_i),
        .logp_i      (logp_i),
        .npages_i    (npages_i),
        .gather_i    (gather),
        .first_i     (cur_word_i[22:0]),
        .kv_i        (cur_kv_i),
        .count_i     (cur_count_i),
        .room_i      (room),
        .ahead_i     (ahead),
        .up_o        (walk_up),
        .addr_o      (walk_addr),
        .last_o      (walk_last),
        .accept_i    (accept & walk_up),
        .rsp_valid_i (rsp_valid_i),
        .rsp_data_i  (rsp_data_i),
        .table_o     (is_table),
        .fault_o     (walk_fault),
        .fault_code_o(fault_code_o)
    );

    ks_row_sender #(
        .LANES(LANES)
    ) row_sender (
        .clk_i   (clk_i),
        .rst_ni  (work_n),
        .store_i (cur_valid_i & cur_store_i),
        .quiet_i (quiet),
        .first_i (cur_first_i),
        .count_i (cur_count_i),
        .launch_o(st_launch_o),
        .row_o   (st_row_o),
        .rdata_i (rdata_i),
        .valid_o (row_up),
        .data_o  (row_word),
        .last_o  (row_last),
        .accept_i(accept & row_up)
    );

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            outstanding_q <= 5'd0;
            drain_q       <= 1'b0;
            stale_q       <= 1'b0;
        end else begin
            if (flushing) begin
                drain_q <= flush_i | drain_o;
                stale_q <= req_valid_o & ~req_ready_i & (flush_i | stale_q);
            end
            if (moves) begin
                outstanding_q <= read_o ? outstanding_q + 5'd1 : outstanding_q - 5'd1;
            end
        end
        if (!work_n) begin
            word_q      <= 13'd0;
            fill_word_q <= {WORD_BITS{1'b0}};
        end else begin
            if (steps) begin
                word_q <= last ? 13'd0 : word_q + 13'd1;
            end
            if (is_row) begin
                fill_word_q <= fill_word_q + ONE;
            end
        end
        if (captures) begin
            stale_we_q    <= req_we_o;
            stale_addr_q  <= req_addr_o;
            stale_wdata_q <= req_wdata_o;
        end
        // Word 0 comes down to the low end with the last word but one.
        if (is_row) begin
            fill_q <= {rsp_data_i, fill_q[8*LANES-33:32]};
        end
    end

`ifndef SYNTHESIS
    reg         held_q;                // a request was up and not accepted
    reg  [52:0] held_req_q;
    wire [52:0] req   = {req_we_o, req_addr_o, req_wdata_o};
    wire        stuck = req_valid_o && !req_ready_i;
    // Looked at only where a request waits, and in reset.
    wire        watch = stuck || held_q || !rst_ni;
    // The port's promise: once raised, a request stays, unchanged, until it is accepted.
    wire        changed     = held_q && (!req_valid_o || held_req_q != req);
    // An answer without a question, or one that reaches an entry which is no load, would be written to a wrong row.
    wire        stray       = rsp_valid_i && (quiet || (!drain_o && !head_load_i));
    // A descriptor that came while the chip drains would raise a second request, and be given answers that are not its own.
    wire        drain_entry = drain_o && (cur_valid_i || head_load_i);
    // QUIET: a write overtakes no read.
    wire        overtaking  = req_valid_o && req_we_o && !quiet;
    // One bit for a simulator to look at in a cycle.
    wire        broken      = rst_ni && (changed || stray || drain_entry || overtaking);

    always @(posedge clk_i) begin
        if (watch) begin
            held_q     <= rst_ni & stuck;
            held_req_q <= req;
        end
        if (broken) begin
            if (changed) begin
                $display("ASSERTION ks_dma: request changed before its acceptance, time %0t", $time);
            end
            if (stray) begin
                $display("ASSERTION ks_dma: response without a read, time %0t", $time);
            end
            if (drain_entry) begin
                $display("ASSERTION ks_dma: a descriptor while the chip drains, time %0t", $time);
            end
            if (overtaking) begin
                $display("ASSERTION ks_dma: write while a read is outstanding, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
