"""The Verilog header of the chip's vocabulary: opcodes, codes, host addresses, CTRL's bits, generated from spec.isa.

`python -m spec.isa_header > rtl/kestrel_isa.vh` writes it. Source: docs/chip.md sections 3, 4 and 6.
"""

from spec.isa import IMEM_BASE, RESET, START, WATCHDOG_CYCLES, ErrorCode, Op, Register

COMMAND = "python -m spec.isa_header > rtl/kestrel_isa.vh"


def verilog_header() -> str:
    """The text of rtl/kestrel_isa.vh: one sized `define a name, in the order of spec.isa."""
    lines = [
        f"// Generated from spec/isa.py, not written: {COMMAND}",
        "`ifndef KESTREL_ISA_VH",
        "`define KESTREL_ISA_VH",
        "",
        *(f"`define KS_OP_{op.name} 6'd{op.value}" for op in Op),
        "",
        *(f"`define KS_ERR_{code.name} 8'd{code.value}" for code in ErrorCode),
        "",
        *(f"`define KS_CSR_{register.name} 11'h{register.value:03x}" for register in Register),
        "",
        f"`define KS_IMEM_BASE 11'h{IMEM_BASE:03x}",
        "",
        f"`define KS_CTRL_START 32'd{START}",
        f"`define KS_CTRL_RESET 32'd{RESET}",
        "",
        f"`define KS_WATCHDOG_CYCLES 13'd{WATCHDOG_CYCLES}",
        "",
        "`endif",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(verilog_header(), end="")
