"""A chip that is not ours: what a factory makes that somebody names as module:factory; docs/your-rtl.md.

The module is found as Python finds it, from the current folder and PYTHONPATH on. Whatever the chip does wrong is a ChipError:
only what it cannot be blamed for, a tool that is missing or a wrong request, is another one.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

import numpy as np

from impl.chip import Chip, ChipDied, ChipError, Counters, MemoryWords, Profile, Result, Start
from verify.chips import exchange
from verify.chips.builds import BuildFailedError
from verify.chips.tools import ToolMissing

Factory = Callable[[int, int], AbstractContextManager[Chip]]
"""What is named: given lanes and words of memory, a context manager whose value is the chip."""

NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class BrokenChipError(Exception):
    """What is named is not there, or makes no chip of that size."""


class OwnChip:
    """A chip of somebody's own, held to the protocol of impl.chip."""

    def __init__(self, inner: Chip) -> None:
        self.inner = inner

    @property
    def lanes(self) -> int:
        return self.inner.lanes

    @property
    def words(self) -> int:
        return self.inner.words

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """A result for each start, as the chip said. Raises ChipDied for what is no result, and for any exception of the chip."""
        exchange.check(starts, memory, self.words, profile)
        try:
            results = self.inner.run(starts, memory, profile)
        except (ChipError, ToolMissing, BuildFailedError):
            raise
        except Exception as error:
            raise ChipDied(f"it raised {type(error).__name__}: {error}") from error
        if not isinstance(results, list) or len(results) != len(starts):
            raise ChipDied(f"its run gave no list of {len(starts)} results")
        for result in results:
            _check(result, self.words)
        return results


def is_own(name: str) -> bool:
    """Whether the name is that of a factory."""
    return NAME.fullmatch(name) is not None


@contextmanager
def open_own(name: str, lanes: int, words: int) -> Iterator[OwnChip]:
    """The chip that module:factory makes. Raises BrokenChipError."""
    factory = _factory(name)
    with ExitStack() as running:
        try:
            chip = running.enter_context(factory(lanes, words))
            size = chip.lanes, chip.words
        except (ToolMissing, BuildFailedError):
            raise
        except Exception as error:
            raise BrokenChipError(f"{name} of {lanes} lanes: {type(error).__name__}: {error}") from error
        if size != (lanes, words):
            raise BrokenChipError(f"{name} made a chip of (lanes, words) {size}, not {(lanes, words)}")
        yield OwnChip(chip)


def _factory(name: str) -> Factory:
    module, _, path = name.partition(":")
    try:
        found = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise BrokenChipError(f"{name}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise BrokenChipError(f"{name} cannot be called")
    factory: Factory = found
    return factory


def _check(result: object, words: int) -> None:
    """ChipDied for what is no Result of a chip with so many words."""
    if not isinstance(result, Result):
        raise ChipDied(f"a result is a {type(result).__name__}")
    memory = result.memory
    if not isinstance(memory, np.ndarray) or memory.dtype != np.uint32 or memory.shape != (words,):
        raise ChipDied(f"the memory of a result is no array of {words} uint32")
    numbers = (result.token, result.status, result.error_pc, *(result.counters or ()))
    if not all(isinstance(number, int) for number in numbers):
        raise ChipDied("a token, status, ERRPC or counter of a result is no int")
    if not isinstance(result.counters, Counters | None):
        raise ChipDied("the counters of a result are neither Counters nor None")
