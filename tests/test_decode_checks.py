"""The checks of whole decodes and of the window rule are shown something broken for every rule, and must reject it."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from impl import tiny_lm
from impl import window as host
from impl.decoder import Decoder, IntegerDecoder
from impl.integer_model import IntegerModel, Requantiser
from impl.model_files import load
from impl.quantise import quantise
from tests.breakable_decoders import Breakable, Wide, rules
from tests.planted_windows import ignores_sinks, last_row_twice, one_more_context, trims_late
from tests.test_integer_checks import ForgetsTheResidual, SwapsKeysAndValues
from verify.bounds import PROFILES
from verify.decode.behaviour_checks import (
    LogitError,
    check_float_rule,
    check_knocked_out,
    check_logit_error,
    check_rule,
    measured,
)
from verify.decode.suite import window_parts
from verify.summary import Summary, render_summary

MODEL = tiny_lm.random(1, 16)


INTEGERS = quantise(MODEL)


def test_a_scale_of_y_that_is_too_small_saturates_and_breaks_error() -> None:
    by, scales = INTEGERS.requantisers.output, replace(INTEGERS.scales, y=INTEGERS.scales.y / 4)
    small = replace(
        INTEGERS,
        requantisers=INTEGERS.requantisers._replace(output=Requantiser(by.m, by.shift - 2)),
        scales=scales,
    )
    assert rules([check_logit_error(measured(MODEL, small, 4, (3,), 16))]) == {"DEC-ERROR"}
    assert rules([check_logit_error(measured(MODEL, INTEGERS, 4, (3,), 16))]) == set()


@pytest.mark.parametrize("broken", [ForgetsTheResidual, SwapsKeysAndValues])
def test_a_decoder_far_from_the_floats_breaks_error(broken: type[Breakable]) -> None:
    assert rules([check_logit_error(measured(MODEL, INTEGERS, 4, (3, 8), 16, broken))]) == {"DEC-ERROR"}


@pytest.mark.parametrize(
    ("mean", "worst"), [(0.04, 0.05), (0.01, 0.15), (math.nan, 0.05), (0.01, math.nan), (0.05, 0.2)]
)
def test_an_error_at_its_bound_or_beyond_and_one_that_is_no_number_are_rejected(mean: float, worst: float) -> None:
    assert rules([check_logit_error(LogitError("m", 16, 4, mean, worst, 1))]) == {"DEC-ERROR"}
    assert rules([check_logit_error(LogitError("m", 16, 4, 0.0399, 0.1499, 1))]) == set()


def test_a_model_that_does_not_follow_the_rule_breaks_rule() -> None:
    assert rules([check_rule(INTEGERS, 4, (0,), 4)]) == {"DEC-RULE"}
    assert rules([check_float_rule(MODEL, 4, (0,), 4)]) == {"DEC-RULE"}


def test_a_model_that_follows_the_rule_from_all_starts_but_one_breaks_rule() -> None:
    class Once(Breakable):
        def chosen(self, logits: Wide) -> int:
            token = super().chosen(logits)
            return token if token != 11 else 12

    assert len(check_rule(load("structured-16"), 4, range(16), 1, make=Once)[0]) == 1


def test_a_rule_that_is_followed_without_attention_breaks_rule() -> None:
    structured = load("structured-16")

    def untouched(model: IntegerModel) -> Decoder:
        return IntegerDecoder(structured)

    found, steps = check_knocked_out(structured, 4, (0, 1), 8, untouched)
    assert (len(found), steps) == (4, 32)
    assert {difference.rule for difference in found} == {"DEC-RULE"}


@pytest.mark.parametrize(
    ("name", "broken", "expected"),
    [
        ("context", one_more_context, {"WIN-1"}),
        ("gather_ranges", last_row_twice, {"WIN-2", "WIN-6"}),
        ("keep_from", trims_late, {"WIN-3", "WIN-6"}),
        ("keep_from", ignores_sinks, {"WIN-6"}),
    ],
)
def test_a_broken_window_rule_is_rejected_by_its_rule(
    monkeypatch: pytest.MonkeyPatch, name: str, broken: Callable[..., object], expected: set[str]
) -> None:
    assert rules(window_parts()) == set()
    monkeypatch.setattr(host, name, broken)
    assert expected <= rules(window_parts())


def test_the_summary_shows_the_worst_model_of_each_width_and_window() -> None:
    errors = [
        LogitError("random-1-16", 16, None, 0.021, 0.05, 512),
        LogitError("random-2-16", 16, None, 0.025, 0.04, 512),
        LogitError("random-1-32", 32, 4, 0.01, 0.0312, 512),
    ]
    text = render_summary(Summary(PROFILES["dev"], logit_errors=errors), 140)
    lines = [line.split("│")[1:-1] for line in text.splitlines() if "width" in line]
    assert [[cell.strip() for cell in line] for line in lines] == [
        ["width 16, no window", "2", "1,024", "2.50% (random-2-16)", "5.00% (random-1-16)"],
        ["width 32, window 4", "1", "512", "1.00% (random-1-32)", "3.12% (random-1-32)"],
    ]
