"""The decode step: a token and the gathered rows before it give the next token and the new row.

A decoder knows no request and keeps nothing from step to step: what a step needs of the past comes with it. Source:
docs/reference.md section 4.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from impl.integer_model import LARGEST, SMALLEST, IntegerModel
from impl.model_files import exp_table

LONGEST_CONTEXT = 255
"""Rows that a step can attend, its own included: as many as 8 bits count."""

Rows = npt.NDArray[np.int8]
Wide = npt.NDArray[np.int64]

_SMALLEST, _LARGEST = np.array(SMALLEST), np.array(LARGEST)


class Context(NamedTuple):
    """The past rows that a step attends, ascending, each (m, d); the new row is not among them, m = 0 is legal."""

    keys: Rows
    values: Rows


class Places(NamedTuple):
    """What a decoder that gathers by itself is told instead of rows: where they stand, and where the new one goes.

    The step attends the rows first .. first + context - 2 of a request, and its own, which is the next one. `pages` are the
    pages that the request holds, that of the new row among them, in logical order from logical page `dropped` on. The new
    row goes to `slot`, page * page size + offset.
    """

    pages: Sequence[int]
    dropped: int
    first: int
    context: int
    slot: int


class Step(NamedTuple):
    """What a step gives: the next token, the logits (V,) that chose it, and the new row's key and value (d,)."""

    token: int
    logits: npt.NDArray[np.int32]
    key: Rows
    value: Rows


class ContextTooLongError(ValueError):
    """A step would attend more than LONGEST_CONTEXT rows."""


class Decoder(Protocol):
    """What the host decodes with: a model on some machine."""

    @property
    def width(self) -> int:
        """Elements d of a key or a value."""

    @property
    def vocabulary(self) -> int:
        """Tokens V: 0 .. V - 1."""

    def step(self, token: int, context: Context) -> Step:
        """Feed the token.

        Raises ValueError for a token outside the vocabulary or rows of another shape or dtype, ContextTooLongError for
        too many of them.
        """


def check_step(decoder: Decoder, token: int, context: Context) -> None:
    """Raise what Decoder.step raises for a token and rows that no decoder of that vocabulary and width takes."""
    keys, values = context
    check_token(decoder, token)
    shape = (len(keys), decoder.width)
    if keys.shape != shape or values.shape != shape or keys.dtype != np.int8 or values.dtype != np.int8:
        found = f"{keys.shape} of {keys.dtype} and {values.shape} of {values.dtype}"
        raise ValueError(f"keys and values are (m, {decoder.width}) of int8, not {found}")
    check_context(len(keys) + 1)


def check_token(decoder: Decoder, token: int) -> None:
    """ValueError for a token outside the decoder's vocabulary."""
    if not 0 <= token < decoder.vocabulary:
        raise ValueError(f"token {token} is not in 0 .. {decoder.vocabulary - 1}")


def check_context(context: int) -> None:
    """ContextTooLongError for a step that would attend so many rows, its own included, if they are too many."""
    if context > LONGEST_CONTEXT:
        raise ContextTooLongError(f"a step attends at most {LONGEST_CONTEXT} rows, not {context}")


class IntegerDecoder:
    """The integer step in numpy: exact, and fast enough that a host's own work shows beside it.

    Everything is held in 64 bits, which no sum of a step leaves, and single numbers as arrays without axes: numpy would
    look at a Python integer in every operation, which takes longer than the operation.
    """

    __slots__ = (
        "_embedding",
        "_exponent",
        "_exponentials",
        "_input_projections",
        "_input_requantisers",
        "_output",
        "_output_requantiser",
        "_residual",
        "_unembedding",
        "vocabulary",
        "width",
    )

    def __init__(self, model: IntegerModel) -> None:
        self.vocabulary, self.width = model.embedding.shape
        self._embedding = model.embedding.astype(np.int64)
        # One product gives q, k and v, hence one requantiser for each of its 3 d elements.
        self._input_projections = np.concatenate((model.query, model.key, model.value)).astype(np.int64)
        requantisers = np.repeat(np.array(model.requantisers[:3], np.int64), self.width, axis=0)
        self._input_requantisers = _Factor(*np.ascontiguousarray(requantisers.T))
        self._output = model.output.astype(np.int64)
        self._output_requantiser = _Factor(*model.requantisers.output)
        self._residual = model.residual * self._embedding
        self._exponent = _Factor(*model.exponent)
        self._exponentials = np.array(exp_table(), np.int64)
        self._unembedding = model.unembedding.astype(np.int64)

    def step(self, token: int, context: Context) -> Step:
        """Feed the token; see Decoder.step."""
        check_step(self, token, context)
        keys, values = context
        past, width = keys.shape
        sums = self._input_projections @ self._embedding[token]
        projected = _saturated(self._input_requantisers.applied(sums)).reshape(3, width)

        # (keys or values, row, element), the new row last.
        rows = np.empty((2, past + 1, width), np.int64)
        rows[0, :past], rows[1, :past], rows[:, past] = keys, values, projected[1:]

        scores = rows[0] @ projected[0]
        below = self._exponent.applied(scores.max() - scores)
        # Clipped to its last entry, as nothing is negative.
        weights = self._exponentials.take(below, mode="clip")
        total = int(weights.sum())
        mixed = weights @ rows[1]
        # The weighted mean, half up: (2 * mixed + total) // (2 * total).
        attended = (mixed + mixed + np.array(total)) // np.array(2 * total)

        result = _saturated(self._output_requantiser.applied(self._output @ attended + self._residual[token]))
        logits = (self._unembedding @ result).astype(np.int32)
        new = projected[1:].astype(np.int8)
        # argmax gives the lowest index of the largest.
        return Step(int(logits.argmax()), logits, new[0], new[1])


class _Factor:
    """m / 2**shift as a step applies it, one or one for each element."""

    __slots__ = ("_half", "_m", "_shift")

    def __init__(self, m: Wide | int, shift: Wide | int) -> None:
        self._m, self._shift = np.array(m), np.array(shift)
        self._half: Wide = np.array(1 << (self._shift - 1))

    def applied(self, sums: Wide) -> Wide:
        """The products, each rounded once, half up."""
        products: Wide = sums * self._m
        products += self._half
        products >>= self._shift
        return products


def _saturated(values: Wide) -> Wide:
    saturated: Wide = np.minimum(np.maximum(values, _SMALLEST), _LARGEST)
    return saturated
