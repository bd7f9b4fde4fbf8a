"""Decoders and float references written apart, whose every step is a method of its own, so that a test can break just one.

Unbroken they agree with the definitions, which the tests show first.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from impl.decoder import Context, ContextTooLongError, Step
from impl.float_reference import Generation
from impl.integer_model import IntegerModel, Requantiser
from impl.tiny_lm import FloatModel
from verify.decode.oracle import Found, gathered

Wide = NDArray[np.int64]
Floats = NDArray[np.float64]


def rules(found: Iterable[Found]) -> set[str]:
    """The rules that the checks found broken."""
    return {difference.rule for difference in gathered(found)[0]}


class Breakable:
    """The integer step, in the words of the reference."""

    def __init__(self, model: IntegerModel) -> None:
        self.model = model
        self.vocabulary, self.width = model.embedding.shape

    def step(self, token: int, context: Context) -> Step:
        self.refused(token, context)
        model, by = self.model, self.model.requantisers
        x = model.embedding[token].astype(np.int64)
        q, k, v = (self.projected(w, x, m) for w, m in zip((model.query, model.key, model.value), by, strict=False))
        keys, values = self.rows(context, k, v)
        scores = keys @ q
        o = self.mean(values, self.weights(scores))
        acc = model.output.astype(np.int64) @ o
        y = self.saturated(self.output(acc, x, by.output))
        logits = model.unembedding.astype(np.int64) @ y
        return Step(self.chosen(logits), self.stored(logits), k.astype(np.int8), v.astype(np.int8))

    def refused(self, token: int, context: Context) -> None:
        if not 0 <= token < self.vocabulary:
            raise ValueError("no token")
        for rows in context:
            if rows.dtype != np.int8 or rows.shape != (len(context.keys), self.width):
                raise ValueError("no rows")
        if len(context.keys) > 254:
            raise ContextTooLongError("too many")

    def projected(self, tensor: NDArray[np.int8], x: Wide, by: Requantiser) -> Wide:
        return self.saturated(self.rounded(tensor.astype(np.int64) @ x * by.m, by.shift))

    def rounded(self, x: Wide, shift: int) -> Wide:
        return (x + (1 << (shift - 1))) >> shift

    def saturated(self, x: Wide) -> Wide:
        return np.clip(x, -128, 127)

    def rows(self, context: Context, k: Wide, v: Wide) -> tuple[Wide, Wide]:
        return np.vstack((context.keys, k)), np.vstack((context.values, v))

    def weights(self, scores: Wide) -> Wide:
        below = self.rounded((scores.max() - scores) * self.model.exponent.m, self.model.exponent.shift)
        return np.array([self.exponential(min(255, int(index))) for index in below])

    def exponential(self, index: int) -> int:
        return math.floor(255 * math.exp(-index / 32) + 0.5)

    def mean(self, values: Wide, weights: Wide) -> Wide:
        total = weights.sum()
        mean: Wide = (2 * (weights @ values) + 257 * total) // (2 * total) - 128
        return mean

    def output(self, acc: Wide, x: Wide, by: Requantiser) -> Wide:
        return self.rounded((acc + self.model.residual * x) * by.m, by.shift)

    def chosen(self, logits: Wide) -> int:
        return int(logits.argmax())

    def stored(self, logits: Wide) -> NDArray[np.int32]:
        return logits.astype(np.int32)


class BreakableFloats:
    """One request in floats, its cache a list."""

    def __init__(self, model: FloatModel, window: int | None, sinks: int) -> None:
        if sinks < 0 or (window is not None and sinks >= window):
            raise ValueError("window" if window is not None and window < 1 else "sinks")
        self.model, self.window, self.sinks = model, window, sinks
        self.cache: list[tuple[Floats, Floats]] = []

    def step(self, token: int) -> Floats:
        if not 0 <= token < len(self.model.embedding):
            raise ValueError("token")
        x = self.model.embedding[token]
        self.cache = [*self.kept(self.cache), self.row(x)]
        keys, values = (np.array(part) for part in zip(*self.cache, strict=True))
        y = self.model.output @ (self.softmax(self.scores(keys, self.model.query @ x)) @ values)
        return self.model.unembedding @ self.added(y, x)

    def kept(self, cache: list[tuple[Floats, Floats]]) -> list[tuple[Floats, Floats]]:
        """What of the past rows the step reads."""
        if self.window is None or len(cache) < self.window:
            return cache
        return cache[: self.sinks] + cache[len(cache) - (self.window - 1 - self.sinks) :]

    def row(self, x: Floats) -> tuple[Floats, Floats]:
        return self.model.key @ x, self.model.value @ x

    def scores(self, keys: Floats, query: Floats) -> Floats:
        scores: Floats = keys @ query / math.sqrt(len(query))
        return scores

    def softmax(self, scores: Floats) -> Floats:
        powers = np.exp(scores - scores.max())
        weights: Floats = powers / powers.sum()
        return weights

    def added(self, y: Floats, x: Floats) -> Floats:
        return y + x if self.model.residual else y


class BreakableRun:
    """A greedy decode in floats."""

    floats = BreakableFloats

    def __call__(self, model: FloatModel, start: int, steps: int, window: int | None, sinks: int) -> Generation:
        decoder = self.floats(model, window, sinks)
        tokens, logits = [start], []
        for _ in range(steps):
            logits.append(decoder.step(tokens[-1]))
            tokens.append(self.chosen(logits[-1]))
        return self.told(tokens, logits)

    def chosen(self, logits: Floats) -> int:
        return int(logits.argmax())

    def told(self, tokens: Sequence[int], logits: Sequence[Floats]) -> Generation:
        return Generation(tuple(tokens), np.array(logits))
