"""The decode step in integers, exact to the bit: what a decoder must return for a token and its past rows (DEC-INT).

Tensors and rows are stored as int8 and widened to int64 before any arithmetic (spec.numerics). The past rows enter only
through a maximum and exact sums, so their order cannot matter (DEC-ORDER). Source: docs/reference.md section 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spec.attention import attended, check_token, next_token
from spec.numerics import (
    BEYOND_M,
    LEAST_M,
    RESIDUALS,
    SHIFTS,
    Integers,
    Multiplier,
    exponentials,
    requantised,
    rounded_mean,
)

Bytes = NDArray[np.int8]

LONGEST_CONTEXT = 255


class Multipliers(NamedTuple):
    """The multipliers of the four requantisations: of q, of a new row's key and value, and of y."""

    query: Multiplier
    key: Multiplier
    value: Multiplier
    output: Multiplier


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """A model in integers: embedding and unembedding (V, d), the others (d, d), all int8.

    `residual` is Rm, 0 for none; `exponent` is Me and she; a logit of 1 is worth `logit_scale`. ValueError for another
    shape or type, and for a multiplier or a residual out of its range.
    """

    embedding: Bytes
    query: Bytes
    key: Bytes
    value: Bytes
    output: Bytes
    unembedding: Bytes
    multipliers: Multipliers
    residual: int
    exponent: Multiplier
    logit_scale: float

    def __post_init__(self) -> None:
        if self.embedding.ndim != 2 or 0 in self.embedding.shape:
            raise ValueError(f"an embedding has one row a token, none empty, got shape {self.embedding.shape}")
        vocabulary, width = self.embedding.shape
        _check_bytes("embedding", self.embedding, (vocabulary, width))
        _check_bytes("unembedding", self.unembedding, (vocabulary, width))
        for name in ("query", "key", "value", "output"):
            _check_bytes(name, getattr(self, name), (width, width))
        for by in (*self.multipliers, self.exponent):
            if not LEAST_M <= by.m < BEYOND_M or by.shift not in SHIFTS:
                raise ValueError(f"a multiplier has m in 2^15 .. 2^16 - 1 and a shift in 1 .. 40, got {by}")
        if self.residual not in RESIDUALS:
            raise ValueError(f"a residual has 16 bits with its sign, got {self.residual}")


class Step(NamedTuple):
    """What one step gives: the next token, the logits (V,) int32, and the new token's row, key and value (d,) int8."""

    token: int
    logits: NDArray[np.int32]
    key: Bytes
    value: Bytes


def row(parameters: Parameters, token: int) -> tuple[Bytes, Bytes]:
    """(key, value), each (d,) int8, of a token's row: of the token alone, for there are no positions."""
    keys, values = rows(parameters, [token])
    return keys[0], values[0]


def rows(parameters: Parameters, tokens: Sequence[int]) -> tuple[Bytes, Bytes]:
    """(keys, values), each (len(tokens), d) int8, of the tokens' rows. ValueError for a token outside the vocabulary."""
    for token in tokens:
        check_token(token, len(parameters.embedding))
    x = _wide(parameters.embedding[np.array(tokens, np.intp)])
    keys = requantised(x @ _wide(parameters.key).T, parameters.multipliers.key)
    values = requantised(x @ _wide(parameters.value).T, parameters.multipliers.value)
    return keys.astype(np.int8), values.astype(np.int8)


def step_from_rows(parameters: Parameters, token: int, keys: Bytes, values: Bytes) -> Step:
    """The step of `token` over past rows `keys` and `values`, (m, d) int8 each, m = 0 .. 254, in any order.

    ValueError for more rows, another shape or type, and a token outside the vocabulary.
    """
    width = parameters.embedding.shape[1]
    _check_bytes("keys", keys, (len(keys), width))
    _check_bytes("values", values, (len(keys), width))
    if len(keys) + 1 > LONGEST_CONTEXT:
        raise ValueError(f"a step attends at most {LONGEST_CONTEXT} tokens, got {len(keys) + 1}")
    new_key, new_value = row(parameters, token)
    x = _wide(parameters.embedding[token])
    q = requantised(_wide(parameters.query) @ x, parameters.multipliers.query)
    e = exponentials(_wide(np.vstack((keys, new_key))) @ q, parameters.exponent)
    o = rounded_mean(e @ _wide(np.vstack((values, new_value))), int(e.sum()))
    y = requantised(_wide(parameters.output) @ o, parameters.multipliers.output, parameters.residual, x)
    logits = (_wide(parameters.unembedding) @ y).astype(np.int32)
    return Step(next_token(logits), logits, new_key, new_value)


def step_from_tokens(parameters: Parameters, tokens: Sequence[int], window: int | None, sinks: int = 0) -> Step:
    """Step len(tokens), the last token being the new one, over the rows that the window rule names (WIN-2, WIN-6).

    ValueError as for `spec.attention.attended` and `step_from_rows`.
    """
    *past, token = attended(tokens, window, sinks, len(parameters.embedding))
    return step_from_rows(parameters, token, *rows(parameters, past))


def _wide(stored: Bytes) -> Integers:
    return stored.astype(np.int64)


def _check_bytes(name: str, array: Bytes, shape: tuple[int, ...]) -> None:
    if array.shape != shape or array.dtype != np.int8:
        raise ValueError(f"{name} is int8 of shape {shape}, got {array.dtype} of shape {array.shape}")
