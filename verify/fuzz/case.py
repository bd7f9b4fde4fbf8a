"""A case of the fuzzer: the chip's width, what memory begins as, the starts of one life, and how memory answers."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from impl.chip import MemoryWords, Profile, Start
from spec.isa import EXT_WORDS

STYLES = ("zeros", "small", "bytes", "extremes")
"""What the bytes of memory are: all 0; -3 .. 3; anything; mostly -128, -127 and 127."""

SEEDS = 8
"""Seeds in use: few, so that memories are made once."""

_SMALL = np.array([0, 1, 2, 3, -1, -2, -3, 0], np.int8).view(np.uint8)
_EXTREMES = np.array([-128, 127, -127, 127, -128, 0, -128, 127], np.int8).view(np.uint8)


@dataclass(frozen=True, slots=True)
class Contents:
    """What external memory begins as, by a formula of ours, so that a witness says all of it in two words."""

    style: str = "zeros"
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class FuzzCase:
    """Starts on a chip of `lanes`, from power-on, with memory of `contents` that answers as `profile` says."""

    lanes: int
    contents: Contents
    starts: tuple[Start, ...]
    profile: Profile = Profile()  # noqa: RUF009 immutable

    @property
    def memory(self) -> MemoryWords:
        """What external memory begins as; not to be changed."""
        return memory_of(self.contents)

    @property
    def instructions(self) -> int:
        """Instructions of all its programs."""
        return sum(len(start.program or ()) for start in self.starts)

    @property
    def timed(self) -> bool:
        """Whether what happens depends on cycles, so that the definition, which has none, cannot say it."""
        return self.profile.mute_after > 0 or any(start.reset_at for start in self.starts)


@lru_cache(maxsize=64)
def memory_of(contents: Contents) -> MemoryWords:
    """The words of external memory, read-only. ValueError for a style that there is not."""
    if contents.style not in STYLES:
        raise ValueError(f"memory is one of {', '.join(STYLES)}, not {contents.style!r}")
    mixed = _mixed(np.arange(4 * EXT_WORDS, dtype=np.uint32), contents.seed)
    high = (mixed >> np.uint32(24)).astype(np.uint8)
    match contents.style:
        case "zeros":
            found = np.zeros_like(high)
        case "small":
            found = _SMALL[high % len(_SMALL)]
        case "bytes":
            found = high
        case _:
            found = _EXTREMES[high % len(_EXTREMES)]
    words = np.ascontiguousarray(found).view("<u4").astype(np.uint32)
    words.flags.writeable = False
    return words


def _mixed(numbers: MemoryWords, seed: int) -> MemoryWords:
    """A number for each number: multiplications and shifts modulo 2^32, always the same."""
    mixed = (numbers + np.uint32(seed * 0x9E3779B1 & 0xFFFF_FFFF)) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ mixed >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return (mixed ^ mixed >> np.uint32(16)) * np.uint32(0x27D4EB2F)
