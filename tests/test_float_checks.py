"""The checks of the float reference are shown one broken in one place, and must reject it by their rule."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from impl import tiny_lm
from impl.float_reference import FloatDecoder, Generation
from tests.breakable_decoders import BreakableFloats, BreakableRun, Floats, rules
from verify.decode import float_checks
from verify.decode.float_checks import check_generation, check_no_sinks_unless_given, check_short_window
from verify.decode.suite import behaviour_parts, float_parts, integer_parts

MODEL = tiny_lm.random(1, 16)


def test_a_float_reference_written_apart_passes_every_check() -> None:
    assert rules((*float_parts(BreakableFloats, BreakableRun()), *behaviour_parts(run=BreakableRun()))) == set()


Cache = list[tuple[Floats, Floats]]


class KeepsOneRowMore(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        return cache if self.window is None or len(cache) <= self.window else [*cache[: self.sinks], *self.last(cache)]

    def last(self, cache: Cache) -> Cache:
        return cache[len(cache) - ((self.window or 0) - self.sinks) :]


class KeepsOneRowLess(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        return super().kept(cache)[1:]


class SlicesFromMinusZero(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        if self.window is None or len(cache) < self.window:
            return cache
        return cache[: self.sinks] + cache[-(self.window - 1 - self.sinks) :]


class ForgetsTheSinks(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        return cache if self.window is None or len(cache) < self.window else cache[len(cache) - (self.window - 1) :]


class AddsTheSinks(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        if self.window is None or len(cache) < self.window:
            return cache
        return cache[: self.sinks] + cache[max(self.sinks, len(cache) - (self.window - 1)) :]


class SwapsFloatKeysAndValues(BreakableFloats):
    def row(self, x: Floats) -> tuple[Floats, Floats]:
        key, value = super().row(x)
        return value, key


class DividesByTheWidth(BreakableFloats):
    def scores(self, keys: Floats, query: Floats) -> Floats:
        return super().scores(keys, query) / math.sqrt(len(query))


class Overflows(BreakableFloats):
    @np.errstate(over="ignore", invalid="ignore")
    def softmax(self, scores: Floats) -> Floats:
        powers = np.exp(scores)
        weights: Floats = powers / powers.sum()
        return weights


class ForgetsTheFloatResidual(BreakableFloats):
    def added(self, y: Floats, x: Floats) -> Floats:
        return y


class AlwaysAddsAResidual(BreakableFloats):
    def added(self, y: Floats, x: Floats) -> Floats:
        return y + x


class IsOffByABillionth(BreakableFloats):
    def added(self, y: Floats, x: Floats) -> Floats:
        return super().added(y, x) + 3e-9


class TakesAnyToken(BreakableFloats):
    def step(self, token: int) -> Floats:
        return super().step(token % 16)


BROKEN_FLOATS: tuple[type[BreakableFloats], ...] = (
    KeepsOneRowMore,
    KeepsOneRowLess,
    SlicesFromMinusZero,
    ForgetsTheSinks,
    AddsTheSinks,
    SwapsFloatKeysAndValues,
    DividesByTheWidth,
    Overflows,
    ForgetsTheFloatResidual,
    AlwaysAddsAResidual,
    IsOffByABillionth,
    TakesAnyToken,
)


@pytest.mark.parametrize("broken", BROKEN_FLOATS)
def test_a_broken_float_reference_is_rejected_by_the_quick_stage(broken: type[BreakableFloats]) -> None:
    assert "DEC-FLOAT" in rules(float_parts(broken))


class CutsTheFullWindow(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        return cache if self.window is None else cache[-4:]


class IgnoresTheWindow(BreakableFloats):
    def kept(self, cache: Cache) -> Cache:
        return cache


class DriftsByARounding(BreakableFloats):
    def added(self, y: Floats, x: Floats) -> Floats:
        drifted: Floats = super().added(y, x) * (1 + 1e-11)
        return drifted


@pytest.mark.parametrize("broken", [CutsTheFullWindow, IgnoresTheWindow, DriftsByARounding])
def test_a_window_that_is_not_full_attention_while_it_holds_all_or_always_is_breaks_full(
    broken: type[BreakableFloats],
) -> None:
    assert "DEC-FULL" in rules(float_parts(broken))


def test_a_model_that_a_short_window_does_not_change_shows_nothing_and_is_rejected() -> None:
    assert rules([check_short_window(MODEL, [3] * 8)]) == {"DEC-FULL"}


class TakesTheLastFloatTie(BreakableRun):
    def chosen(self, logits: Floats) -> int:
        return len(logits) - 1 - int(logits[::-1].argmax())


class FeedsTheStartForEver(BreakableRun):
    class Stuck(BreakableFloats):
        def step(self, token: int) -> Floats:
            self.first = getattr(self, "first", token)
            return super().step(self.first)

    floats = Stuck


class LeavesTheStartOut(BreakableRun):
    def told(self, tokens: Sequence[int], logits: Sequence[Floats]) -> Generation:
        return Generation(tuple(tokens[1:]), np.array(logits))


class ShiftsTheLogits(BreakableRun):
    def told(self, tokens: Sequence[int], logits: Sequence[Floats]) -> Generation:
        return Generation(tuple(tokens), np.roll(np.array(logits), 1, axis=0))


class LosesALine(BreakableRun):
    def told(self, tokens: Sequence[int], logits: Sequence[Floats]) -> Generation:
        return Generation(tuple(tokens), np.array(logits)[1:])


@pytest.mark.parametrize(
    "broken", [TakesTheLastFloatTie, FeedsTheStartForEver, LeavesTheStartOut, ShiftsTheLogits, LosesALine]
)
def test_a_broken_greedy_decode_breaks_float(broken: type[BreakableRun]) -> None:
    assert rules(float_parts(run=broken())) == {"DEC-FLOAT"}


def test_what_raises_is_a_difference_and_no_crash() -> None:
    def raising(*arguments: object) -> Generation:
        raise RuntimeError("no decoder")

    assert rules([check_generation(MODEL, 0, 3, 2, 0, raising)]) == {"DEC-FLOAT"}
    assert rules(float_parts(raising, raising)) == {"DEC-FLOAT", "DEC-FULL"}  # type: ignore[arg-type]
    assert rules(integer_parts(raising)) == {"DEC-INT", "DEC-ORDER"}  # type: ignore[arg-type]
    assert rules(behaviour_parts(raising, raising)) == {"DEC-ERROR", "DEC-RULE"}  # type: ignore[arg-type]


def test_a_sink_that_nobody_asked_for_breaks_float(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules([check_no_sinks_unless_given(MODEL, (3, 14, 1, 5), 2)]) == set()
    monkeypatch.setattr(float_checks, "FloatDecoder", lambda model, window, sinks=1: FloatDecoder(model, window, sinks))
    assert rules([check_no_sinks_unless_given(MODEL, (3, 14, 1, 5), 2)]) == {"DEC-FLOAT"}
