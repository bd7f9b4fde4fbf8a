// ks_dma: raises the memory requests of the current entry and gives the head entry its responses.
// Rule:    docs/chip.md, 6 DMA, requests and DMA, responses; 5 QUIET.
// Latency: requests are combinational of registers; a loaded row is written in the cycle of its last word.
// Caller:  keeps the cur_ ports stable until next_o; rdata_i is the scratchpad's output, one cycle after st_launch_o.
`default_nettype none

module ks_dma #(
    parameter LANES = 16
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    // memory port
    output wire               req_valid_o,
    input  wire               req_ready_i,
    output wire               req_we_o,
    output wire [19:0]        req_addr_o,
    output wire [31:0]        req_wdata_o,
    input  wire               rsp_valid_i,
    input  wire [31:0]        rsp_data_i,
    // current entry; neither load nor store: STREG
    input  wire               cur_valid_i,
    input  wire               cur_load_i,
    input  wire               cur_store_i,
    input  wire [9:0]         cur_first_i,
    input  wire [10:0]        cur_count_i,
    input  wire [19:0]        cur_addr_i,
    input  wire [31:0]        cur_tok_i,
    output wire               next_o,
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
    reg [8*LANES-33:0] fill_q;         // all its words but the last

    wire        quiet    = outstanding_q == 5'd0;
    wire        streg    = cur_valid_i & ~cur_load_i & ~cur_store_i;
    wire        read_up  = cur_valid_i & cur_load_i & (outstanding_q != 5'd16);
    wire        tok_up   = streg & quiet;
    wire        row_up;                // the row register holds a word
    wire [31:0] row_word;
    wire        row_last;
    wire        accept   = req_valid_o & req_ready_i;
    wire [13:0] words    = {3'd0, cur_count_i} << WORD_BITS;
    wire        last     = cur_load_i ? {1'b0, word_q} + 14'd1 == words : cur_store_i ? row_last : 1'b1;
    wire [WORD_BITS+4:0] fill_bit = {fill_word_q, 5'd0};

    // 0 when no request is up: descriptors that were never pushed have no value.
    assign req_valid_o = read_up | row_up | tok_up;
    assign req_we_o    = row_up | tok_up;
    assign req_addr_o  = req_valid_o ? cur_addr_i + {7'd0, word_q} : 20'd0;
    assign req_wdata_o = row_up ? row_word : tok_up ? cur_tok_i : 32'd0;
    assign read_o      = accept & ~req_we_o;
    assign write_o     = accept & req_we_o;
    assign next_o      = accept & last;
    // LANES/4 is a power of two: its last word is all ones, and the number comes back to 0 behind it.
    assign row_we_o    = rsp_valid_i & (&fill_word_q);
    assign row_data_o  = {rsp_data_i, fill_q};
    assign pop_o       = (row_we_o & head_last_i) | (next_o & req_we_o);

    ks_row_sender #(
        .LANES(LANES)
    ) row_sender (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
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
            word_q        <= 13'd0;
            fill_word_q   <= {WORD_BITS{1'b0}};
        end else begin
            if (read_o != rsp_valid_i) begin
                outstanding_q <= read_o ? outstanding_q + 5'd1 : outstanding_q - 5'd1;
            end
            if (accept) begin
                word_q <= last ? 13'd0 : word_q + 13'd1;
            end
            if (rsp_valid_i) begin
                fill_word_q <= fill_word_q + ONE;
            end
        end
        if (rsp_valid_i & ~row_we_o) begin
            fill_q[fill_bit +: 32] <= rsp_data_i;
        end
    end

`ifndef SYNTHESIS
    reg        held_q;                 // a request was up and not accepted
    reg [52:0] held_req_q;

    always @(posedge clk_i) begin
        held_q     <= rst_ni & req_valid_o & ~req_ready_i;
        if (req_valid_o & ~req_ready_i) begin
            held_req_q <= {req_we_o, req_addr_o, req_wdata_o};
        end
        if (rst_ni) begin
            // The port's promise: once raised, a request stays, unchanged, until it is accepted.
            if (held_q && (!req_valid_o || held_req_q != {req_we_o, req_addr_o, req_wdata_o})) begin
                $display("ASSERTION ks_dma: request changed before its acceptance, time %0t", $time);
                $finish;
            end
            // An answer without a question, or one that reaches an entry which is no load, would be written to a wrong row.
            if (rsp_valid_i && (quiet || !head_load_i)) begin
                $display("ASSERTION ks_dma: response without a read, time %0t", $time);
                $finish;
            end
            // QUIET: a write overtakes no read.
            if (req_valid_o && req_we_o && !quiet) begin
                $display("ASSERTION ks_dma: write while a read is outstanding, time %0t", $time);
                $finish;
            end
        end
    end
`endif

endmodule

`default_nettype wire
