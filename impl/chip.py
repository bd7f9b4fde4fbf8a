"""What runs a program on the chip, whoever does it: a model of it, its RTL in a simulator, or its definition.

A run is one life of the chip, from power-on, with one or more starts in it. Source: docs/chip.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from spec.isa import Words

MemoryWords = npt.NDArray[np.uint32]


class Counters(NamedTuple):
    """The chip's counters at the end of a run, in cycles and words; docs/chip.md section 6."""

    total: int
    dma: int
    mac: int
    vec: int
    stall: int
    read_words: int
    written_words: int


class Profile(NamedTuple):
    """How memory answers a run; docs/chip.md section 6.

    Fixed: always ready, an answer `latency` cycles, at least 1, after the read was accepted. With a `seed`, 32 bits and not
    0: RANDOM, which has no use for the latency. With `mute_after`, not 0: MUTE, fixed until so many requests of a run are
    accepted, then not ready and silent until the run has ended. At most one of the two is not 0.
    """

    latency: int = 4
    seed: int = 0
    mute_after: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """One start: what the host writes before it, memory first, then the program, then registers in this order.

    `program` None leaves the instruction memory as it is, a program sets its first instructions. `registers` are (host
    address, value), no start among them, `memory` are (word address, words). With `reset_at` the host does a soft reset: in
    the busy cycle of that number, the first is 1, if the run still lasts then, or with 0 before all that this start writes.
    The result of a start that was reset is what the registers then read.
    """

    program: tuple[Words, ...] | None = None
    registers: tuple[tuple[int, int], ...] = ()
    memory: tuple[tuple[int, MemoryWords], ...] = ()
    reset_at: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a start leaves: all of memory, TOK, STATUS, ERRPC, and the counters where the chip has time at all."""

    memory: MemoryWords
    token: int
    status: int
    error_pc: int
    counters: Counters | None


class ChipError(Exception):
    """The chip gave no result."""


class ChipDied(ChipError):  # noqa: N818
    """What runs the chip ended by itself, or said what makes no sense."""


class ChipTimeout(ChipError):  # noqa: N818
    """A start did not end within the cycles that the chip was given."""


class ChipUnknown(ChipError):  # noqa: N818
    """An output, a request, a counter or a written word was neither 0 nor 1, or a program read what nobody wrote."""


class Chip(Protocol):
    """Whatever runs programs for this chip."""

    @property
    def lanes(self) -> int:
        """Lanes L, the width of the models that it decodes."""

    @property
    def words(self) -> int:
        """Words of external memory."""

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """A result for each start, on memory that begins as `memory`, which is not changed.

        Raises ValueError for memory of another size or a write outside of it, and ChipError.
        """
