"""What an observer sees of a cycle. Source: docs/chip.md section 6, for who compares this model with another, cycle by cycle."""

from typing import NamedTuple

from impl.chip_model.sequencer import Head


class Snapshot(NamedTuple):
    """A busy cycle, counted from 1 after the start, before the edge that ends it: registers, and what goes on."""

    cycle: int
    head_pc: int
    head: Head
    occupancy: int
    outstanding: int
    read: int | None
    """The address of the read that is accepted."""
    write: tuple[int, int] | None
    """The address and the word of the write that is accepted."""
    response: int | None
    loaded_row: int | None
    store_reads: bool
    active: bool
    waits: bool
    enters: bool
    out_row: int | None
    """The row that the out register is to be written to, while it is valid."""
