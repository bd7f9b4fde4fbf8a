"""What the cycle model refuses, as the protocol in impl/chip.py and docs/chip.md say: requests that no chip can be asked.

Each is a size, memory, a profile or a start with one number beyond its range, and beside it is the nearest one that is in range.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from impl.chip import ChipTimeout, ChipUnknown, Profile, Start
from impl.chip_model.machine import ChipModel
from impl.program import to_words
from spec.isa import IMEM_INSTRUCTIONS, RESET, START, Fence, Halt, Register, Store, encode
from verify.decode.oracle import Found
from verify.refinement import Difference

WORDS = 64
MEMORY = np.zeros(WORDS, np.uint32)
HALT = Start(to_words((Halt(),)))

Attempt = Callable[[], object]


def refused() -> Iterator[Found]:
    """Which requests are refused, and which are not (CHIP-ISA)."""
    for what, beyond, within, error in attempts():
        found = [*attempted(f"{what} beyond its range", beyond, error), *attempted(f"{what} within it", within, None)]
        yield found, 2


def attempts() -> Iterator[tuple[str, Attempt, Attempt, type[Exception]]]:
    """What, a request with it beyond its range, one with it within it, and the error of the first."""
    for lanes in (0, 8, 15, 17, 64):
        yield "lanes", partial(ChipModel, lanes), partial(ChipModel, 32), ValueError
    for memory in (MEMORY[1:], np.zeros(WORDS + 1, np.uint32), MEMORY.astype(np.int64), MEMORY.reshape(2, -1)):
        yield "memory", _run(HALT, memory=memory), _run(HALT), ValueError
    for beyond, within in (
        (Profile(0), Profile(1)),
        (Profile(1, mute_after=-1), Profile(1, mute_after=1)),
        (Profile(1, seed=1 << 32), Profile(1, seed=(1 << 32) - 1)),
        (Profile(1, seed=-1), Profile(1, seed=1)),
        (Profile(1, seed=1, mute_after=1), Profile(0, seed=1)),
        (Profile(0, mute_after=1), Profile(2, mute_after=1)),
    ):
        yield f"{beyond}", _run(HALT, beyond), _run(HALT, within), ValueError
    for wrong, right in (
        ({"reset_at": -1}, {"reset_at": 0}),
        ({"registers": ((1 << 11, 0),)}, {"registers": (((1 << 11) - 1, 0),)}),
        ({"registers": ((-1, 0),)}, {"registers": ((0x1C, 0),)}),
        ({"registers": ((9, 1 << 32),)}, {"registers": ((9, (1 << 32) - 1),)}),
        ({"registers": ((9, -1),)}, {"registers": ((9, 0),)}),
        ({"registers": ((Register.CTRL, START),)}, {"registers": ((Register.CTRL, START | RESET), (Register.CTRL, 4))}),
        ({"memory": ((WORDS, MEMORY[:1]),)}, {"memory": ((WORDS - 1, MEMORY[:1]),)}),
        ({"memory": ((1, MEMORY),)}, {"memory": ((0, MEMORY),)}),
        ({"memory": ((-1, MEMORY[:1]),)}, {"memory": ((WORDS, MEMORY[:0]),)}),
        ({"program": (encode(Halt()),) * (IMEM_INSTRUCTIONS + 1)}, {"program": (encode(Halt()),) * IMEM_INSTRUCTIONS}),
    ):
        yield f"{wrong}"[:60], _run(replace(HALT, **wrong)), _run(replace(HALT, **right)), ValueError
    fences = Start(to_words((*(Fence() for _ in range(8)), Halt())))
    yield "the cycle limit", _run(fences, limit=9), _run(fences, limit=10), ChipTimeout
    behind, at = (_run(replace(fences, reset_at=cycle), limit=7) for cycle in (8, 7))
    yield "a reset at the cycle limit", behind, at, ChipTimeout
    yield "a row without a value", _run(Start(to_words((Store(5, 1, 0), Halt())))), _run(HALT), ChipUnknown


def _run(start: Start, profile: Profile = Profile(), memory: Any = MEMORY, limit: int = 100) -> Attempt:  # noqa: B008
    return lambda: ChipModel(16, WORDS, limit).run([start], memory, profile)


def attempted(what: str, attempt: Attempt, error: type[Exception] | None) -> Iterator[Difference]:
    """The difference when the attempt does not raise this error, or raises one where there is none."""
    try:
        attempt()
    except Exception as raised:
        said: type[Exception] | None = type(raised)
    else:
        said = None
    if said is not error:
        yield Difference("CHIP-ISA", f"{what}: {error and error.__name__}", f"{said and said.__name__}")
