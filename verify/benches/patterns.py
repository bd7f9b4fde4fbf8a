"""How a memory behaves, as data: when it is ready, and how long it takes to answer.

`ready` is a pattern of cycles, `gaps` one of reads: gap 0 answers in the cycle after the acceptance, or in the one after
the answer before. Both repeat for ever.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traffic:
    """One memory: `ready` 1 or 0 a cycle, `gaps` cycles by which an answer is later than it could be."""

    name: str
    ready: tuple[int, ...] = (1,)
    gaps: tuple[int, ...] = (0,)


def steady(latency: int) -> Traffic:
    """Always ready, a read of cycle c answered in c + latency (docs/chip.md, memory profile)."""
    return Traffic(f"latency_{latency}", gaps=(latency - 1,))


def scattered(seed: int, length: int = 211) -> Traffic:
    """As the profile RANDOM: not ready in one cycle of four, answers later by 0 .. 15, from the same state x."""
    states = [seed]
    for _ in range(length - 1):
        x = states[-1]
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        states.append(x ^ x << 5 & 0xFFFFFFFF)
    return Traffic("scattered", tuple(int(x & 3 != 0) for x in states), tuple(x >> 8 & 15 for x in states[:-2]))


PATTERNS: tuple[Traffic, ...] = (
    Traffic("always"),
    steady(4),
    steady(23),
    Traffic("alternate", ready=(1, 0)),
    Traffic("refuses_first", ready=(0, 0, 1)),
    Traffic("bursts", ready=(1,) * 5 + (0,) * 5, gaps=(0, 0, 0, 7)),
    Traffic("long_pauses", ready=(1,) * 40 + (0,) * 60, gaps=(0,) * 15 + (50,)),
    Traffic("prime_beats", ready=(1, 1, 0, 1, 0, 0, 1), gaps=(0, 3, 0, 0, 11)),
    Traffic("answers_in_a_bunch", gaps=(70,) + (0,) * 15),
    Traffic("full_of_outstanding", gaps=(40,)),
    scattered(0x2545F491),
)
"""Steady, alternating, bursty and pausing memories; lengths are often coprime, so that the two patterns shift."""

FEW = tuple(
    each for each in PATTERNS if each.name in ("always", "latency_23", "alternate", "long_pauses", "prime_beats")
)
"""One of each kind, for benches that take long."""
