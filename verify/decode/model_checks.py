"""The models under check: their floats are the reference's, and their integers follow from the floats alone (DEC-MODEL)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impl.integer_model import IntegerModel, Requantiser
from impl.quantise import ModelError, quantise, requantiser
from impl.tiny_lm import VOCABULARY, FloatModel, random, structured
from spec.decode import Parameters
from spec.numerics import exp_table, multiplier
from spec.scales import quantised
from verify.decode.oracle import Found, gathered, tensors
from verify.refinement import Difference
from verify.target import Raised, answered

TENSORS = ("embedding", "query", "key", "value", "output", "unembedding")
PROJECTIONS = ("query", "key", "value", "output")

LOGIT_SCALE_TOLERANCE = 1e-12
"""Relative; the worth of a logit is a float, and the order of the sums behind it is free."""

Floats = NDArray[np.float64]

NARROW = (0, 15)
"""Widths below the least, 16, which is as many elements as there are tokens."""

EXP_TABLE_FIGURES = {0: 255, 1: 247, 32: 94, 199: 1, 200: 0, 255: 0}
"""Entries of the table of exponentials by hand from docs/reference.md section 4: 255 exp(-i/32), rounded half up."""


def check_quantised(model: FloatModel, kept: IntegerModel | None = None) -> Found:
    """The integers, those that quantising gives now or those that were kept, are the static scales' (DEC-MODEL).

    A model that has none must be refused with ModelError.
    """
    expected = answered(quantised, tensors(model))
    said = answered(quantise, model) if kept is None else kept
    if isinstance(expected, Raised):
        refused = isinstance(said, Raised) and said.kind == ModelError.__name__
        shown = f"{said}" if isinstance(said, Raised) else "a model"
        due = f"{model.name}: ModelError, as {expected.message}"
        return ([] if refused else [Difference("DEC-MODEL", due, shown)]), 1
    if isinstance(said, Raised):
        return [Difference("DEC-MODEL", f"{model.name}: a model", f"raised {said.kind}: {said.message}")], 1
    return model_differences(expected, said, model.name), 1


def model_differences(expected: Parameters, said: IntegerModel, name: str) -> list[Difference]:
    """One difference for each field of the model that is not the definition's."""
    differences = []
    if (said.name, said.width) != (name, expected.embedding.shape[1]):
        due = f"the model is called {name}, of width {expected.embedding.shape[1]}"
        differences.append(Difference("DEC-MODEL", due, f"{said.name}, {said.width}"))
    for field in TENSORS:
        due, shown = getattr(expected, field), getattr(said, field)
        if shown.dtype != np.int8 or not np.array_equal(shown, due):
            differences.append(Difference("DEC-MODEL", f"{name}: {field} {due.tolist()}", f"{shown.tolist()}"))
    numbers = [
        *((f"multiplier of {p}", getattr(expected.multipliers, p), getattr(said.requantisers, p)) for p in PROJECTIONS),
        ("multiplier of the exponent", expected.exponent, said.exponent),
        ("residual", expected.residual, said.residual),
    ]
    differences += [Difference("DEC-MODEL", f"{name}: {what} {due}", f"{n}") for what, due, n in numbers if n != due]
    worth = said.scales.logit_scale
    if not math.isclose(worth, expected.logit_scale, rel_tol=LOGIT_SCALE_TOLERANCE):
        differences.append(Difference("DEC-MODEL", f"{name}: a logit is worth {expected.logit_scale!r}", f"{worth!r}"))
    return differences


def check_multipliers(reals: Sequence[float], make: Callable[[str, float], Requantiser] = requantiser) -> Found:
    """The multiplier of every real is the nearest of its size, and one whose shift does not fit is refused (DEC-MODEL)."""
    differences = []
    for real in reals:
        expected, said = answered(multiplier, real), answered(make, "checked", real)
        if isinstance(expected, Raised):
            if not (isinstance(said, Raised) and said.kind == ModelError.__name__):
                differences.append(Difference("DEC-MODEL", f"multiplier of {real!r}: ModelError", f"{said}"))
        elif isinstance(said, Raised) or tuple(said) != tuple(expected):
            differences.append(Difference("DEC-MODEL", f"multiplier of {real!r}: {expected}", f"{said}"))
    return differences, len(reals)


