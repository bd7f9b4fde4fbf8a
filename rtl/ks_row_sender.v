// ks_row_sender: reads the rows of a store and sends them word by word from a row register with a next register behind it.
// Rule:    docs/chip.md, 6 DMA, requests, current entry STORE.
// Latency: a row launched in cycle c is in the row register, its word 0 raised, from c + 2.
// Caller:  holds store_i, first_i, count_i until the accept_i with last_o; raises accept_i only with valid_o.
`default_nettype none

module ks_row_sender #(
    parameter LANES = 16
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    input  wire               store_i,     // the current entry is a store
    input  wire               quiet_i,     // no read is outstanding
    input  wire [9:0]         first_i,
    input  wire [10:0]        count_i,
    output wire               launch_o,
    output wire [9:0]         row_o,
    input  wire [8*LANES-1:0] rdata_i,     // the row launched in the cycle before
    output wire               valid_o,
    output wire [31:0]        data_o,
    output wire               last_o,      // last word of the last row
    input  wire               accept_i
);
    localparam WORD_BITS = $clog2(LANES) - 2;
    localparam [WORD_BITS-1:0] ONE = 1;

    reg [10:0]        launched_q;      // rows of this store
    reg               flight_q;        // rdata_i is a row of this store
    reg               row_valid_q;
    reg [8*LANES-1:0] row_q;           // its word in the low 32 bits
    reg [WORD_BITS-1:0] word_q;
    reg               next_valid_q;
    reg [8*LANES-1:0] next_q;

    wire all     = launched_q == count_i;
    // LANES/4 is a power of two: its last word is all ones, and the number comes back to 0 behind it.
    wire row_end = accept_i & (&word_q);
    wire free    = ~row_valid_q | row_end;

    assign launch_o = store_i & quiet_i & ~all & ~flight_q & ~next_valid_q;
    assign row_o    = first_i + launched_q[9:0];
    assign valid_o  = row_valid_q;
    assign data_o   = row_q[31:0];
    // With every row launched and none behind it, the row register's is the last one.
    assign last_o   = (&word_q) & all & ~flight_q & ~next_valid_q;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            launched_q   <= 11'd0;
            flight_q     <= 1'b0;
            row_valid_q  <= 1'b0;
            word_q       <= {WORD_BITS{1'b0}};
            next_valid_q <= 1'b0;
        end else if (store_i) begin
            flight_q <= launch_o;
            if (launch_o) begin
                launched_q <= launched_q + 11'd1;
            end else if (accept_i & last_o) begin
                launched_q <= 11'd0;
            end
            if (accept_i) begin
                word_q <= word_q + ONE;
            end
            if (free) begin
                row_valid_q  <= flight_q | next_valid_q;
                next_valid_q <= 1'b0;
            end else begin
                next_valid_q <= next_valid_q | flight_q;
            end
            if (free) begin
                row_q <= flight_q ? rdata_i : next_q;
            end else if (accept_i) begin
                row_q <= row_q >> 32;
            end
            if (flight_q) begin
                next_q <= rdata_i;
            end
        end
    end

`ifndef SYNTHESIS
    // A row that arrives must find room: the launch waited for the next register.
    wire no_room = flight_q && next_valid_q;
    // The caller accepts a word that is up, of a store that is still the current entry.
    wire no_word = accept_i && (!row_valid_q || !store_i);
    // One bit for a simulator to look at in a cycle.
    wire broken  = rst_ni && (no_room || no_word);

    always @(posedge clk_i) begin
        if (broken) begin
            if (no_room) begin
                $display("ASSERTION ks_row_sender: a row arrives and the next register is full, time %0t", $time);
            end
            if (no_word) begin
                $display("ASSERTION ks_row_sender: accept without a word, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
