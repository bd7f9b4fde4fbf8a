"""The decode step of the oracle is right: literals worked out by hand, and derivations in rationals and plain loops.

Nothing here shares an expression with spec/: a rounding is a floor of a Fraction, a product of tensors is a loop.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spec.attention import Tensors, attended, logits, next_token
from spec.decode import Bytes, Multipliers, Parameters, Step, row, rows, step_from_rows, step_from_tokens
from spec.numerics import Multiplier
from spec.scales import quantised
from tests.test_numerics_oracle import HALF, INT8, ONE, SHIFTS, SIGNIFICANDS

FLOAT_TOLERANCE = 1e-12
"""Between two orders of summing a dozen float64 of magnitude 10."""


def int8(rows_of_values: Sequence[Sequence[int]]) -> Bytes:
    return np.array(rows_of_values, np.int8)


def follows(token: int) -> int:
    return (5 * token + 3) % 16


def structured(width: int) -> Tensors:
    """The structured model of the reference's section 5."""
    one, unembedding = np.eye(width), np.zeros((16, width))
    for token in range(16):
        unembedding[follows(token), token] = 1
    return Tensors(np.eye(16, width), 6 * one, 6 * one, one, one, unembedding, residual=False)


def random_tensors(vocabulary: int, width: int, seed: int = 1, residual: bool = True) -> Tensors:
    draw, square = np.random.default_rng(seed).normal, (width, width)
    shapes = ((vocabulary, width), square, square, square, square, (vocabulary, width))
    embedding, *others = (draw(size=shape) for shape in shapes)
    query, key, value, output, unembedding = (tensor / math.sqrt(width) for tensor in others)
    return Tensors(embedding, query, key, value, output, unembedding, residual)


# q, k and v are x itself, scores are plain products, and y = o + Rm*x.
TOY = Parameters(
    embedding=int8([[4, 0], [0, 4], [3, -2]]),
    query=int8([[1, 0], [0, 1]]),
    key=int8([[1, 0], [0, 1]]),
    value=int8([[1, 0], [0, 1]]),
    output=int8([[1, 0], [0, 1]]),
    unembedding=int8([[1, 0], [0, 1], [1, 1]]),
    multipliers=Multipliers(ONE, ONE, ONE, ONE),
    residual=3,
    exponent=ONE,
    logit_scale=1.0,
)


def shown(step: Step) -> tuple[int, list[int], list[int], list[int]]:
    return step.token, step.logits.tolist(), step.key.tolist(), step.value.tolist()


@pytest.mark.parametrize(
    ("window", "sinks", "expected"),
    [
        (None, 0, [7, 8, 9, 5, 6]),
        (1, 0, [6]),
        (3, 0, [9, 5, 6]),
        (3, 1, [7, 5, 6]),
        (3, 2, [7, 8, 6]),
        (9, 2, [7, 8, 9, 5, 6]),
    ],
)
def test_a_step_attends_its_rows_in_order_and_the_new_token_last(
    window: int | None, sinks: int, expected: list[int]
) -> None:
    assert attended([7, 8, 9, 5, 6], window, sinks, 10) == expected


def attention_by_loops(tensors: Tensors, seen: Sequence[int]) -> list[float]:
    """Logits of the last token over all those seen, one sum at a time."""
    x = [float(value) for value in tensors.embedding[seen[-1]]]

    def times(tensor: NDArray[np.float64], vector: Sequence[float]) -> list[float]:
        return [math.fsum(float(a) * b for a, b in zip(line, vector, strict=True)) for line in tensor]

    q = times(tensors.query, x)
    keys = [times(tensors.key, [float(v) for v in tensors.embedding[token]]) for token in seen]
    values = [times(tensors.value, [float(v) for v in tensors.embedding[token]]) for token in seen]
    odds = [math.exp(math.fsum(a * b for a, b in zip(q, key, strict=True)) / math.sqrt(len(x))) for key in keys]
    o = [math.fsum(p * v[j] for p, v in zip(odds, values, strict=True)) / math.fsum(odds) for j in range(len(x))]
    y = [a + tensors.residual * b for a, b in zip(times(tensors.output, o), x, strict=True)]
    return times(tensors.unembedding, y)


