// ks_host: the host port with STATUS, ERRPC, TOK, R0 .. R7, the walker's registers and the instruction memory.
// Rule:    docs/chip.md, 3 Ports (register table, what takes writes) and 6 Start.
// Latency: reads are combinational; a write, start_o's run and end_i's outcome are visible one cycle later.
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
    output wire [31:0]  h_rdata_o,
    // run: start_o is high in the cycle whose edge starts it, end_i in the cycle whose edge ends it
    output wire         start_o,
    output wire         soft_o,        // a soft reset, which wins over all else in its cycle
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
    // registers of the walker
    output wire [19:0]  btbase_o,
    output wire [15:0]  btmask_o,
    output wire [19:0]  pool_o,
    output wire [2:0]   logp_o,
    output wire [16:0]  npages_o,
    // fetch
    input  wire [7:0]   fetch_i,
    output wire [63:0]  insn_o,
    // counters; there are seven, and the eighth reads 0
    output wire [2:0]   counter_index_o,
    input  wire [31:0]  counter_i
);
    reg [31:0] imem_lo_q [0:255];
    reg [31:0] imem_hi_q [0:255];
    reg [31:0] r_q [0:7];              // r_q[0] is never written and stays 0
    reg [31:0] tok_q;
    reg [19:0] btbase_q;
    reg [15:0] btmask_q;
    reg [19:0] pool_q;
    reg [2:0]  logp_q;
    reg [16:0] npages_q;
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
    wire       sel_ctrl     = h_addr_i == `KS_CSR_CTRL;
    wire       sel_r        = (h_addr_i & 11'h7F8) == `KS_CSR_R0;
    wire       sel_counters = (h_addr_i & 11'h7F8) == `KS_CSR_TOTAL;
    wire [7:0] h_insn       = h_addr_i[8:1];
    wire [2:0] h_index      = h_addr_i[2:0];
    wire       write        = h_we_i & ~busy_q;
    wire       imem_we      = write & sel_imem & rst_ni;
    wire       walk_we      = write & ((h_addr_i & 11'h7F8) == `KS_CSR_BTBASE);
    wire       r_we         = write & sel_r & (h_index != 3'd0);
    wire       clear        = ~rst_ni | soft_o;
    wire       changes      = r_we | tok_we_i | start_o | end_i;

    // Continuous assignments, so that a simulator follows one word and not the whole array.
    wire [31:0] imem_lo  = imem_lo_q[h_insn];
    wire [31:0] imem_hi  = imem_hi_q[h_insn];
    wire [31:0] r_host   = r_q[h_index];

    assign start_o  = write & sel_ctrl & h_wdata_i[0] & ~h_wdata_i[1];
    assign soft_o   = h_we_i & sel_ctrl & h_wdata_i[1];
    assign busy_o   = busy_q;
    assign tok_o    = tok_q;
    assign rc_o     = r_q[rc_i];
    assign rr_o     = r_q[rr_i];
    assign ra_o     = r_q[ra_i];
    assign btbase_o = btbase_q;
    assign btmask_o = btmask_q;
    assign pool_o   = pool_q;
    assign logp_o   = logp_q;
    assign npages_o = npages_q;
    assign counter_index_o = h_index;
    assign insn_o   = {imem_hi_q[fetch_i], imem_lo_q[fetch_i]};

    // Nets, so that a simulator works only where something changes.
    assign h_rdata_o = sel_imem                     ? (h_addr_i[0] ? imem_hi : imem_lo)
                     : sel_r                        ? r_host
                     : sel_counters                 ? counter_i
                     : h_addr_i == `KS_CSR_STATUS   ? {16'd0, code_q, 5'd0, err_q, done_q, busy_q}
                     : h_addr_i == `KS_CSR_ERRPC    ? {24'd0, errpc_q}
                     : h_addr_i == `KS_CSR_TOK      ? tok_q
                     : h_addr_i == `KS_CSR_BTBASE   ? {12'd0, btbase_q}
                     : h_addr_i == `KS_CSR_BTMASK   ? {16'd0, btmask_q}
                     : h_addr_i == `KS_CSR_POOL     ? {12'd0, pool_q}
                     : h_addr_i == `KS_CSR_LOGP     ? {29'd0, logp_q}
                     : h_addr_i == `KS_CSR_NPAGES   ? {15'd0, npages_q}
                     : 32'd0;

    always @(posedge clk_i) begin
        if (imem_we) begin
            if (h_addr_i[0]) begin
                imem_hi_q[h_insn] <= h_wdata_i;
            end else begin
                imem_lo_q[h_insn] <= h_wdata_i;
            end
        end
    end

    // A soft reset keeps these.
    always @(posedge clk_i) begin
        if (!rst_ni) begin
            btbase_q <= 20'd0;
            btmask_q <= 16'd0;
            pool_q   <= 20'd0;
            logp_q   <= 3'd0;
            npages_q <= 17'd0;
        end else if (walk_we) begin
            case (h_addr_i)
                `KS_CSR_BTBASE: btbase_q <= h_wdata_i[19:0];
                `KS_CSR_BTMASK: btmask_q <= h_wdata_i[15:0];
                `KS_CSR_POOL:   pool_q   <= h_wdata_i[19:0];
                `KS_CSR_LOGP:   logp_q   <= h_wdata_i[2:0];
                `KS_CSR_NPAGES: npages_q <= h_wdata_i[16:0];
                default: ;
            endcase
        end
    end

    always @(posedge clk_i) begin
        if (clear) begin
            busy_q  <= 1'b0;
            done_q  <= 1'b0;
            err_q   <= 1'b0;
            code_q  <= 8'd0;
            errpc_q <= 8'd0;
            tok_q   <= 32'd0;
            for (i = 0; i < 8; i = i + 1) begin
                r_q[i] <= 32'd0;
            end
        end else if (changes) begin
            if (r_we) begin
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
    // A run that ends without having started would report a program that never was.
    wire idle_end  = end_i && !busy_q;
    // TOK belongs to the host between runs: it must not change under its eyes.
    wire idle_tok  = tok_we_i && !busy_q;
    // STATUS never says both: a driver that polls done would read the counters of a run that goes on.
    wire busy_done = busy_q && done_q;
    // One bit for a simulator to look at in a cycle.
    wire broken    = rst_ni && (idle_end || idle_tok || busy_done);

    always @(posedge clk_i) begin
        if (broken) begin
            if (idle_end) begin
                $display("ASSERTION ks_host: end_i while not busy, time %0t", $time);
            end
            if (idle_tok) begin
                $display("ASSERTION ks_host: tok_we_i while not busy, time %0t", $time);
            end
            if (busy_done) begin
                $display("ASSERTION ks_host: busy and done, time %0t", $time);
            end
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
