// ks_walk: walks a GATHER through the block table: reads the entries a page ahead, checks each row and raises its reads.
// Rule:    docs/chip.md, 4 GATHER and code 6 PAGE; 6 DMA, requests, current entry GATHER.
// Latency: requests are combinational of registers; an entry that arrives is used from the next cycle on.
// Caller:  holds gather_i and the descriptor's fields until the accept_i with last_o; accept_i only with up_o. rst_ni is low in a
//          flush, too. With fault_o nothing is raised until then.
`default_nettype none

`include "kestrel_isa.vh"

module ks_walk #(
    parameter LANES     = 16,
    parameter EXT_WORDS = 8192
) (
    input  wire        clk_i,
    input  wire        rst_ni,
    // registers of the host, unchanged while busy
    input  wire [19:0] btbase_i,
    input  wire [15:0] btmask_i,
    input  wire [19:0] pool_i,
    input  wire [2:0]  logp_i,
    input  wire [16:0] npages_i,
    // current entry
    input  wire        gather_i,
    input  wire [22:0] first_i,        // logical row of its row 0, as far as a slot's 16 bits of i >> LOGP go
    input  wire        kv_i,
    input  wire [10:0] count_i,
    // requests
    input  wire        room_i,         // fewer than 16 reads are outstanding
    input  wire [3:0]  ahead_i,        // those of them that are not answered in this cycle
    output wire        up_o,
    output wire [19:0] addr_o,
    output wire        last_o,         // last word of the last row
    input  wire        accept_i,
    // responses
    input  wire        rsp_valid_i,
    input  wire [31:0] rsp_data_i,
    output wire        table_o,        // this one is the table's
    // an error, for good
    output wire        fault_o,
    output wire [7:0]  fault_code_o
);
    localparam WORD_BITS = $clog2(LANES) - 2;
    localparam [WORD_BITS-1:0] ONE = 1;
    localparam [28:0] MEM_WORDS = EXT_WORDS;
    localparam [28:0] ROW_WORDS = 29'd1 << WORD_BITS;

    reg [10:0] k_q;                    // rows whose reads are all accepted
    reg [WORD_BITS-1:0] word_q;        // accepted words of row k
    reg        entry_valid_q;          // the page of row k
    reg        entry_beyond_q;         // its table word is beyond the memory, entry_q without meaning
    reg [31:0] entry_q;
    reg        next_valid_q;           // the page behind it, likewise
    reg        next_beyond_q;
    reg [31:0] next_q;
    reg        pending_q;              // a table read is on its way
    reg [3:0]  ahead_q;                // answers that come before its own
    reg        fault_q;
    reg        fault_page_q;           // PAGE, else EXT_RANGE

    // Row k in its page: P is 1 .. 128.
    wire [6:0]  mask   = ~(7'h7F << logp_i);
    wire [22:0] i      = first_i + {12'd0, k_q};
    wire [6:0]  offset = i[6:0] & mask;
    wire [7:0]  left   = {1'b0, mask ^ offset} + 8'd1;     // rows from k to the end of its page
    wire [10:0] k_next = k_q + 11'd1;
    wire        more   = {1'b0, k_q} + {4'd0, left} < {1'b0, count_i};

    // Table
    wire [22:0] i_table   = entry_valid_q ? i + {15'd0, left} : i;
    wire [4:0]  low_bit   = {2'd0, logp_i};
    wire [15:0] slot      = i_table[low_bit +: 16] & btmask_i;
    wire [20:0] slot_addr = {1'b0, btbase_i} + {5'd0, slot};
    wire        live      = gather_i & ~fault_q;
    wire        due       = live & ~pending_q & (~entry_valid_q | (~next_valid_q & more));
    wire        beyond    = {8'd0, slot_addr} >= MEM_WORDS;
    wire        mark      = due & beyond;
    wire        answer    = rsp_valid_i & pending_q & (ahead_q == 4'd0);
    wire        arrive    = mark | answer;

    // Row: halves of a page, and pages, follow one another, so that a place in the pool is {page, kv, offset} at any P.
    wire [15:0] page     = entry_q[15:0];
    wire [23:0] place    = ({7'd0, page, kv_i} << logp_i) | {17'd0, offset};
    wire [28:0] row_addr = {9'd0, pool_i} + ({5'd0, place} << WORD_BITS);
    wire        page_bad = ~entry_q[31] | (entry_q[30:16] != 15'd0) | ({1'b0, page} >= npages_i);
    wire        row_bad  = row_addr + ROW_WORDS > MEM_WORDS;
    wire        at_row   = live & ~due & entry_valid_q;
    wire        fail     = at_row & (word_q == {WORD_BITS{1'b0}}) & (entry_beyond_q | page_bad | row_bad);

    // LANES/4 is a power of two: its last word is all ones, and the number comes back to 0 behind it.
    wire        row_end  = accept_i & ~due & (&word_q);
    wire        turn     = row_end & (left == 8'd1);

    assign up_o         = room_i & (due ? ~beyond : at_row & ~fail);
    assign addr_o       = due ? slot_addr[19:0] : row_addr[19:0] + {{20 - WORD_BITS{1'b0}}, word_q};
    assign last_o       = ~due & (&word_q) & (k_next == count_i);
    assign table_o      = answer;
    assign fault_o      = fault_q;
    assign fault_code_o = fault_page_q ? `KS_ERR_PAGE : `KS_ERR_EXT_RANGE;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            k_q            <= 11'd0;
            word_q         <= {WORD_BITS{1'b0}};
            entry_valid_q  <= 1'b0;
            entry_beyond_q <= 1'b0;
            next_valid_q   <= 1'b0;
            next_beyond_q  <= 1'b0;
            pending_q      <= 1'b0;
            ahead_q        <= 4'd0;
            fault_q        <= 1'b0;
            fault_page_q   <= 1'b0;
        end else if (gather_i) begin
            if (accept_i & due) begin
                pending_q <= 1'b1;
                ahead_q   <= ahead_i;
            end else if (rsp_valid_i & pending_q) begin
                pending_q <= ~answer;
                ahead_q   <= ahead_q - 4'd1;
            end
            if (accept_i & ~due) begin
                word_q <= word_q + ONE;
            end
            if (row_end) begin
                k_q <= last_o ? 11'd0 : k_next;
            end
            if (accept_i & last_o) begin
                entry_valid_q <= 1'b0;
                next_valid_q  <= 1'b0;
            end else if (turn) begin
                entry_valid_q  <= arrive | next_valid_q;
                entry_beyond_q <= ~arrive & next_beyond_q;
                next_valid_q   <= 1'b0;
            end else if (arrive & entry_valid_q) begin
                next_valid_q  <= 1'b1;
                next_beyond_q <= mark;
            end else if (arrive) begin
                entry_valid_q  <= 1'b1;
                entry_beyond_q <= mark;
            end
            if (fail) begin
                fault_q      <= 1'b1;
                fault_page_q <= ~entry_beyond_q & page_bad;
            end
            if (turn | (answer & ~entry_valid_q)) begin
                entry_q <= answer ? rsp_data_i : next_q;
            end
            if (answer) begin
                next_q <= rsp_data_i;
            end
        end
    end

`ifndef SYNTHESIS
    // A table word without a place would overwrite the page whose rows are still to be read.
    wire third_entry = arrive && entry_valid_q && next_valid_q;
    // The next GATHER starts with its own entry and reads: nothing of this one may be left.
    wire stray_state = !gather_i && (entry_valid_q || next_valid_q || pending_q || fault_q || k_q != 11'd0);
    // The caller accepts what is raised.
    wire no_request  = accept_i && !up_o;
    // One bit for a simulator to look at in a cycle.
    wire broken      = rst_ni && (third_entry || stray_state || no_request);

    always @(posedge clk_i) begin
        if (broken) begin
            if (third_entry) begin
                $display("ASSERTION ks_walk: a third entry, time %0t", $time);
            end
            if (stray_state) begin
                $display("ASSERTION ks_walk: state without a GATHER, time %0t", $time);
            end
            if (no_request) begin
                $display("ASSERTION ks_walk: accept without a request, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