@pytest.mark.parametrize("residual", [False, True])
def test_float_attention_is_that_of_plain_loops_under_every_window(residual: bool) -> None:
    tensors, tokens = random_tensors(6, 4, residual=residual), [0, 3, 5, 3, 1, 2, 4]
    by_window: dict[tuple[int | None, int], list[int]] = {
        (None, 0): tokens,
        (7, 3): tokens,
        (50, 0): tokens,
        (1, 0): [4],
        (3, 0): [1, 2, 4],
        (4, 2): [0, 3, 2, 4],
        (2, 1): [0, 4],
    }
    for (window, sinks), seen in by_window.items():
        expected = attention_by_loops(tensors, seen)
        assert logits(tensors, tokens, window, sinks) == pytest.approx(expected, rel=0, abs=FLOAT_TOLERANCE)


def test_attention_to_the_new_token_alone_is_a_step_of_a_single_token() -> None:
    tensors = random_tensors(6, 4)
    parameters = quantised(tensors)
    for tokens in product(range(6), repeat=3):
        assert (logits(tensors, tokens, 1) == logits(tensors, tokens[-1:], None)).all()
        alone = step_from_tokens(parameters, tokens[-1:], None)
        assert shown(step_from_tokens(parameters, tokens, 1)) == shown(alone)


def test_a_window_that_holds_every_token_is_no_window() -> None:
    tensors, tokens = random_tensors(6, 4), [0, 3, 5, 3, 1]
    parameters = quantised(tensors)
    for window, sinks in ((5, 0), (6, 0), (5, 4), (9, 2)):
        assert (logits(tensors, tokens, window, sinks) == logits(tensors, tokens, None)).all()
        full = step_from_tokens(parameters, tokens, None)
        assert shown(step_from_tokens(parameters, tokens, window, sinks)) == shown(full)
    assert (logits(tensors, tokens, 4) != logits(tensors, tokens, None)).any()


def test_the_next_token_is_the_lowest_of_the_largest() -> None:
    assert next_token(np.array([3, 5, 5, -9], np.int32)) == 1
    assert next_token(np.array([-2.0, -1.5, -1.5])) == 1


def test_the_toy_step_has_the_integers_worked_out_by_hand() -> None:
    # Alone, o = v = (4, 0) and y = o + 3x.
    assert shown(step_from_tokens(TOY, [0], None)) == (0, [16, 0, 16], [4, 0], [4, 0])
    # Scores 0 and 16, so e = LUT[16] = 155 and 255, Z = 410: o = (1020, 620)/410 = (2.49, 1.51) = (2, 2), y = (14, 2).
    assert shown(step_from_tokens(TOY, [1, 0], None)) == (2, [14, 2, 16], [4, 0], [4, 0])
    # Past rows that no token has: scores 128, -128 and 16, so e = 255, LUT[255] = 0 and LUT[112] = 8, Z = 263:
    # o = (255*32 + 8*4, 255*127)/263 = (31.15, 123.14) and y = (43, 123).
    past = int8([[32, 5], [-32, 5]]), int8([[32, 127], [9, 9]])
    assert shown(step_from_rows(TOY, 0, *past)) == (2, [43, 123, 166], [4, 0], [4, 0])


def test_the_row_of_a_token_is_rounded_and_saturated_on_its_own() -> None:
    parameters = replace(
        TOY,
        key=int8([[1, 1], [-100, 3]]),
        multipliers=Multipliers(ONE, Multiplier(2**15, 16), Multiplier(2**15, 14), ONE),
    )
    # Keys: half of (4, -400), (4, 12), (1, -306); values: twice x.
    assert [[a.tolist() for a in row(parameters, token)] for token in range(3)] == [
        [[2, -128], [8, 0]],
        [[2, 6], [0, 8]],
        [[1, -128], [6, -4]],
    ]
    keys, values = rows(parameters, [2, 0, 2])
    assert (keys.tolist(), values.tolist()) == ([[1, -128], [2, -128], [1, -128]], [[6, -4], [8, 0], [6, -4]])
    assert [array.dtype.name for array in (keys, values)] == ["int8", "int8"]


