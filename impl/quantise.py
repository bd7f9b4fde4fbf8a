"""From a float model to the integers of a decoder, by static scales alone. Source: docs/reference.md section 5.

Scales are symmetric with zero point 0 and follow from the float tensors, never from a sampled run, so nothing that a
decoder is fed can leave the range that they allow. Sums are rounded once, whatever the machine adds first: the same
tensors give the same bytes everywhere.
"""

import math
from dataclasses import asdict

import numpy as np
import numpy.typing as npt

from impl.integer_model import RESIDUALS, SHIFTS, TENSORS, IntegerModel, Requantiser, Requantisers, Scales
from impl.tiny_lm import FloatModel, Tensor

EXPONENT_STEPS = 32
"""Entries of the table of exponentials over which it falls by a factor of e."""

LIMIT = 127


class ModelError(Exception):
    """The float model has no integer form: an element is no number, a scale is 0, or a multiplier does not fit its field."""


def quantise(model: FloatModel) -> IntegerModel:
    """The integers that the static scales of the model give. Raises ModelError."""
    for name in TENSORS:
        if not np.isfinite(getattr(model, name)).all():
            raise ModelError(f"the {name} tensor has an element that is no finite number")
    scales = _scales(model)
    return IntegerModel(
        name=model.name,
        embedding=_rounded(model.embedding, scales.embedding),
        query=_rounded(model.query, scales.query),
        key=_rounded(model.key, scales.key),
        value=_rounded(model.value, scales.value),
        output=_rounded(model.output, scales.output),
        unembedding=_rounded(model.unembedding, scales.unembedding),
        requantisers=Requantisers(
            query=requantiser("query", scales.embedding * scales.query / scales.q),
            key=requantiser("key", scales.embedding * scales.key / scales.k),
            value=requantiser("value", scales.embedding * scales.value / scales.v),
            output=requantiser("output", scales.v * scales.output / scales.y),
        ),
        residual=_residual(scales) if model.residual else 0,
        exponent=requantiser("exponent", EXPONENT_STEPS * scales.q * scales.k / math.sqrt(model.width)),
        scales=scales,
    )


def requantiser(name: str, factor: float) -> Requantiser:
    """The m / 2**shift nearest to a positive factor; `name` says in a ModelError which of the model's it is."""
    if not 0 < factor < math.inf:
        raise ModelError(f"the {name} multiplier is {factor:g}")
    _mantissa, exponent = math.frexp(factor)
    shift = 16 - exponent
    m = math.floor(math.ldexp(factor, shift) + 0.5)
    if m == 2**16:
        m, shift = 2**15, shift - 1
    if shift not in SHIFTS:
        raise ModelError(f"the {name} multiplier {factor:g} needs a shift of {shift}, outside 1 .. 40")
    return Requantiser(m, shift)


def exponentials() -> tuple[int, ...]:
    """floor(255 exp(-i / 32) + 1/2) for i = 0 .. 255: what a score i steps below the largest weighs."""
    return tuple(math.floor(255 * math.exp(-i / EXPONENT_STEPS) + 0.5) for i in range(256))


def _scales(model: FloatModel) -> Scales:
    embedded = model.embedding
    values = _applied(model.value, embedded)
    scales = Scales(
        embedding=_largest(embedded) / LIMIT,
        query=_largest(model.query) / LIMIT,
        key=_largest(model.key) / LIMIT,
        value=_largest(model.value) / LIMIT,
        output=_largest(model.output) / LIMIT,
        unembedding=_largest(model.unembedding) / LIMIT,
        q=_largest(_applied(model.query, embedded)) / LIMIT,
        k=_largest(_applied(model.key, embedded)) / LIMIT,
        v=_largest(values) / LIMIT,
        y=_largest_result(model, values) / LIMIT,
    )
    for name, scale in asdict(scales).items():
        # An infinite one, of the result alone, leaves the output a multiplier of 0.
        if not scale > 0:
            raise ModelError(f"the scale of {name} is {scale:g}")
    return scales


def _largest_result(model: FloatModel, values: Tensor) -> float:
    """The largest |y| that any context can give: attention mixes values, so each output stays between its tokens' own."""
    mixed = _applied(model.output, values)
    added = model.embedding if model.residual else np.zeros_like(mixed)
    return max(_largest(mixed.min(0) + added.min(0)), _largest(mixed.max(0) + added.max(0)))


def _applied(matrix: Tensor, vectors: Tensor) -> Tensor:
    """matrix @ v for each row v of `vectors`. Raises ModelError for sums beyond the largest number."""
    try:
        with np.errstate(over="raise"):
            return np.array([[math.fsum(products) for products in (matrix * vector).tolist()] for vector in vectors])
    except (FloatingPointError, OverflowError):
        raise ModelError("the products of its tensors are beyond the largest number") from None


def _largest(values: Tensor) -> float:
    return float(np.abs(values).max())


def _rounded(tensor: Tensor, scale: float) -> npt.NDArray[np.int8]:
    return np.floor(tensor / scale + 0.5).astype(np.int8)


def _residual(scales: Scales) -> int:
    """The factor that brings the layer's input to the scale of the output projection's sums. Raises ModelError."""
    factor = scales.embedding / (scales.v * scales.output) + 0.5
    if not factor < RESIDUALS.stop:
        raise ModelError(f"the residual factor {factor:g} does not fit 16 bits")
    return math.floor(factor)
