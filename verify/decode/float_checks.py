"""The float reference under check: its cache of past rows against a recomputation that keeps nothing.

A tolerance against the integers is too loose to see one row too many; a recomputation from the token ids is not.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from impl.float_reference import FloatDecoder, Generation, generate
from impl.tiny_lm import FloatModel
from spec.attention import logits, next_token
from verify.decode.oracle import Found, tensors
from verify.refinement import Difference
from verify.target import Raised, answered

FLOAT_TOLERANCE = 1e-9
"""Two orders of summation differ by far less, one row more or fewer by far more."""

FULL_TOLERANCE = 1e-12
SHORT_WINDOW = 3
LEAST_DIFFERENCE = 1e-2
"""What a short window must change in some logit of a random model for the comparison with full attention to mean anything."""

Floats = NDArray[np.float64]


class FloatSteps(Protocol):
    """One request on a float model."""

    def step(self, token: int) -> Floats: ...


MakeFloat = Callable[[FloatModel, int | None, int], FloatSteps]
"""Makes a request of (model, window, sinks)."""

Generate = Callable[[FloatModel, int, int, int | None, int], Generation]
"""Decodes (model, start, steps, window, sinks)."""


def check_float_steps(
    model: FloatModel, tokens: Sequence[int], window: int | None, sinks: int = 0, make: MakeFloat = FloatDecoder
) -> Found:
    """Every step of the cached decode is its recomputation from the token ids (DEC-FLOAT)."""
    decoder = answered(make, model, window, sinks)
    if isinstance(decoder, Raised):
        return [Difference("DEC-FLOAT", f"{model.name} decodes under W={window}, S={sinks}", f"{decoder}")], 0
    differences: list[Difference] = []
    for step in range(1, len(tokens) + 1):
        said = answered(decoder.step, tokens[step - 1])
        where = f"{model.name}, W={window}, S={sinks}, tokens {list(tokens[:step])}"
        expected = logits(tensors(model), tokens[:step], window, sinks)
        differences += logit_differences("DEC-FLOAT", expected, said, FLOAT_TOLERANCE, where)
    return differences, len(tokens)


def check_generation(
    model: FloatModel, start: int, steps: int, window: int | None, sinks: int = 0, run: Generate = generate
) -> Found:
    """A greedy decode feeds itself the lowest of its largest logits, and each step is its recomputation (DEC-FLOAT)."""
    where = f"{model.name}, W={window}, S={sinks}, {steps} steps from {start}"
    said = answered(run, model, start, steps, window, sinks)
    if isinstance(said, Raised):
        return [Difference("DEC-FLOAT", f"{where}: {steps} steps", f"{said}")], 0
    tokens = said.tokens
    if (len(tokens), len(said.logits), tokens[0]) != (steps + 1, steps, start):
        shown = f"tokens {list(tokens)}, {len(said.logits)} rows of logits"
        return [Difference("DEC-FLOAT", f"{where}: the start, and {steps} tokens and rows of logits", shown)], 0
    differences: list[Difference] = []
    for step in range(1, steps + 1):
        expected = logits(tensors(model), tokens[:step], window, sinks)
        at = f"{where}, step {step}"
        differences += logit_differences("DEC-FLOAT", expected, said.logits[step - 1], FLOAT_TOLERANCE, at)
        following = next_token(said.logits[step - 1])
        if tokens[step] != following:
            differences.append(Difference("DEC-FLOAT", f"{at}: token {following}", f"{tokens[step]}"))
    return differences, steps


def check_refused_floats(model: FloatModel, make: MakeFloat = FloatDecoder) -> Found:
    """Windows, sinks and tokens out of range are ValueErrors that name what is wrong, and not logits (DEC-FLOAT)."""
    beyond = len(model.embedding)
    cases: tuple[tuple[str, int | None, int, int], ...] = (
        ("window", 0, 0, 0),
        ("window", -1, 0, 0),
        ("sinks", 3, 3, 0),
        ("sinks", 3, -1, 0),
        ("sinks", None, -1, 0),
        ("token", 3, 0, beyond),
        ("token", 3, 0, -1),
    )
    differences = []
    for wrong, window, sinks, token in cases:
        said = answered(run_float, make, model, [token], window, sinks)
        if not (isinstance(said, Raised) and said.kind == ValueError.__name__ and said.message.startswith(wrong)):
            where = f"{model.name}, W={window}, S={sinks}, token {token}"
            differences.append(Difference("DEC-FLOAT", f"{where}: ValueError of the {wrong}", f"{said}"))
    return differences, len(cases)


def check_no_sinks_unless_given(model: FloatModel, tokens: Sequence[int], window: int) -> Found:
    """Without the argument the window alone decides (DEC-FLOAT)."""
    steps = answered(run_float, lambda model, window, _: FloatDecoder(model, window), model, tokens, window, 0)
    differences: list[Difference] = []
    for step in range(1, len(tokens) + 1):
        expected = logits(tensors(model), tokens[:step], window)
        said = steps if isinstance(steps, Raised) else steps[step - 1]
        where = f"{model.name}, W={window}, no sinks given, tokens {list(tokens[:step])}"
        differences += logit_differences("DEC-FLOAT", expected, said, FLOAT_TOLERANCE, where)
    alone, none = (answered(generate, model, tokens[0], len(tokens), window, *given) for given in ((), (0,)))
    if isinstance(alone, Raised) or isinstance(none, Raised) or not np.array_equal(alone.logits, none.logits):
        differences.append(Difference("DEC-FLOAT", f"{model.name}, W={window}: as with 0 sinks", f"{alone}"))
    return differences, 2 * len(tokens)


def check_full_attention(model: FloatModel, tokens: Sequence[int], make: MakeFloat = FloatDecoder) -> Found:
    """A window that holds every token, as large as it need be or larger, is full attention (DEC-FULL)."""
    whole = len(tokens)
    expected = [logits(tensors(model), tokens[:step], None) for step in range(1, whole + 1)]
    differences: list[Difference] = []
    for window, sinks in ((whole, 0), (whole, whole - 1), (whole + 1, 0), (None, 0)):
        said = answered(run_float, make, model, tokens, window, sinks)
        for step, full in enumerate(expected, start=1):
            shown = said if isinstance(said, Raised) else said[step - 1]
            where = f"{model.name}, W={window}, S={sinks}, step {step} of {whole}"
            differences += logit_differences("DEC-FULL", full, shown, FULL_TOLERANCE, where)
    return differences, 4 * whole


def check_short_window(model: FloatModel, tokens: Sequence[int], make: MakeFloat = FloatDecoder) -> Found:
    """A short window changes a logit of a random model, and nothing before it slides (DEC-FULL)."""
    where = f"{model.name}, W={SHORT_WINDOW}, tokens {list(tokens)}"
    short, full = (answered(run_float, make, model, tokens, window, 0) for window in (SHORT_WINDOW, None))
    if isinstance(short, Raised) or isinstance(full, Raised):
        return [Difference("DEC-FULL", f"{where}: logits", f"{short if isinstance(short, Raised) else full}")], 0
    apart = [float(np.abs(one - other).max()) for one, other in zip(short, full, strict=True)]
    differences = []
    if not max(apart[:SHORT_WINDOW]) <= FULL_TOLERANCE:
        shown = f"{max(apart[:SHORT_WINDOW]):.3g}"
        differences.append(Difference("DEC-FULL", f"{where}: nothing differs before the window slides", shown))
    if not max(apart[SHORT_WINDOW:]) >= LEAST_DIFFERENCE:
        shown = f"at most by {max(apart[SHORT_WINDOW:]):.3g}"
        differences.append(Difference("DEC-FULL", f"{where}: a logit differs from full attention", shown))
    return differences, 2 * len(tokens)


def run_float(
    make: MakeFloat, model: FloatModel, tokens: Sequence[int], window: int | None, sinks: int
) -> list[Floats]:
    """The logits of every step of one request."""
    decoder = make(model, window, sinks)
    return [decoder.step(token) for token in tokens]


def logit_differences(
    rule: str, expected: Floats, said: Floats | Raised, tolerance: float, where: str
) -> list[Difference]:
    """Empty when every logit is the expected one to the tolerance; an exception, another shape and a NaN are differences."""
    if isinstance(said, Raised):
        return [Difference(rule, f"{where}: logits", f"raised {said.kind}: {said.message}")]
    if said.shape != expected.shape or said.dtype != np.float64:
        shown = f"{said.dtype} of shape {said.shape}"
        return [Difference(rule, f"{where}: float64 logits of shape {expected.shape}", shown)]
    apart = np.abs(said - expected)
    worst = int(np.argmax(apart))
    # Not "> tolerance": a NaN compares false with everything, and argmax finds it first.
    if not apart[worst] <= tolerance:
        text = f"{where}: logit {worst} is {expected[worst]:.12g} to {tolerance:g}"
        return [Difference(rule, text, f"{said[worst]:.12g}")]
    return []
