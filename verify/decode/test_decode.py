"""The float reference and the integer decoder are the definitions': over every window, from every start, and over any rows."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from impl import tiny_lm
from impl import window as host
from impl.decoder import IntegerDecoder
from impl.float_reference import FloatDecoder, generate
from impl.integer_model import IntegerModel, Requantiser
from impl.model_files import load, names
from spec import window as oracle
from verify.decode.float_checks import (
    check_float_steps,
    check_full_attention,
    check_generation,
    check_no_sinks_unless_given,
    check_refused_floats,
    check_short_window,
    run_float,
)
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows, loud, ruled, ruler, tied
from verify.decode.integer_checks import check_integer_decode, check_integer_step, check_refused_steps, check_row_order
from verify.decode.oracle import gathered
from verify.decode.plain import plain_decode
from verify.decode.suite import decode_stage

STARTS = range(tiny_lm.VOCABULARY)
WINDOWS = [
    *((window, sinks) for window in (1, 2, 3, 5) for sinks in range(window)),
    *((window, sinks) for window in (8,) for sinks in (0, 4)),
    (None, 0),
    (None, 3),
]
SHORT_WINDOWS = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 2), (5, 0), (5, 1), (None, 0)]
RANDOM = [tiny_lm.random(seed, width) for width in (16, 32) for seed in (1, 2, 3)]
FLOATS = [
    *RANDOM,
    *(tiny_lm.structured(width) for width in (16, 32)),
    loud(RANDOM[0]),
    tied(RANDOM[1]),
    replace(RANDOM[2], name="random-3-16 without residual", residual=False),
]
INTEGERS = [*(load(name) for name in names()), hostile(11, 16), hostile(12, 32)]

TOKENS = st.integers(0, tiny_lm.VOCABULARY - 1)
SEEDS = st.integers(0, 2**32 - 1)
REQUANTISERS = st.builds(Requantiser, st.integers(2**15, 2**16 - 1), st.one_of(st.integers(20, 26), st.integers(1, 40)))


@st.composite
def hostile_models(draw: st.DrawFn) -> IntegerModel:
    """Models of any bytes and any legal multipliers and residual."""
    palette = draw(st.one_of(st.sampled_from(PALETTES), st.lists(st.integers(-128, 127), min_size=1)))
    multipliers = draw(st.tuples(*[REQUANTISERS] * 5))
    residual = draw(st.one_of(st.integers(-(2**15), 2**15 - 1), st.integers(-1000, 1000)))
    return hostile(draw(SEEDS), draw(st.sampled_from((16, 32))), palette, multipliers, residual)


@pytest.mark.parametrize(("window", "sinks"), WINDOWS)
def test_a_windowed_float_decode_is_its_recomputation_from_the_token_ids(window: int | None, sinks: int) -> None:
    """DEC-FLOAT on every model from every start."""
    found = (check_generation(model, start, 12, window, sinks) for model in FLOATS for start in STARTS)
    assert gathered(found) == ([], len(FLOATS) * len(STARTS) * 12)


@given(st.sampled_from(FLOATS), st.lists(TOKENS, min_size=1, max_size=24), st.sampled_from(WINDOWS))
def test_a_float_step_is_its_recomputation_whatever_was_fed(
    model: tiny_lm.FloatModel, tokens: list[int], window: tuple[int | None, int]
) -> None:
    """DEC-FLOAT on tokens that no model gave."""
    assert check_float_steps(model, tokens, *window)[0] == []


def test_sinks_are_none_unless_given() -> None:
    """DEC-FLOAT."""
    found = (check_no_sinks_unless_given(RANDOM[0], range(8), window) for window in (2, 4))
    assert gathered(found) == ([], 2 * 2 * 8)


@pytest.mark.parametrize("model", FLOATS, ids=lambda model: model.name)
def test_windows_sinks_and_tokens_out_of_range_are_refused_in_floats(model: tiny_lm.FloatModel) -> None:
    assert check_refused_floats(model)[0] == []


@pytest.mark.parametrize("model", RANDOM, ids=lambda model: model.name)
def test_a_window_that_holds_every_token_is_full_attention_and_a_short_one_is_not(model: tiny_lm.FloatModel) -> None:
    """DEC-FULL from every start; the short window on tokens that differ, since a decode may repeat itself."""
    for start in STARTS:
        different = [(start + 7 * step) % 16 for step in range(16)]
        full = check_full_attention(model, generate(model, start, 24, None).tokens)
        assert gathered([full, check_full_attention(model, different), check_short_window(model, different)])[0] == []


@pytest.mark.parametrize("model", INTEGERS, ids=lambda model: model.name)
def test_an_integer_decode_is_the_definition_from_token_ids(model: IntegerModel) -> None:
    """DEC-INT under every window from every start."""
    found = (
        check_integer_decode(model, [start], 8, window, sinks) for window, sinks in SHORT_WINDOWS for start in STARTS
    )
    assert gathered(found) == ([], len(SHORT_WINDOWS) * len(STARTS) * 8)


@given(hostile_models(), st.lists(TOKENS, min_size=1, max_size=16), st.sampled_from(WINDOWS))
def test_an_integer_decode_is_the_definition_for_any_model_and_tokens(
    model: IntegerModel, tokens: list[int], window: tuple[int | None, int]
) -> None:
    """DEC-INT on models that no float gives."""
    assert check_integer_decode(model, tokens, len(tokens) + 2, *window)[0] == []


@settings(max_examples=250)
@given(hostile_models(), TOKENS, st.one_of(st.integers(0, 12), st.integers(0, 254)), SEEDS, st.sampled_from(PALETTES))
def test_an_integer_step_is_the_definition_over_any_rows(
    model: IntegerModel, token: int, rows: int, seed: int, palette: tuple[int, ...]
) -> None:
    """DEC-INT over rows that no token has, of every byte and of the extremes, up to the longest context."""
    past = hostile_rows(seed, rows, model.width, palette)
    assert check_integer_step(model, token, past)[0] == []


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: f"{len(palette)} values from {palette[0]}")
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("rows", [0, 1, 127, 253, 254])
def test_an_integer_step_is_exact_at_the_extremes(palette: tuple[int, ...], width: int, rows: int) -> None:
    """DEC-INT where sums are largest: every element at an end of int8, and 255 tokens attended."""
    for model in (
        hostile(rows, width, palette),
        hostile(rows, width, palette, residual=-(2**15)),
        load(f"random-1-{width}"),
    ):
        for extremes in (palette, (-128,), (127,)):
            assert check_integer_step(model, rows % 16, hostile_rows(7, rows, width, extremes))[0] == []


def test_every_entry_of_the_table_of_exponentials_weighs_its_row() -> None:
    """DEC-INT for a row that scores 0 .. 255 steps below the largest."""
    assert gathered(check_integer_step(ruler(), 0, ruled(index)) for index in range(256)) == ([], 256)


@pytest.mark.parametrize("width", [16, 32])
def test_exact_halves_are_rounded_up_whatever_their_sign(width: int) -> None:
    """DEC-INT where every second sum lies halfway between two integers."""
    for seed in range(20):
        model = hostile(seed, width, (-1, 0, 1), [Requantiser(2**15, 16)] * 5, residual=1 - seed % 3)
        assert check_integer_step(model, seed % 16, hostile_rows(seed, seed, width, (-1, 0, 1)))[0] == []


@given(hostile_models(), TOKENS, SEEDS, st.data())
def test_the_order_of_the_past_rows_changes_no_integer(
    model: IntegerModel, token: int, seed: int, data: st.DataObject
) -> None:
    """DEC-ORDER."""
    rows = data.draw(st.integers(2, 40))
    order = np.array(data.draw(st.permutations(range(rows))), np.intp)
    past = hostile_rows(seed, rows, model.width)
    assert check_row_order(model, token, past, [order, order[::-1]])[0] == []


@pytest.mark.parametrize("name", names())
def test_the_order_of_the_past_rows_of_a_kept_model_changes_no_integer(name: str) -> None:
    """DEC-ORDER over rows that tokens have, among them equal ones."""
    model = load(name)
    taken = plain_decode(IntegerDecoder(model), [3, 5, 3, 0, 9, 15, 3, 7], 8, None)
    keys, values = np.array([step.key for step in taken]), np.array([step.value for step in taken])
    draw = np.random.default_rng(1)
    orders = [draw.permutation(len(keys)) for _ in range(8)]
    for token in STARTS:
        assert (
            check_row_order(model, token, hostile_rows(1, 0, model.width)._replace(keys=keys, values=values), orders)[0]
            == []
        )


@pytest.mark.parametrize("model", INTEGERS, ids=lambda model: model.name)
def test_too_many_rows_and_what_is_no_row_are_refused(model: IntegerModel) -> None:
    """DEC-INT."""
    assert check_refused_steps(model)[0] == []


SEEN_THROUGH_4 = {0: 1, 2: 3, 3: 4, 4: 4, 5: 4, 9: 4}
"""Tokens that query i sees through a window of 4, its own included: typed, not computed."""


@pytest.mark.parametrize(("query", "seen"), SEEN_THROUGH_4.items())
def test_a_window_of_four_shows_a_query_four_tokens_its_own_included(query: int, seen: int) -> None:
    """WIN-1 by what it says, and DEC-FLOAT and DEC-INT by which tokens can change the logits."""
    assert host.context(query + 1, 4) == oracle.context(query + 1, 4) == seen
    assert sum(hi - lo for lo, hi in host.gather_ranges(query + 1, 4)) == seen - 1
    floats, integers = tiny_lm.random(1, 16), load("random-1-16")
    tokens = [3, 14, 7, 0, 9, 15, 2, 11, 5, 8][: query + 1]

    def float_logits(fed: list[int]) -> NDArray[np.float64]:
        return run_float(FloatDecoder, floats, fed, 4, 0)[-1]

    def integer_logits(fed: list[int]) -> NDArray[np.int32]:
        return plain_decode(IntegerDecoder(integers), fed, len(fed), 4)[-1].logits

    shows: tuple[Callable[[list[int]], NDArray[np.float64] | NDArray[np.int32]], ...] = (float_logits, integer_logits)
    for shown in shows:
        changed = [[*tokens[:row], (tokens[row] + 1) % 16, *tokens[row + 1 :]] for row in range(len(tokens))]
        reaches = [row for row, fed in enumerate(changed) if np.any(shown(fed) != shown(tokens))]
        assert reaches == list(range(query + 1 - seen, query + 1))


def test_the_quick_stage_passes_and_takes_the_same_steps_every_time() -> None:
    first, again = decode_stage(None), decode_stage(None)
    assert (first.verdict, first.broken) == ("pass", {})
    assert first.steps == again.steps > 0
