"""The decode step in float64, recomputed from the token ids: no cache, so nothing in it can be out of date.

One attention layer, one new token a step, width d, vocabulary V, no positions. Source: docs/reference.md section 4.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spec.window import rows_read

Floats = NDArray[np.float64]


class Tensors(NamedTuple):
    """A model in float64: embedding and unembedding (V, d), the others (d, d); with the residual, y gets x added."""

    embedding: Floats
    query: Floats
    key: Floats
    value: Floats
    output: Floats
    unembedding: Floats
    residual: bool


def attended(tokens: Sequence[int], window: int | None, sinks: int, vocabulary: int) -> list[int]:
    """The tokens that step len(tokens) attends (WIN-1, WIN-2, WIN-6), ascending by row, the new token last.

    `tokens` are those of rows 0 .. L-2 and the new one. ValueError for none, for one outside 0 .. vocabulary - 1 (among
    all, attended or not), and where spec.window has one.
    """
    for token in tokens:
        check_token(token, vocabulary)
    ranges = rows_read(len(tokens), window, sinks)
    return [tokens[row] for lo, hi in ranges for row in range(lo, hi)] + [tokens[-1]]


def logits(tensors: Tensors, tokens: Sequence[int], window: int | None, sinks: int = 0) -> Floats:
    """The logits, (V,), of step len(tokens), whose new token is the last one (DEC-FLOAT, DEC-FULL).

    ValueError as for `attended`.
    """
    seen = tensors.embedding[attended(tokens, window, sinks, len(tensors.embedding))]
    x = seen[-1]
    query = tensors.query @ x
    keys, values = seen @ tensors.key.T, seen @ tensors.value.T
    scores = keys @ query / np.sqrt(len(x))
    # A softmax is the same after any shift of its scores; by the largest, nothing overflows.
    weights = np.exp(scores - scores.max())
    y: Floats = tensors.output @ (weights @ values / weights.sum())
    if tensors.residual:
        y = y + x
    result: Floats = tensors.unembedding @ y
    return result


def next_token(logits: NDArray[np.float64] | NDArray[np.int32]) -> int:
    """The lowest index of the largest logit, float or integer."""
    # argmax gives the first of equals.
    return int(np.argmax(logits))


def check_token(token: int, vocabulary: int) -> None:
    """ValueError unless the token is in 0 .. vocabulary - 1."""
    if not 0 <= token < vocabulary:
        raise ValueError(f"a token is in 0 .. {vocabulary - 1}, got {token}")
