"""From a model in float64 to its integers: static symmetric scales, from the tensors alone (DEC-MODEL).

An int8 v of scale s stands for the real v * s. Scales and their quotients are float64: they settle an integer by one
rounding each, and are far finer than it is. Source: docs/reference.md section 5.
"""

import math

import numpy as np

from spec.attention import Floats, Tensors
from spec.decode import Bytes, Multipliers, Parameters
from spec.numerics import multiplier


def quantised(tensors: Tensors) -> Parameters:
    """The integers of a model. ValueError when they do not exist.

    That is when nothing but zeros or something infinite is to be scaled, when a multiplier's shift would be outside
    1 .. 40, and when the residual would not fit 16 bits.
    """
    embedding = tensors.embedding
    # Taken before any product is, so that no infinity gets into one.
    scale_x, scale_query, scale_key, scale_value, scale_output, scale_unembedding = map(scale, tensors[:6])
    values = embedding @ tensors.value.T
    scale_q, scale_k, scale_v = scale(embedding @ tensors.query.T), scale(embedding @ tensors.key.T), scale(values)
    # o is a mean of values, so it needs no range of its own.
    scale_o = scale_v
    scale_y = scale(reach(values @ tensors.output.T, embedding if tensors.residual else np.zeros_like(embedding)))
    return Parameters(
        embedding=rounded(embedding),
        query=rounded(tensors.query),
        key=rounded(tensors.key),
        value=rounded(tensors.value),
        output=rounded(tensors.output),
        unembedding=rounded(tensors.unembedding),
        multipliers=Multipliers(
            query=multiplier(scale_x * scale_query / scale_q),
            key=multiplier(scale_x * scale_key / scale_k),
            value=multiplier(scale_x * scale_value / scale_v),
            output=multiplier(scale_o * scale_output / scale_y),
        ),
        residual=math.floor(scale_x / (scale_o * scale_output) + 0.5) if tensors.residual else 0,
        exponent=multiplier(32 * scale_q * scale_k / math.sqrt(embedding.shape[1])),
        logit_scale=scale_y * scale_unembedding,
    )


def scale(values: Floats) -> float:
    """What 1 stands for when the largest magnitude is to be 127. ValueError when that is 0 or not finite."""
    largest = float(np.abs(values).max())
    if not 0 < largest < math.inf:
        raise ValueError(f"a scale needs a finite magnitude above 0, got {largest}")
    return largest / 127


def rounded(tensor: Floats) -> Bytes:
    """The tensor in units of its own scale, rounded half up: int8, within -127 .. 127."""
    return np.floor(tensor / scale(tensor) + 0.5).astype(np.int8)


def reach(mixed: Floats, added: Floats) -> Floats:
    """The ends, (2, d), of what y can be: output by output the sum of the largest, and of the least, of both (V, d).

    `mixed` are the outputs of each token alone. Attention mixes tokens in any proportion and adds the row of one of
    them, not always of one it mixes most, so each of the two runs over its whole interval.
    """
    return np.stack((mixed.max(axis=0) + added.max(axis=0), mixed.min(axis=0) + added.min(axis=0)))
