"""Long rows of tokens as runs of consecutive ones, so that a step and a whole check do not cost an object a row.

The requests of a trace have tens of thousands of rows, nearly all numbered consecutively. The oracle measures, joins and
slices rows and never looks into them, so it runs unchanged on a sequence whose cost is that of its runs. With tuples, a
one-row append would copy all the rows there are: two thousand requests of the longest trace take minutes for that alone.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from spec.operations import Append, Operation


class Tokens:
    """An immutable sequence of integers; equal to a tuple or another Tokens of the same integers.

    Of a tuple it has what the oracle uses: len, +, slices of step 1, iteration and equality.
    """

    __slots__ = ("_length", "_runs")

    def __init__(self, runs: Iterable[range]) -> None:
        joined: list[range] = []
        length = 0
        for run in runs:
            length += len(run)
            if joined and joined[-1].stop == run.start:
                joined[-1] = range(joined[-1].start, run.stop)
            elif run:
                joined.append(run)
        self._runs = tuple(joined)
        self._length = length

    @classmethod
    def of(cls, values: "Tokens | tuple[int, ...] | npt.NDArray[np.integer]") -> "Tokens":
        """The tokens in this tuple or one-dimensional array."""
        if isinstance(values, Tokens):
            return values
        if len(values) == 1:
            return _joined((range(values[0], values[0] + 1),), 1)
        if not len(values):
            return cls(())
        numbers = np.asarray(values, np.int64)
        breaks = (np.flatnonzero(numbers[1:] - numbers[:-1] != 1) + 1).tolist()
        firsts = numbers[[0, *breaks]].tolist()
        lasts = numbers[[*(at - 1 for at in breaks), -1]].tolist()
        return cls(range(first, last + 1) for first, last in zip(firsts, lasts, strict=True))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[np.int64]:
        """The tokens as a fresh array, which is what numpy asks for."""
        runs = [np.arange(run.start, run.stop, dtype=dtype) for run in self._runs]
        return runs[0] if len(runs) == 1 else np.concatenate([*runs, np.empty(0, dtype)])

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._runs)

    def __getitem__(self, part: slice) -> "Tokens":
        if part.step not in (None, 1):
            raise ValueError("slices of tokens have step 1")
        lo, hi, _ = part.indices(self._length)
        if lo == 0 and hi == self._length:
            return self
        runs = []
        for run in self._runs:
            runs.append(run[max(lo, 0) : max(hi, 0)])
            lo -= len(run)
            hi -= len(run)
        return Tokens(runs)

    def __add__(self, other: "Tokens | tuple[int, ...]") -> "Tokens":
        runs, more = self._runs, Tokens.of(other)
        if not (runs and more._runs):
            return self if runs else more
        last, first = runs[-1], more._runs[0]
        if last.stop != first.start:
            return _joined(runs + more._runs, self._length + more._length)
        joined = (*runs[:-1], range(last.start, first.stop), *more._runs[1:])
        return _joined(joined, self._length + more._length)

    def __radd__(self, other: "Tokens | tuple[int, ...]") -> "Tokens":
        return Tokens.of(other) + self

    def begins_with(self, prefix: "Tokens") -> bool:
        """Whether these tokens are those of `prefix` and then any or none."""
        at = len(prefix._runs) - 1
        if at < 0:
            return True
        # Runs are as long as they can be, so all of the prefix's but the last are here as they are.
        runs, last = self._runs, prefix._runs[at]
        if len(runs) <= at or runs[:at] != prefix._runs[:at]:
            return False
        return runs[at].start == last.start and runs[at].stop >= last.stop

    def continued(self, count: int) -> "Tokens":
        """These tokens and `count` more that go on from the last one; none at all when there is no last one."""
        if not self._runs:
            return self
        last = self._runs[-1]
        return _joined((*self._runs[:-1], range(last.start, last.stop + count)), self._length + count)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tokens):
            return self._runs == other._runs
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


def _joined(runs: tuple[range, ...], length: int) -> Tokens:
    """The tokens of these runs, none empty and each as long as it can be: every append makes some."""
    tokens = Tokens.__new__(Tokens)
    tokens._runs = runs
    tokens._length = length
    return tokens


def with_runs(operation: Operation) -> Operation:
    """The operation as the oracle is given it: an append's tokens as Tokens, which stand for the tuple that they equal."""
    if not isinstance(operation, Append):
        return operation
    tokens: Any = Tokens.of(operation.tokens)
    return Append(operation.request, tokens)