def check_exp_table(table: Sequence[int]) -> Found:
    """The table of exponentials is the definition's, and has the figures of the reference (DEC-MODEL)."""
    differences = []
    if list(table) != exp_table().tolist():
        differences.append(Difference("DEC-MODEL", f"exponentials {exp_table().tolist()}", f"{list(table)}"))
    for index, due in EXP_TABLE_FIGURES.items():
        shown = answered(table.__getitem__, index)
        if shown != due:
            differences.append(Difference("DEC-MODEL", f"exponential {index} is {due}", f"{shown}"))
    return differences, len(EXP_TABLE_FIGURES)


def check_random_model(model: FloatModel, seed: int, width: int) -> Found:
    """The tensors are one stream of normal numbers, cut in their order (DEC-MODEL)."""
    sizes = {name: (VOCABULARY if name in ("embedding", "unembedding") else width) * width for name in TENSORS}
    stream = np.random.default_rng(seed).standard_normal(sum(sizes.values()))
    stream[sizes["embedding"] :] /= math.sqrt(width)
    parts = np.split(stream, np.cumsum(list(sizes.values()))[:-1])
    due = {name: part.reshape(-1, width) for name, part in zip(sizes, parts, strict=True)}
    return float_model_differences(model, f"random-{seed}-{width}", due, residual=True), 1


def check_structured_model(model: FloatModel, width: int) -> Found:
    """The tensors are ones and sixes where the reference has them (DEC-MODEL)."""
    one, six = np.diag([1.0] * width), np.diag([6.0] * width)
    unembedding = np.zeros((VOCABULARY, width))
    unembedding[[(5 * token + 3) % 16 for token in range(16)], range(16)] = 1
    due = dict(zip(TENSORS, (one[:VOCABULARY], six, six, one, one, unembedding), strict=True))
    return float_model_differences(model, f"structured-{width}", due, residual=False), 1


def check_narrow_models() -> Found:
    """A width that has no element for every token is a ValueError of the width (DEC-MODEL)."""
    makes: tuple[Callable[[int], FloatModel], ...] = (structured, partial(random, 1))
    differences = []
    for width in NARROW:
        for make in makes:
            said = answered(make, width)
            if not (isinstance(said, Raised) and said.kind == ValueError.__name__ and said.message.startswith("width")):
                differences.append(Difference("DEC-MODEL", f"ValueError of the width {width}", f"{said}"))
    return differences, len(NARROW) * len(makes)


def check_infinite_sums(model: FloatModel) -> Found:
    """A model of finite elements whose products, or only their sums, are beyond float64 has no integers (DEC-MODEL)."""
    largest = math.sqrt(np.finfo(np.float64).max)
    elements: tuple[Callable[[Floats], Floats], ...] = (
        lambda tensor: np.full_like(tensor, 0.9 * largest),
        lambda tensor: 2 * largest * np.sign(tensor),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        return gathered(
            check_quantised(with_tensors(model, {name: large(getattr(model, name)) for name in pair}))
            for pair in (("embedding", "query"), ("embedding", "key"), ("embedding", "value"), ("value", "output"))
            for large in elements
        )


def with_tensors(model: FloatModel, tensors: Mapping[str, Any]) -> FloatModel:
    """The model with these tensors instead of its own."""
    return replace(model, **tensors)


def float_model_differences(
    model: FloatModel, name: str, due: Mapping[str, Floats], residual: bool
) -> list[Difference]:
    """What of a float model is not bit for bit what is due."""
    differences = []
    width = due["embedding"].shape[1]
    if (model.name, model.residual, model.width) != (name, residual, width):
        shown = f"{model.name}, residual {model.residual}, width {model.width}"
        differences.append(Difference("DEC-MODEL", f"{name}, residual {residual}, width {width}", shown))
    for field, tensor in due.items():
        shown = getattr(model, field)
        if shown.dtype != np.float64 or not np.array_equal(shown, tensor):
            differences.append(Difference("DEC-MODEL", f"{name}: {field} {tensor.tolist()}", f"{shown.tolist()}"))
    return differences
