"""The integer decoder under check: exactly the definition's integers, from token ids and over any rows, in any order."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from impl.decoder import Context, ContextTooLongError, Decoder, IntegerDecoder, Step, check_step
from impl.integer_model import IntegerModel
from spec import decode as oracle
from verify.decode.oracle import Found, parameters
from verify.decode.plain import plain_decode
from verify.refinement import Difference
from verify.target import Raised, answered

MakeInteger = Callable[[IntegerModel], Decoder]


def check_integer_decode(
    model: IntegerModel,
    tokens: Sequence[int],
    steps: int,
    window: int | None,
    sinks: int = 0,
    make: MakeInteger = IntegerDecoder,
) -> Found:
    """A decode over the rows that it gave itself is, step by step, the definition from the token ids (DEC-INT).

    The tokens are fed first, and then what the decoder gave.
    """
    given = parameters(model)
    where = f"{model.name}, W={window}, S={sinks}, from {list(tokens)}"
    taken = answered(lambda: plain_decode(make(model), tokens, steps, window, sinks))
    if isinstance(taken, Raised):
        return [Difference("DEC-INT", f"{where}: {steps} steps", f"raised {taken.kind}: {taken.message}")], 0
    differences: list[Difference] = []
    fed = list(tokens)
    for step, said in enumerate(taken, start=1):
        expected = oracle.step_from_tokens(given, fed[:step], window, sinks)
        differences += step_differences("DEC-INT", expected, said, f"{where}, step {step}")
        if len(fed) == step:
            fed.append(said.token)
    return differences, steps


def check_integer_step(model: IntegerModel, token: int, past: Context, make: MakeInteger = IntegerDecoder) -> Found:
    """One step over any rows, those that no token has included, is the definition's (DEC-INT)."""
    expected = oracle.step_from_rows(parameters(model), token, past.keys, past.values)
    said = answered(lambda: make(model).step(token, past))
    at = f"{model.name}, token {token} over {len(past.keys)} rows"
    return step_differences("DEC-INT", expected, said, at), 1


def check_row_order(
    model: IntegerModel,
    token: int,
    past: Context,
    orders: Sequence[NDArray[np.intp]],
    make: MakeInteger = IntegerDecoder,
) -> Found:
    """Whatever the order of its past rows, a step is the same (DEC-ORDER)."""
    decoder = answered(make, model)
    first = decoder if isinstance(decoder, Raised) else answered(decoder.step, token, past)
    if isinstance(first, Raised) or isinstance(decoder, Raised):
        return [Difference("DEC-ORDER", f"{model.name}: a step", f"{first}")], 0
    differences: list[Difference] = []
    for order in orders:
        said = answered(decoder.step, token, Context(past.keys[order], past.values[order]))
        where = f"{model.name}, token {token}, {len(order)} rows in the order {order.tolist()}"
        differences += step_differences("DEC-ORDER", first, said, where)
    return differences, 1 + len(orders)


def check_refused_steps(model: IntegerModel, make: MakeInteger = IntegerDecoder) -> Found:
    """One row too many, and arguments that are no token or no rows, are errors and not integers (DEC-INT).

    A decoder raises them, and so does what every decoder asks first, whatever the arithmetic behind would make of them.
    """

    def made_step(token: int, past: Context) -> Step:
        return make(model).step(token, past)

    def asked_step(token: int, past: Context) -> None:
        check_step(IntegerDecoder(model), token, past)

    cases = refused_cases(*model.embedding.shape)
    differences = []
    for what, token, past, error in cases:
        for how, step in (("", made_step), (", asked first", asked_step)):
            # Not through `answered`: a class derived from the error is as good.
            try:
                shown = f"{step(token, past)}"
            except error:
                continue
            except Exception as other:
                shown = f"raised {type(other).__name__}: {other}"
            differences.append(Difference("DEC-INT", f"{model.name}: {error.__name__} for {what}{how}", shown))
    return differences, 2 * len(cases)


def refused_cases(vocabulary: int, width: int) -> tuple[tuple[str, int, Context, type[Exception]], ...]:
    """What a decoder of that vocabulary and width refuses: in words, the token, the rows, and the error."""
    none, full = (np.zeros((rows, width), np.int8) for rows in (0, oracle.LONGEST_CONTEXT))
    return (
        ("256 rows", 0, Context(full, full), ContextTooLongError),
        ("a token too large", vocabulary, Context(none, none), ValueError),
        ("a negative token", -1, Context(none, none), ValueError),
        ("keys without values", 0, Context(full[:2], none), ValueError),
        ("values without keys", 0, Context(none, full[:2]), ValueError),
        ("fewer values than keys", 0, Context(full[:2], full[:1]), ValueError),
        ("narrow keys", 0, Context(full[:2, :1], full[:2]), ValueError),
        ("narrow values", 0, Context(full[:2], full[:2, :1]), ValueError),
        ("rows too wide", 0, Context(*[np.zeros((1, width + 1), np.int8)] * 2), ValueError),
        ("wide integers", 0, Context(full[:1].astype(np.int16), full[:1]), ValueError),
        ("wide integers as values", 0, Context(full[:1], full[:1].astype(np.int16)), ValueError),
    )


def step_differences(rule: str, expected: oracle.Step | Step, said: Step | Raised, where: str) -> list[Difference]:
    """One difference for each of token, logits, key and value that is not the expected one, type and shape included."""
    if isinstance(said, Raised):
        return [Difference(rule, f"{where}: a step", f"raised {said.kind}: {said.message}")]
    differences = []
    if type(said.token) is not int or said.token != expected.token:
        differences.append(Difference(rule, f"{where}: token {expected.token}", f"{said.token!r}"))
    for name in ("logits", "key", "value"):
        due, shown = getattr(expected, name), getattr(said, name)
        if not isinstance(shown, np.ndarray) or shown.dtype != due.dtype or not np.array_equal(shown, due):
            differences.append(Difference(rule, f"{where}: {name} {due!r}", f"{shown!r}"))
    return differences
