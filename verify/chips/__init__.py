"""Running programs on the chip: its RTL in Icarus and Verilator behind a fork server, and its definition, all of them the
same to whoever runs a program; docs/chip.md."""
