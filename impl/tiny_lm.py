"""The tiny language models: one attention layer over a vocabulary of 16 tokens, float64. Source: docs/reference.md section 5."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

VOCABULARY = 16
SHARPNESS = 6.0
"""Weight of the structured model's queries and keys: enough that a token attends itself far above all others."""

Tensor = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FloatModel:
    """A model of width d: embedding and unembedding are (VOCABULARY, d), the four others (d, d), applied as W @ x."""

    name: str
    residual: bool
    embedding: Tensor
    query: Tensor
    key: Tensor
    value: Tensor
    output: Tensor
    unembedding: Tensor

    @property
    def width(self) -> int:
        """Elements of a key or a value."""
        width: int = self.embedding.shape[1]
        return width


def successor(token: int) -> int:
    """The token that the structured model gives after `token`; all 16 tokens form one cycle."""
    return (5 * token + 3) % VOCABULARY


def structured(width: int) -> FloatModel:
    """The model that follows `successor` from every start under every window. Raises ValueError for a width below 16."""
    _check_width(width)
    identity = np.eye(width)
    unembedding = np.zeros((VOCABULARY, width))
    unembedding[[successor(token) for token in range(VOCABULARY)], range(VOCABULARY)] = 1
    return FloatModel(
        name=f"structured-{width}",
        residual=False,
        embedding=np.eye(VOCABULARY, width),
        query=SHARPNESS * identity,
        key=SHARPNESS * identity,
        value=identity,
        output=identity,
        unembedding=unembedding,
    )


def random(seed: int, width: int) -> FloatModel:
    """A model of independent normal weights in which attention matters. Raises ValueError for a width below 16."""
    _check_width(width)
    generator = np.random.default_rng(seed)
    outer, inner = (VOCABULARY, width), (width, width)
    # Drawn in the order of the fields: another order is another model.
    embedding, query, key, value, output, unembedding = (
        generator.standard_normal(shape) for shape in (outer, inner, inner, inner, inner, outer)
    )
    root = math.sqrt(width)
    return FloatModel(
        name=f"random-{seed}-{width}",
        residual=True,
        embedding=embedding,
        query=query / root,
        key=key / root,
        value=value / root,
        output=output / root,
        unembedding=unembedding / root,
    )


def _check_width(width: int) -> None:
    if width < VOCABULARY:
        raise ValueError(f"width {width} is below {VOCABULARY}")
