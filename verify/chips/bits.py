"""Each bit of each instruction: set or cleared, the instruction is illegal or ends a run as the definition says (CHIP-ISA).

Every instruction stands alone before a HALT on a chip without a row, so that most end at once: with ILLEGAL, or with the error
that is looked for next, or by reading a row that has no value.
"""

from collections.abc import Iterator

import numpy as np

from impl.chip import Chip, ChipUnknown, Start
from impl.chip_model.machine import ChipModel
from spec.isa import Av, Dot, DotL, Fence, Gather, Halt, Load, Score, SetQ, Store, StReg, Words, encode
from verify.chips.spec_chip import SpecChip
from verify.decode.oracle import Found
from verify.refinement import Difference

WORDS = 16
MEMORY = np.zeros(WORDS, np.uint32)
BITS = 32

PLAIN = tuple(
    encode(instruction)
    for instruction in (
        Halt(),
        Fence(),
        SetQ(0, 32_768, 1),
        SetQ(0, 32_768, 40),
        Load(0, 0, 0),
        Store(0, 0, 0),
        Gather(0, 0, 0),
        StReg(0),
        Dot(0, 1, 0, 2, 0),
        DotL(0, 1, 0, 2),
        Score(0, 1, 0, 0),
        Av(1, 0, 2),
    )
)
"""One of each, which reads no row; SETQ with the smallest and the largest shift."""


def bits() -> Iterator[Found]:
    """What each word with one bit changed does on the cycle model, against what it means."""
    model, meaning = ChipModel(16, WORDS, cycle_limit=100), SpecChip(16, WORDS)
    for words in changed():
        right, said = end_of(meaning, words), end_of(model, words)
        found = [Difference("CHIP-ISA", f"{words[0]:08x} {words[1]:08x}: {right}", f"{said}")] if right != said else []
        yield found, 1


def changed() -> Iterator[Words]:
    """The plain words, each as it is and with each of its bits changed."""
    for low, high in PLAIN:
        yield low, high
        yield from ((low ^ 1 << bit, high) for bit in range(BITS))
        yield from ((low, high ^ 1 << bit) for bit in range(BITS))


def end_of(chip: Chip, words: Words) -> tuple[int, int] | None:
    """STATUS and ERRPC of the words before a HALT; None when a row without a value is read."""
    try:
        (result,) = chip.run([Start((words, encode(Halt())))], MEMORY)
    except ChipUnknown:
        return None
    return result.status, result.error_pc
