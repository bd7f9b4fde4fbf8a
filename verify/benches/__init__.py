"""Cocotb benches of the chip: one per RTL module, protocol checks per edge, and one whole decode step."""
