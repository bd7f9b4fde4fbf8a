"""The implementation's models as the definitions take them: the same numbers under their names, copied, nothing recomputed."""

from collections.abc import Iterable

from impl.integer_model import IntegerModel
from impl.tiny_lm import FloatModel
from spec.attention import Tensors
from spec.decode import Multipliers, Parameters
from spec.numerics import Multiplier
from verify.refinement import Difference

Found = tuple[list[Difference], int]
"""What a check of the decode step returns: every difference, and the steps that it held against a definition."""


def tensors(model: FloatModel) -> Tensors:
    """The float model of the definition."""
    return Tensors(
        embedding=model.embedding,
        query=model.query,
        key=model.key,
        value=model.value,
        output=model.output,
        unembedding=model.unembedding,
        residual=model.residual,
    )


def parameters(model: IntegerModel) -> Parameters:
    """The integer model of the definition. Raises ValueError for integers that no model may have."""
    return Parameters(
        embedding=model.embedding,
        query=model.query,
        key=model.key,
        value=model.value,
        output=model.output,
        unembedding=model.unembedding,
        multipliers=Multipliers(*(Multiplier(*by) for by in model.requantisers)),
        residual=model.residual,
        exponent=Multiplier(*model.exponent),
        logit_scale=model.scales.logit_scale,
    )


def gathered(found: Iterable[Found]) -> Found:
    """Several checks as one."""
    differences: list[Difference] = []
    steps = 0
    for more, taken in found:
        differences += more
        steps += taken
    return differences, steps
