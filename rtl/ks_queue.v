// ks_queue: a ring of 8 descriptors with the head entry (oldest) and the current entry (oldest with requests to come).
// Rule:    docs/chip.md, 6 Queue.
// Latency: a push is seen one cycle later; pop_i, next_i and row_i take effect at the edge.
// Caller:  rst_ni is low in a flush, too; pushes only when not full_o; next_i only with cur_valid_o, pop_i never before the
//          entry's next_i (a write: with it).
`default_nettype none

module ks_queue (
    input  wire        clk_i,
    input  wire        rst_ni,
    // push; a GATHER is a load; neither load nor store: STREG
    input  wire        push_i,
    input  wire        push_load_i,
    input  wire        push_gather_i,
    input  wire        push_store_i,
    input  wire [9:0]  push_first_i,
    input  wire [10:0] push_count_i,
    input  wire [19:0] push_addr_i,
    input  wire [31:0] push_word_i,    // STREG: TOK; GATHER: the logical row of its first row
    input  wire        push_kv_i,
    input  wire [7:0]  push_pc_i,
    output wire        empty_o,
    output wire        full_o,
    // current entry
    output wire        cur_valid_o,
    output wire        cur_load_o,
    output wire        cur_gather_o,
    output wire        cur_store_o,
    output wire [9:0]  cur_first_o,
    output wire [10:0] cur_count_o,
    output wire [19:0] cur_addr_o,
    output wire [31:0] cur_word_o,
    output wire        cur_kv_o,
    output wire [7:0]  cur_pc_o,
    input  wire        next_i,         // its last request is accepted
    // head entry
    output wire        head_load_o,    // there is one, and it is a load
    output wire [9:0]  head_row_o,     // the row that it writes next
    output wire        head_last_o,    // that row is its last
    input  wire        row_i,          // that row is written
    input  wire        pop_i,          // the entry leaves
    // for ks_hazard: loads with the rows still owed, stores with all rows
    output wire [7:0]  q_load_o,
    output wire [7:0]  q_store_o,
    output wire [79:0] q_first_o,
    output wire [87:0] q_end_o
);
    reg [2:0]  head_q;
    reg [2:0]  cur_q;
    reg [2:0]  tail_q;
    reg [3:0]  occupancy_q;
    reg [3:0]  pending_q;              // entries from the current one to the youngest
    reg [7:0]  load_q;                 // 0 in an entry that is not occupied; so is store_q
    reg [7:0]  store_q;
    reg [79:0] first_q;                // a load's moves up with each row that it wrote
    reg [87:0] end_q;
    reg [10:0] count_q [0:7];
    reg [19:0] addr_q [0:7];
    reg [31:0] word_q [0:7];
    reg [7:0]  pc_q [0:7];             // instruction number, for ERRPC
    reg [7:0]  gather_q;
    reg [7:0]  kv_q;

    // Sized, since an index expression does not wrap in every simulator.
    wire [6:0]  head_bit  = {4'd0, head_q} * 7'd10;
    wire [6:0]  cur_bit   = {4'd0, cur_q} * 7'd10;
    wire [6:0]  tail_bit  = {4'd0, tail_q} * 7'd10;
    wire [6:0]  head_ebit = {4'd0, head_q} * 7'd11;
    wire [6:0]  tail_ebit = {4'd0, tail_q} * 7'd11;
    wire [9:0]  head_row  = first_q[head_bit +: 10];
    wire [10:0] head_next = {1'b0, head_row} + 11'd1;

    wire        occupied_moves = push_i ^ pop_i;
    wire        pending_moves  = push_i ^ next_i;
    wire        changes        = push_i | pop_i | next_i | row_i;

    assign empty_o      = occupancy_q == 4'd0;
    assign full_o       = occupancy_q == 4'd8;
    assign cur_valid_o  = pending_q != 4'd0;
    assign cur_load_o   = load_q[cur_q];
    assign cur_gather_o = gather_q[cur_q];
    assign cur_store_o  = store_q[cur_q];
    assign cur_first_o  = first_q[cur_bit +: 10];
    assign cur_count_o  = count_q[cur_q];
    assign cur_addr_o   = addr_q[cur_q];
    assign cur_word_o   = word_q[cur_q];
    assign cur_kv_o     = kv_q[cur_q];
    assign cur_pc_o     = pc_q[cur_q];
    assign head_load_o  = load_q[head_q];
    assign head_row_o   = head_row;
    assign head_last_o  = head_next == end_q[head_ebit +: 11];
    assign q_load_o     = load_q;
    assign q_store_o    = store_q;
    assign q_first_o    = first_q;
    assign q_end_o      = end_q;

    always @(posedge clk_i) begin
        if (push_i) begin
            count_q[tail_q] <= push_count_i;
            addr_q[tail_q]  <= push_addr_i;
            word_q[tail_q]  <= push_word_i;
            pc_q[tail_q]    <= push_pc_i;
            kv_q[tail_q]    <= push_kv_i;
        end
        if (!rst_ni) begin
            head_q      <= 3'd0;
            cur_q       <= 3'd0;
            tail_q      <= 3'd0;
            occupancy_q <= 4'd0;
            pending_q   <= 4'd0;
            load_q      <= 8'd0;
            store_q     <= 8'd0;
            gather_q    <= 8'd0;
            first_q     <= 80'd0;
            end_q       <= 88'd0;
        end else if (changes) begin
            if (row_i) begin
                first_q[head_bit +: 10] <= head_next[9:0];
            end
            if (pop_i) begin
                head_q          <= head_q + 3'd1;
                load_q[head_q]  <= 1'b0;
                store_q[head_q] <= 1'b0;
            end
            if (push_i) begin
                tail_q                  <= tail_q + 3'd1;
                load_q[tail_q]          <= push_load_i;
                store_q[tail_q]         <= push_store_i;
                gather_q[tail_q]        <= push_gather_i;
                first_q[tail_bit +: 10] <= push_first_i;
                end_q[tail_ebit +: 11]  <= {1'b0, push_first_i} + push_count_i;
            end
            if (next_i) begin
                cur_q <= cur_q + 3'd1;
            end
            if (occupied_moves) begin
                occupancy_q <= push_i ? occupancy_q + 4'd1 : occupancy_q - 4'd1;
            end
            if (pending_moves) begin
                pending_q <= push_i ? pending_q + 4'd1 : pending_q - 4'd1;
            end
        end
    end

`ifndef SYNTHESIS
    // A ninth descriptor would overwrite the oldest.
    wire ninth    = push_i && full_o;
    // Only the entry that exists can leave or move on.
    wire no_entry = (pop_i && empty_o) || (next_i && !cur_valid_o) || (row_i && !head_load_o);
    // An entry leaves after its requests: else the current entry would be older than the head.
    wire cur_left = pending_q > occupancy_q;
    // One bit for a simulator to look at in a cycle.
    wire broken   = rst_ni && (ninth || no_entry || cur_left);

    always @(posedge clk_i) begin
        if (broken) begin
            if (ninth) begin
                $display("ASSERTION ks_queue: push into a full queue, time %0t", $time);
            end
            if (no_entry) begin
                $display("ASSERTION ks_queue: pop, next or row without its entry, time %0t", $time);
            end
            if (cur_left) begin
                $display("ASSERTION ks_queue: current entry has left, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