@st.composite
def steps(draw: st.DrawFn) -> tuple[Parameters, int, list[list[int]], list[list[int]]]:
    """A model of any integers, a token, and past rows of any bytes."""
    width, vocabulary = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    # Shifts that leave a sum of int8 products within a few int8, where rounding and clamping both happen.
    by = st.builds(Multiplier, SIGNIFICANDS, st.one_of(st.integers(20, 25), SHIFTS))

    def matrix(lines: int) -> list[list[int]]:
        return draw(st.lists(st.lists(INT8, min_size=width, max_size=width), min_size=lines, max_size=lines))

    embedding, unembedding = int8(matrix(vocabulary)), int8(matrix(vocabulary))
    query, key, value, output = (int8(matrix(width)) for _ in range(4))
    parameters = Parameters(
        embedding, query, key, value, output, unembedding,
        multipliers=Multipliers(*(draw(by) for _ in range(4))),
        residual=draw(st.sampled_from((0, 193, -(2**15), 2**15 - 1))),
        exponent=draw(st.builds(Multiplier, SIGNIFICANDS, st.integers(15, 26))),
        logit_scale=1.0,
    )  # fmt: skip
    past = draw(st.integers(0, 6))
    return parameters, draw(st.integers(0, vocabulary - 1)), matrix(past), matrix(past)


def step_by_loops(
    p: Parameters, token: int, keys: list[list[int]], values: list[list[int]]
) -> tuple[int, list[int], list[int], list[int]]:
    """The step in unbounded integers and rationals, one sum at a time, as the reference's section 4 reads."""
    x = p.embedding[token].tolist()
    each = range(len(x))

    def half_up(real: Fraction) -> int:
        return math.floor(real + HALF)

    def rq(acc: int, by: Multiplier, added: int = 0) -> int:
        return max(-128, min(127, half_up(Fraction((acc + added) * by.m, 2**by.shift))))

    def times(tensor: Bytes, vector: list[int]) -> list[int]:
        return [sum(int(a) * b for a, b in zip(line, vector, strict=True)) for line in tensor]

    q = [rq(acc, p.multipliers.query) for acc in times(p.query, x)]
    key = [rq(acc, p.multipliers.key) for acc in times(p.key, x)]
    value = [rq(acc, p.multipliers.value) for acc in times(p.value, x)]
    scores = [sum(a * b for a, b in zip(q, k, strict=True)) for k in [*keys, key]]
    e = []
    for s in scores:
        i = min(255, half_up(Fraction((max(scores) - s) * p.exponent.m, 2**p.exponent.shift)))
        e.append(math.floor(255 * math.exp(-i / 32) + 0.5))
    o = [half_up(Fraction(sum(e_t * v[j] for e_t, v in zip(e, [*values, value], strict=True)), sum(e))) for j in each]
    y = [rq(acc, p.multipliers.output, p.residual * x[j]) for j, acc in enumerate(times(p.output, o))]
    found = times(p.unembedding, y)
    return found.index(max(found)), found, key, value


@given(steps())
def test_a_step_is_that_of_rationals_and_plain_loops_in_any_order_of_the_rows(
    case: tuple[Parameters, int, list[list[int]], list[list[int]]],
) -> None:
    parameters, token, keys, values = case
    width = parameters.embedding.shape[1]
    past = [np.array(rows, np.int8).reshape(-1, width) for rows in (keys, values)]
    expected = step_by_loops(parameters, token, keys, values)
    assert shown(step_from_rows(parameters, token, *past)) == expected
    assert shown(step_from_rows(parameters, token, past[0][::-1], past[1][::-1])) == expected


@pytest.mark.parametrize(("window", "sinks"), [(None, 0), (1, 0), (3, 0), (4, 2), (2, 1)])
def test_a_step_from_tokens_is_the_step_over_the_rows_that_the_window_names(window: int | None, sinks: int) -> None:
    parameters, tokens = quantised(random_tensors(6, 4)), [0, 3, 5, 3, 1, 2, 4, 4, 0]
    for length in range(1, len(tokens) + 1):
        kept = tokens[: length - 1]
        while window is not None and len(kept) + 1 > window:
            del kept[sinks]
        past = [row(parameters, token) for token in kept]
        found = step_from_tokens(parameters, tokens[:length], window, sinks)
        expected = step_by_loops(
            parameters, tokens[length - 1], [k.tolist() for k, _ in past], [v.tolist() for _, v in past]
        )
        assert shown(found) == expected
        assert [array.dtype.name for array in found[1:]] == ["int32", "int8", "int8"]


