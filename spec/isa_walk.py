"""Where a GATHER finds its rows: the walk through the block table, and its first error, row by row (CHIP-GATHER).

The block table is a ring of words, {valid[31], 0[30:16], page[15:0]}, of which logical row i has slot
(i >> LOGP) & BTMASK. Source: docs/chip.md section 4, GATHER and PAGE.
"""

from typing import NamedTuple

from spec.isa import ErrorCode
from spec.isa_machine import MODULUS, Machine

VALID = 1 << 31
PAGE_NUMBERS = 1 << 16


class Walked(NamedTuple):
    """Addresses of the rows before the first error, all of them with NONE, and that error (docs/chip.md section 4)."""

    addresses: tuple[int, ...]
    error: ErrorCode


def walked(first_row: int, count: int, half: int, machine: Machine) -> Walked:
    """The walk of logical rows first_row .. of the keys (half 0) or values (half 1), modulo 2^32."""
    addresses: list[int] = []
    page = 0
    for k in range(count):
        row = (first_row + k) % MODULUS
        if k == 0 or row % machine.walker.rows_a_page == 0:
            word_address = _entry_address(row, machine)
            if word_address >= len(machine.memory):
                return Walked(tuple(addresses), ErrorCode.EXT_RANGE)
            page = int(machine.memory[word_address]) ^ VALID
        # A word that is not valid, or that has a bit between, is now at least PAGE_NUMBERS, as no page is.
        if page >= min(PAGE_NUMBERS, machine.walker.npages):
            return Walked(tuple(addresses), ErrorCode.PAGE)
        address = _row_address(page, half, row, machine)
        if address + machine.words_a_row > len(machine.memory):
            return Walked(tuple(addresses), ErrorCode.EXT_RANGE)
        addresses.append(address)
    return Walked(tuple(addresses), ErrorCode.NONE)


def _entry_address(row: int, machine: Machine) -> int:
    return machine.walker.btbase + (row >> machine.walker.logp & machine.walker.btmask)


def _row_address(page: int, half: int, row: int, machine: Machine) -> int:
    """POOL + page*2*P*RW + half*P*RW + (row & (P-1))*RW (docs/chip.md section 4)."""
    rows = machine.walker.rows_a_page
    return machine.walker.pool + ((2 * page + half) * rows + row % rows) * machine.words_a_row
