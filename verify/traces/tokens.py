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
        for run in runs:
            if joined and joined[-1].stop == run.start:
                joined[-1] = range(joined[-1].start, run.stop)
            elif run:
                joined.append(run)
        self._runs = tuple(joined)
        self._length = sum(map(len, joined))

    @classmethod
    def of(cls, values: "tuple[int, ...] | npt.NDArray[np.integer]") -> "Tokens":
        """The tokens in this tuple or one-dimensional array."""
        if len(values) <= 1:
            return cls(range(token, token + 1) for token in values)
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
        runs = []
        for run in self._runs:
            runs.append(run[max(lo, 0) : max(hi, 0)])
            lo -= len(run)
            hi -= len(run)
        return Tokens(runs)

    def __add__(self, other: "Tokens | tuple[int, ...]") -> "Tokens":
        return Tokens((*self._runs, *_runs(other)))

    def __radd__(self, other: "Tokens | tuple[int, ...]") -> "Tokens":
        return Tokens((*_runs(other), *self._runs))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tokens):
            return self._runs == other._runs
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


def _runs(tokens: Tokens | tuple[int, ...]) -> tuple[range, ...]:
    return tokens._runs if isinstance(tokens, Tokens) else Tokens.of(tokens)._runs


def with_runs(operation: Operation) -> Operation:
    """The operation as the oracle is given it: an append's tokens as Tokens, which stand for the tuple that they equal."""
    if not isinstance(operation, Append):
        return operation
    tokens: Any = Tokens.of(operation.tokens)
    return Append(operation.request, tokens)