def test_a_context_of_255_tokens_is_legal_and_exact_at_the_extremes() -> None:
    low = int8([[-128] * 32] * 32)
    # q, k, v and y are 127 throughout, for a sum of products of 2^19 is far beyond int8 at 1/16.
    sixteenth = Multiplier(2**15, 19)
    four = Multipliers(sixteenth, sixteenth, sixteenth, sixteenth)
    parameters = Parameters(low, low, low, low, low, low, four, residual=-(2**15), exponent=ONE, logit_scale=1.0)
    past = np.full((254, 32), 127, np.int8)
    step = step_from_rows(parameters, 31, past, past)
    assert (step.token, step.logits.tolist(), step.key.tolist()) == (0, [-128 * 127 * 32] * 32, [127] * 32)
    with pytest.raises(ValueError, match="at most 255 tokens, got 256"):
        step_from_rows(parameters, 31, *[np.full((255, 32), 127, np.int8)] * 2)
    assert step_from_tokens(parameters, [0] * 255, None).token == 0
    assert step_from_tokens(parameters, [0] * 300, 255).token == 0
    with pytest.raises(ValueError, match="at most 255 tokens, got 256"):
        step_from_tokens(parameters, [0] * 256, None)


ROWS, NO_ROWS = int8([[1, 2]]), np.empty((0, 2), np.int8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: step_from_rows(TOY, 3, NO_ROWS, NO_ROWS), "a token is in 0 .. 2, got 3"),
        (lambda: step_from_rows(TOY, -1, ROWS, ROWS), "a token is in 0 .. 2, got -1"),
        (lambda: row(TOY, 3), "a token is in"),
        (lambda: step_from_tokens(TOY, [0, 3, 1], 1), "a token is in"),
        (lambda: logits(structured(16), [0, 16, 1], 1), "a token is in 0 .. 15, got 16"),
        (lambda: step_from_tokens(TOY, [], None), "steps count from 1"),
        (lambda: step_from_tokens(TOY, [0], 2, 2), "sinks must leave room"),
        (lambda: logits(structured(16), [0], 0), "a window holds at least"),
        (lambda: step_from_rows(TOY, 0, ROWS, NO_ROWS), "values is int8 of shape"),
        (lambda: step_from_rows(TOY, 0, int8([[1, 2, 3]]), ROWS), "keys is int8 of shape"),
        (lambda: step_from_rows(TOY, 0, ROWS[0], ROWS[0]), "keys is int8 of shape"),
        (lambda: step_from_rows(TOY, 0, ROWS, ROWS.astype(np.int64)), "values is int8 of shape"),
        (lambda: replace(TOY, query=int8([[1, 2]])), "query is int8 of shape"),
        (lambda: replace(TOY, unembedding=int8([[1, 2]])), "unembedding is int8 of shape"),
        (lambda: replace(TOY, embedding=NO_ROWS), "an embedding has one row a token"),
        (lambda: replace(TOY, exponent=Multiplier(2**15, 41)), "a multiplier has m in"),
        (lambda: replace(TOY, exponent=Multiplier(2**16, 20)), "a multiplier has m in"),
        (lambda: replace(TOY, residual=2**15), "a residual has 16 bits"),
    ],
)
def test_arguments_outside_the_decode_step_are_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("width", "window", "sinks"), [(16, None, 0), (16, 1, 0), (16, 3, 1), (16, 8, 0), (32, 3, 0)])
def test_the_structured_model_follows_its_rule_in_floats_and_in_integers(
    width: int, window: int | None, sinks: int
) -> None:
    tensors = structured(width)
    parameters = quantised(tensors)
    for start in range(16):
        tokens = [start]
        for _ in range(32):
            tokens.append(follows(tokens[-1]))
            assert next_token(logits(tensors, tokens[:-1], window, sinks)) == tokens[-1]
            assert step_from_tokens(parameters, tokens[:-1], window, sinks).token == tokens[-1]
