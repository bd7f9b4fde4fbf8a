"""The checks of the integer decoder are shown a decoder broken in one place, and must reject it by their rule."""

import numpy as np
import pytest

from impl.decoder import Context, IntegerDecoder, Step
from impl.integer_model import Requantiser
from impl.model_files import load
from tests.breakable_decoders import Breakable, Wide, rules
from verify.decode import integer_checks
from verify.decode.integer_checks import check_integer_step, check_refused_steps
from verify.decode.suite import behaviour_parts, integer_parts


def test_a_decoder_written_apart_passes_every_check() -> None:
    assert rules((*integer_parts(Breakable), *behaviour_parts(Breakable))) == set()


class ReadsARowTwice(Breakable):
    def rows(self, context: Context, k: Wide, v: Wide) -> tuple[Wide, Wide]:
        first = Context(context.keys[:1], context.values[:1])
        return super().rows(Context(*map(np.vstack, zip(first, context, strict=True))), k, v)


class MissesTheFirstRow(Breakable):
    def rows(self, context: Context, k: Wide, v: Wide) -> tuple[Wide, Wide]:
        return super().rows(Context(context.keys[1:], context.values[1:]), k, v)


class MissesItsOwnRow(Breakable):
    def rows(self, context: Context, k: Wide, v: Wide) -> tuple[Wide, Wide]:
        return (context.keys * 1, context.values * 1) if len(context.keys) else super().rows(context, k, v)  # type: ignore[return-value]


class SwapsKeysAndValues(Breakable):
    def rows(self, context: Context, k: Wide, v: Wide) -> tuple[Wide, Wide]:
        return super().rows(Context(context.values, context.keys), k, v)


class GivesItsKeyAsItsValue(Breakable):
    def step(self, token: int, context: Context) -> Step:
        step = super().step(token, context)
        return step._replace(value=step.key)


class ForgetsTheResidual(Breakable):
    def output(self, acc: Wide, x: Wide, by: Requantiser) -> Wide:
        return self.rounded(acc * by.m, by.shift)


class RoundsTwice(Breakable):
    def output(self, acc: Wide, x: Wide, by: Requantiser) -> Wide:
        scaled = self.model.residual * x * by.m
        return self.rounded(acc * by.m, by.shift) + self.rounded(scaled, by.shift)


class Floors(Breakable):
    def rounded(self, x: Wide, shift: int) -> Wide:
        return x >> shift


class RoundsHalvesAwayFromZero(Breakable):
    def rounded(self, x: Wide, shift: int) -> Wide:
        rounded: Wide = np.sign(x) * ((np.abs(x) + (1 << (shift - 1))) >> shift)
        return rounded


class DoesNotSaturate(Breakable):
    def saturated(self, x: Wide) -> Wide:
        return (x + 128) % 256 - 128


class SaturatesSymmetrically(Breakable):
    def saturated(self, x: Wide) -> Wide:
        return np.clip(x, -127, 127)


class TakesTheLastTie(Breakable):
    def chosen(self, logits: Wide) -> int:
        return len(logits) - 1 - int(logits[::-1].argmax())


class ShiftsTheTable(Breakable):
    def exponential(self, index: int) -> int:
        return super().exponential(index + 1)


class EndsTheTableEarly(Breakable):
    def exponential(self, index: int) -> int:
        return super().exponential(index) if index < 199 else 0


class WrapsTheIndex(Breakable):
    def weights(self, scores: Wide) -> Wide:
        below = self.rounded((scores.max() - scores) * self.model.exponent.m, self.model.exponent.shift)
        return np.array([self.exponential(int(index) % 256) for index in below])


class FloorsTheMean(Breakable):
    def mean(self, values: Wide, weights: Wide) -> Wide:
        floor: Wide = (weights @ values) // weights.sum()
        return floor


class RoundsTheMeanTowardsZero(Breakable):
    def mean(self, values: Wide, weights: Wide) -> Wide:
        total = int(weights.sum())
        return np.array([int((2 * int(a) + total) / (2 * total)) for a in weights @ values])


class MultipliesIn32Bits(Breakable):
    def output(self, acc: Wide, x: Wide, by: Requantiser) -> Wide:
        product = ((acc + self.model.residual * x) * by.m + 2**31) % 2**32 - 2**31
        return self.rounded(product, by.shift)


class GivesWideLogits(Breakable):
    def stored(self, logits: Wide) -> Wide:  # type: ignore[override]
        return logits


class TakesAnyContext(Breakable):
    def refused(self, token: int, context: Context) -> None:
        pass


class WeighsByPosition(Breakable):
    def weights(self, scores: Wide) -> Wide:
        return super().weights(scores + np.arange(len(scores)) * 1000)


class Raises(Breakable):
    def step(self, token: int, context: Context) -> Step:
        raise IndexError("out of rows")


BROKEN_DECODERS: tuple[type[Breakable], ...] = (
    ReadsARowTwice,
    MissesTheFirstRow,
    MissesItsOwnRow,
    SwapsKeysAndValues,
    GivesItsKeyAsItsValue,
    ForgetsTheResidual,
    RoundsTwice,
    Floors,
    RoundsHalvesAwayFromZero,
    DoesNotSaturate,
    SaturatesSymmetrically,
    TakesTheLastTie,
    ShiftsTheTable,
    EndsTheTableEarly,
    WrapsTheIndex,
    FloorsTheMean,
    RoundsTheMeanTowardsZero,
    MultipliesIn32Bits,
    GivesWideLogits,
    TakesAnyContext,
    WeighsByPosition,
    Raises,
)


@pytest.mark.parametrize("broken", BROKEN_DECODERS)
def test_a_broken_decoder_is_rejected_by_the_quick_stage(broken: type[Breakable]) -> None:
    assert "DEC-INT" in rules(integer_parts(broken))


@pytest.mark.parametrize("broken", [ReadsARowTwice, MissesTheFirstRow, WeighsByPosition, Raises])
def test_a_step_that_depends_on_the_order_of_its_rows_breaks_order(broken: type[Breakable]) -> None:
    assert "DEC-ORDER" in rules(integer_parts(broken))


class Remembers(IntegerDecoder):
    """A decoder that lets the last token into the next step."""

    last = 0
    __slots__ = ()

    def step(self, token: int, context: Context) -> Step:
        step = super().step((token + Remembers.last) % 2, context)
        Remembers.last += 1
        return step


def test_a_decoder_that_keeps_a_state_breaks_order() -> None:
    assert "DEC-ORDER" in rules(integer_parts(Remembers))


def test_one_difference_is_told_for_each_part_of_a_step() -> None:
    model = load("random-1-16")

    class OneOff(Breakable):
        def step(self, token: int, context: Context) -> Step:
            token, logits, key, value = super().step(token, context)
            return Step((token + 1) % 16, logits + np.int32(1), key ^ 1, value ^ 1)

    empty = np.empty((0, 16), np.int8)
    found = check_integer_step(model, 3, Context(empty, empty), OneOff)[0]
    assert [difference.rule for difference in found] == ["DEC-INT"] * 4
    assert [difference.oracle.split(": ")[1].split()[0] for difference in found] == ["token", "logits", "key", "value"]


def test_a_check_that_lets_wrong_rows_reach_a_decoder_breaks_int(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder behind it raises by itself, which hides that."""
    model = load("random-1-16")
    assert rules([check_refused_steps(model)]) == set()
    monkeypatch.setattr(integer_checks, "check_step", lambda decoder, token, past: None)
    assert rules([check_refused_steps(model)]) == {"DEC-INT"}
