"""Models that no training gives: every int8 value and any legal multiplier, ties, scores beyond exp, nothing to attend.

A model whose integers come from float tensors never holds -128, never saturates and seldom ties, so it would not show
whether a decoder does these right.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from impl.decoder import Context
from impl.integer_model import IntegerModel, Requantiser, Requantisers, Scales
from impl.tiny_lm import VOCABULARY, FloatModel

EVERY_BYTE = tuple(range(-128, 128))
PALETTES: tuple[tuple[int, ...], ...] = (
    EVERY_BYTE,
    (-128, 127),
    (-128,),
    (127,),
    (-1, 0, 1),
    (0,),
    (-128, -127, 126, 127),
)
"""Values to draw the elements of a tensor or of rows from."""

TYPICAL = (
    Requantiser(40_503, 23),
    Requantiser(51_234, 23),
    Requantiser(33_333, 22),
    Requantiser(60_001, 23),
    Requantiser(45_678, 24),
)
"""Of q, k, v, y and the exponent. Each brings a sum of products of any two int8 to about its range, sometimes beyond."""


def hostile(
    seed: int,
    width: int,
    palette: Sequence[int] = EVERY_BYTE,
    multipliers: Sequence[Requantiser] = TYPICAL,
    residual: int = 300,
) -> IntegerModel:
    """A model of elements of the palette and multipliers of q, k, v, y and the exponent. Every logit ties with another."""
    draw = np.random.default_rng(seed)
    values = np.array(palette, np.int8)
    inner = (width, width)
    unembedding = draw.choice(values, (VOCABULARY // 2, width))
    *projections, exponent = multipliers
    return IntegerModel(
        name=f"hostile-{seed}-{width}",
        embedding=draw.choice(values, (VOCABULARY, width)),
        query=draw.choice(values, inner),
        key=draw.choice(values, inner),
        value=draw.choice(values, inner),
        output=draw.choice(values, inner),
        unembedding=np.concatenate((unembedding, unembedding)),
        requantisers=Requantisers(*projections),
        residual=residual,
        exponent=exponent,
        scales=Scales(*[1.0] * len(Scales.__dataclass_fields__)),
    )


def ruler() -> IntegerModel:
    """A model of width 16 in which a past row of `ruled(i)` weighs entry i of the table of exponentials, and y shows it."""
    first = np.zeros((16, 16), np.int8)
    first[0, 0] = 1
    identity = np.eye(16, dtype=np.int8)
    as_it_is = Requantiser(2**15, 15)
    # The new key is 127 and the query 1; the new values differ, so that some o is near a half whatever the weight.
    return replace(
        hostile(0, 16, multipliers=[as_it_is] * 5, residual=0),
        name="ruler",
        embedding=np.repeat(first[:1], VOCABULARY, axis=0),
        query=first,
        key=127 * first,
        value=np.outer(127 - 7 * np.arange(16), first[0]).astype(np.int8),
        output=identity,
        unembedding=identity,
    )


def ruled(index: int) -> Context:
    """A past row `index` below the score of the ruler's new one, 0 .. 255, with values far from its."""
    keys = np.zeros((1, 16), np.int8)
    keys[0, 0] = 127 - index
    return Context(keys, (-128 + 5 * np.arange(16)).astype(np.int8)[np.newaxis])


def hostile_rows(seed: int, rows: int, width: int, palette: Sequence[int] = EVERY_BYTE) -> Context:
    """Past rows of elements of the palette, among them rows that no token has; read-only, as they are not the decoder's."""
    draw = np.random.default_rng(seed)
    values = np.array(palette, np.int8)
    past = Context(draw.choice(values, (rows, width)), draw.choice(values, (rows, width)))
    for array in past:
        array.flags.writeable = False
    return past


def tied(model: FloatModel) -> FloatModel:
    """The model with all its logits equal, so that the next token is 0."""
    return replace(model, name=f"{model.name}-tied", unembedding=np.zeros_like(model.unembedding))


def loud(model: FloatModel) -> FloatModel:
    """The model with scores of a size at which exp overflows; softmax, which only their differences move, does not."""
    return replace(model, name=f"{model.name}-loud", query=1000 * model.query)


def with_residual_factor(model: FloatModel, factor: float) -> FloatModel:
    """The model with values so small that its residual counts `factor` times as much as the sums it is added to."""
    values = np.abs(model.embedding @ model.value.T).max() * np.abs(model.output).max() / 127
    shrink = np.abs(model.embedding).max() / values / factor
    return replace(model, value=shrink * model.value)


def of_exact_residual(factor: float) -> FloatModel:
    """A float model whose residual counts exactly `factor` times as much as the sums it is added to.

    Its first token is that much larger than the others, and the values keep the second token alone.
    """
    one = np.eye(16)
    embedding = 127 * one
    embedding[0, 0] *= factor
    return FloatModel(
        name=f"residual-{factor}",
        residual=True,
        embedding=embedding,
        query=one / 2**24,
        key=one,
        value=np.outer(one[1], one[1]),
        output=127 * one,
        unembedding=one,
    )


def without_values(model: IntegerModel) -> IntegerModel:
    """The model with its attention knocked out: o is 0."""
    return replace(model, name=f"{model.name} without values", value=np.zeros_like(model.value))


def uniform(model: IntegerModel) -> IntegerModel:
    """The model with its attention knocked out: every row weighs the same."""
    return replace(model, name=f"{model.name} of uniform weights", query=np.zeros_like(model.query))
