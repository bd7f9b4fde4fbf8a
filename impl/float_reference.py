"""The decode step in float64, with the windowed cache that a host would keep. Source: docs/reference.md section 4.

What the integer decoder is measured against. Past keys and values are kept from step to step, never computed again, so
that the cut to the window is tested here too and not only in the host.
"""

import math
from typing import NamedTuple

import numpy as np

from impl.tiny_lm import FloatModel, Tensor


class Generation(NamedTuple):
    """The start token and the tokens that `steps` steps gave, and the logits (steps, V) of each step."""

    tokens: tuple[int, ...]
    logits: Tensor


class FloatDecoder:
    """One request on a float model: a step reads the rows that the window leaves, and keeps its own for the next.

    `window` None is full attention; with `sinks` S the first S rows stay, and the last window - S - 1 of the others.
    """

    __slots__ = ("_model", "_rows", "_sinks", "_window")

    def __init__(self, model: FloatModel, window: int | None, sinks: int = 0) -> None:
        """Raises ValueError for a window below 1, or for sinks outside 0 .. window - 1."""
        if window is not None and window < 1:
            raise ValueError(f"window {window} is below 1")
        if sinks < 0 or (window is not None and sinks >= window):
            raise ValueError(f"sinks {sinks} are not in 0 .. window - 1 (window {window})")
        self._model, self._window, self._sinks = model, window, sinks
        # (row, keys or values, element)
        self._rows: Tensor = np.empty((0, 2, model.width))

    def step(self, token: int) -> Tensor:
        """The logits (V,) after feeding the token. Raises ValueError for a token outside the vocabulary."""
        model = self._model
        if not 0 <= token < len(model.embedding):
            raise ValueError(f"token {token} is not in 0 .. {len(model.embedding) - 1}")
        x = model.embedding[token]
        row = np.stack((model.key @ x, model.value @ x))
        rows = np.concatenate((self._rows, row[np.newaxis]))
        self._rows = self._cut(rows)

        keys, values = rows[:, 0], rows[:, 1]
        scores = keys @ (model.query @ x) / math.sqrt(model.width)
        weights = np.exp(scores - scores.max())
        y = model.output @ (weights @ values / weights.sum())
        logits: Tensor = model.unembedding @ (y + x if model.residual else y)
        return logits

    def _cut(self, rows: Tensor) -> Tensor:
        """What the next step reads: with a window W, W - 1 past rows at most, those behind the sinks leaving first."""
        if self._window is None:
            return rows
        # Counted from the front: rows[-(window - 1):] would keep every row with a window of 1.
        surplus = max(0, len(rows) - (self._window - 1))
        return np.delete(rows, slice(self._sinks, self._sinks + surplus), axis=0)


def next_token(logits: Tensor) -> int:
    """The lowest index of the largest logit."""
    return int(logits.argmax())


def generate(model: FloatModel, start: int, steps: int, window: int | None, sinks: int = 0) -> Generation:
    """Decode greedily from one start token. Raises ValueError as FloatDecoder does."""
    decoder = FloatDecoder(model, window, sinks)
    tokens, logits = [start], np.empty((steps, len(model.unembedding)))
    for step in range(steps):
        logits[step] = decoder.step(tokens[-1])
        tokens.append(next_token(logits[step]))
    return Generation(tuple(tokens), logits)
