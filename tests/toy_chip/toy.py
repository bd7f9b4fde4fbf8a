"""The stand-in in a simulator, and what it can be told to do."""

from enum import IntEnum
from pathlib import Path

import numpy as np

from impl.chip import MemoryWords, Start
from verify.chips.icarus import IcarusChip
from verify.chips.simulated import SimulatedChip
from verify.chips.verilator import VerilatorChip

LISTING = Path(__file__).with_name("files.f")
KINDS: dict[str, type[SimulatedChip]] = {"icarus": IcarusChip, "verilator": VerilatorChip}
LANES, WORDS = 16, 100
"""Of the stand-in; its memory does not end with a whole block of the bench."""

CYCLES, CPU_SECONDS = 5000, 0.5
MEMORY: MemoryWords = np.arange(1, WORDS + 1, dtype=np.uint32) * np.uint32(0x01020304)


class Misdeed(IntEnum):
    """What the stand-in does wrong; kestrel.v has the same numbers."""

    NONE = 0
    X_VALID = 1
    X_WRITE = 2
    X_COUNTER = 3
    FINISH = 4
    ZERO_DELAY = 5
    READ_DATA = 6
    ASSERTION = 7
    BABBLE = 8
    ENDLESS = 9
    BEYOND = 10
    GREEDY = 11
    PIPELINED = 12
    """No misdeed: it reads a word a cycle, sums with weights that tell their order, and writes nothing."""
    CHANGES = 13
    DROPS = 14
    FORGETS = 15
    DEAF = 16


def toy(kind: str, cycle_limit: int = CYCLES) -> SimulatedChip:
    """The stand-in in that simulator, not started yet."""
    return KINDS[kind](LANES, WORDS, rtl=LISTING, cycle_limit=cycle_limit, cpu_seconds=CPU_SECONDS)


def copies(
    words: int,
    source: int = 0,
    target: int = 0,
    misdeed: Misdeed = Misdeed.NONE,
    wait: int = 0,
    reset_at: int | None = None,
) -> Start:
    """A start that copies words of memory."""
    return Start(((misdeed, 0),), ((9, wait), (10, words), (11, source), (12, target)), reset_at=reset_at)
