// ks_host: the host port with STATUS, ERRPC, TOK, R0 .. R7 and the instruction memory.
// Rule:    docs/chip.md, 3 Ports (register table, what takes writes) and 6 Start.
// Latency: reads are combinational; a write, start_i's run and end_i's outcome are visible one cycle later.
// Caller:  raises end_i and tok_we_i only while busy_o.
`default_nettype none

`include "kestrel_isa.vh"

module ks_host (
    input  wire         clk_i,
    input  wire         rst_ni,
    // host port
    input  wire         h_we_i,
    input  wire [10:0]  h_addr_i,
    input  wire [31:0]  h_wdata_i,
    output reg  [31:0]  h_rdata_o,
    // run: start_o is high in the cycle whose edge starts it, end_i in the cycle whose edge ends it
    output wire         start_o,
    output wire         busy_o,
    input  wire         end_i,
    input  wire [7:0]   end_code_i,    // 0: HALT
    input  wire [7:0]   end_pc_i,      // kept only with a code
    // TOK
    input  wire         tok_we_i,
    input  wire [31:0]  tok_i,
    output wire [31:0]  tok_o,
    // registers that the head instruction names
    input  wire [2:0]   rc_i,
    input  wire [2:0]   rr_i,
    input  wire [2:0]   ra_i,
    output wire [31:0]  rc_o,
    output wire [31:0]  rr_o,
    output wire [31:0]  ra_o,
    // fetch
    input  wire [7:0]   fetch_i,
    output wire [63:0]  insn_o,
    // counters, TOTAL in the low word, WRW in the high one
    input  wire [223:0] counters_i
);
    reg [31:0] imem_lo_q [0:255];
    reg [31:0] imem_hi_q [0:255];
    reg [31:0] r_q [0:7];              // r_q[0] is never written and stays 0
    reg [31:0] tok_q;
    reg        busy_q;
    reg        done_q;
    reg        err_q;
    reg [7:0]  code_q;
    reg [7:0]  errpc_q;
    integer    i;

    // IMEM is 0 at power-on and no reset touches it.
    initial begin
        for (i = 0; i < 256; i = i + 1) begin
            imem_lo_q[i] = 32'd0;
            imem_hi_q[i] = 32'd0;
        end
    end

    wire       sel_imem     = (h_addr_i & 11'h600) == `KS_IMEM_BASE;
    wire       sel_r        = (h_addr_i & 11'h7F8) == `KS_CSR_R0;
    wire       sel_counters = (h_addr_i & 11'h7F8) == `KS_CSR_TOTAL;
    wire [7:0] h_insn       = h_addr_i[8:1];
    wire [2:0] h_index      = h_addr_i[2:0];
    wire [7:0] counter_bit  = {h_index, 5'd0};
    wire       write        = h_we_i & ~busy_q;

    // Continuous assignments, so that a simulator follows one word and not the whole array.
    wire [31:0] imem_lo  = imem_lo_q[h_insn];
    wire [31:0] imem_hi  = imem_hi_q[h_insn];
    wire [31:0] r_host   = r_q[h_index];

    // There are seven counters: the address of an eighth reads 0.
    wire [31:0] counter = counters_i[counter_bit +: 32];

    assign start_o = write & (h_addr_i == `KS_CSR_CTRL) & h_wdata_i[0];
    assign busy_o  = busy_q;
    assign tok_o   = tok_q;
    assign rc_o    = r_q[rc_i];
    assign rr_o    = r_q[rr_i];
    assign ra_o    = r_q[ra_i];
    assign insn_o  = {imem_hi_q[fetch_i], imem_lo_q[fetch_i]};

    always @* begin
        h_rdata_o = 32'd0;
        if (sel_imem) begin
            h_rdata_o = h_addr_i[0] ? imem_hi : imem_lo;
        end else if (sel_r) begin
            h_rdata_o = r_host;
        end else if (sel_counters) begin
            h_rdata_o = h_index == 3'd7 ? 32'd0 : counter;
        end else begin
            case (h_addr_i)
                `KS_CSR_STATUS: h_rdata_o = {16'd0, code_q, 5'd0, err_q, done_q, busy_q};
                `KS_CSR_ERRPC:  h_rdata_o = {24'd0, errpc_q};
                `KS_CSR_TOK:    h_rdata_o = tok_q;
                default:        h_rdata_o = 32'd0;
            endcase
        end
    end

    always @(posedge clk_i) begin
        if (write & sel_imem & rst_ni) begin
            if (h_addr_i[0]) begin
                imem_hi_q[h_insn] <= h_wdata_i;
            end else begin
                imem_lo_q[h_insn] <= h_wdata_i;
            end
        end
    end

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q  <= 1'b0;
            done_q  <= 1'b0;
            err_q   <= 1'b0;
            code_q  <= 8'd0;
            errpc_q <= 8'd0;
            tok_q   <= 32'd0;
            for (i = 0; i < 8; i = i + 1) begin
                r_q[i] <= 32'd0;
            end
        end else begin
            if (write & sel_r & (h_index != 3'd0)) begin
                r_q[h_index] <= h_wdata_i;
            end
            if (tok_we_i) begin
                tok_q <= tok_i;
            end
            if (start_o) begin
                busy_q  <= 1'b1;
                done_q  <= 1'b0;
                err_q   <= 1'b0;
                code_q  <= 8'd0;
                errpc_q <= 8'd0;
            end else if (end_i) begin
                busy_q <= 1'b0;
                done_q <= 1'b1;
                if (end_code_i != 8'd0) begin
                    err_q   <= 1'b1;
                    code_q  <= end_code_i;
                    errpc_q <= end_pc_i;
                end
            end
        end
    end

`ifndef SYNTHESIS
    always @(posedge clk_i) begin
        if (rst_ni) begin
            // A run that ends without having started would report a program that never was.
            if (end_i && !busy_q) begin
                $display("ASSERTION ks_host: end_i while not busy, time %0t", $time);
                $finish;
            end
            // TOK belongs to the host between runs: it must not change under its eyes.
            if (tok_we_i && !busy_q) begin
                $display("ASSERTION ks_host: tok_we_i while not busy, time %0t", $time);
                $finish;
            end
            // STATUS never says both: a driver that polls done would read the counters of a run that goes on.
            if (busy_q && done_q) begin
                $display("ASSERTION ks_host: busy and done, time %0t", $time);
                $finish;
            end
        end
    end
`endif

endmodule

`default_nettype wire
