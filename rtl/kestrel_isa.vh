// Generated from spec/isa.py, not written: python -m spec.isa_header > rtl/kestrel_isa.vh
`ifndef KESTREL_ISA_VH
`define KESTREL_ISA_VH

`define KS_OP_HALT 6'd1
`define KS_OP_FENCE 6'd2
`define KS_OP_SETQ 6'd4
`define KS_OP_LOAD 6'd8
`define KS_OP_STORE 6'd9
`define KS_OP_GATHER 6'd10
`define KS_OP_STREG 6'd12
`define KS_OP_DOT 6'd16
`define KS_OP_DOTL 6'd17
`define KS_OP_SCORE 6'd18
`define KS_OP_AV 6'd19

`define KS_ERR_NONE 8'd0
`define KS_ERR_ILLEGAL 8'd1
`define KS_ERR_EXT_RANGE 8'd2
`define KS_ERR_ROW_RANGE 8'd3
`define KS_ERR_COUNT 8'd4
`define KS_ERR_DIV0 8'd5
`define KS_ERR_PAGE 8'd6
`define KS_ERR_PC_END 8'd7
`define KS_ERR_TIMEOUT 8'd8

`define KS_CSR_CTRL 11'h000
`define KS_CSR_STATUS 11'h001
`define KS_CSR_ERRPC 11'h002
`define KS_CSR_TOK 11'h003
`define KS_CSR_R0 11'h008
`define KS_CSR_R1 11'h009
`define KS_CSR_R2 11'h00a
`define KS_CSR_R3 11'h00b
`define KS_CSR_R4 11'h00c
`define KS_CSR_R5 11'h00d
`define KS_CSR_R6 11'h00e
`define KS_CSR_R7 11'h00f
`define KS_CSR_TOTAL 11'h010
`define KS_CSR_DMA 11'h011
`define KS_CSR_MAC 11'h012
`define KS_CSR_VEC 11'h013
`define KS_CSR_STALL 11'h014
`define KS_CSR_RDW 11'h015
`define KS_CSR_WRW 11'h016
`define KS_CSR_BTBASE 11'h018
`define KS_CSR_BTMASK 11'h019
`define KS_CSR_POOL 11'h01a
`define KS_CSR_LOGP 11'h01b
`define KS_CSR_NPAGES 11'h01d

`define KS_IMEM_BASE 11'h400

`define KS_CTRL_START 32'd1
`define KS_CTRL_RESET 32'd2

`define KS_WATCHDOG_CYCLES 13'd4096

`endif
