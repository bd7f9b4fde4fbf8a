// ks_entries: the 16 requantisation entries that SETQ sets.
// Rule:    docs/chip.md, 4 SETQ; 1 (values after reset).
// Latency: a write is seen one cycle later; reads are combinational.
// Caller:  writes only while no op is active (IDLE).
`default_nettype none

module ks_entries (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire        we_i,
    input  wire [3:0]  widx_i,
    input  wire [15:0] m_i,
    input  wire [5:0]  sh_i,
    input  wire [9:0]  xrow_i,
    input  wire [15:0] rm_i,
    // for the head instruction: entries (hidx_i + i*hstep_i) mod 16, i = 0 .. 3
    input  wire [3:0]  hidx_i,
    input  wire        hstep_i,
    output wire [3:0]  hrm_nz_o,       // Rm of entry i is not 0
    output wire [39:0] hxrow_o,        // xrow of entry i, bits 10i+9:10i
    // for the active op
    input  wire [3:0]  ridx_i,
    output wire [15:0] m_o,
    output wire [5:0]  sh_o,
    output wire [15:0] rm_o
);
    reg [15:0] m_q [0:15];
    reg [5:0]  sh_q [0:15];
    reg [9:0]  xrow_q [0:15];
    reg [15:0] rm_q [0:15];
    integer    i;

    // Sized, so that the numbers wrap at 16.
    wire [3:0] h1 = hidx_i + {3'd0, hstep_i};
    wire [3:0] h2 = hidx_i + {2'd0, hstep_i, 1'b0};
    wire [3:0] h3 = h2 + {3'd0, hstep_i};

    assign hrm_nz_o = {rm_q[h3] != 16'd0, rm_q[h2] != 16'd0, rm_q[h1] != 16'd0, rm_q[hidx_i] != 16'd0};
    assign hxrow_o  = {xrow_q[h3], xrow_q[h2], xrow_q[h1], xrow_q[hidx_i]};
    assign m_o      = m_q[ridx_i];
    assign sh_o     = sh_q[ridx_i];
    assign rm_o     = rm_q[ridx_i];

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            for (i = 0; i < 16; i = i + 1) begin
                m_q[i]    <= 16'd32768;
                sh_q[i]   <= 6'd1;
                xrow_q[i] <= 10'd0;
                rm_q[i]   <= 16'd0;
            end
        end else if (we_i) begin
            m_q[widx_i]    <= m_i;
            sh_q[widx_i]   <= sh_i;
            xrow_q[widx_i] <= xrow_i;
            rm_q[widx_i]   <= rm_i;
        end
    end

`ifndef SYNTHESIS
    // Beyond these the product of RQ or its rounding term leaves 41 bits; ILLEGAL keeps such a SETQ out.
    wire broken = rst_ni && we_i && (!m_i[15] || sh_i == 6'd0 || sh_i > 6'd40);

    always @(posedge clk_i) begin
        if (broken) begin
            $display("ASSERTION ks_entries: M or sh out of range, time %0t", $time);
            $finish;
        end
    end
`endif

endmodule

`default_nettype wire
