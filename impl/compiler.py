"""The compiler: a model as the one program that decodes with it, and where everything stands in the chip's memory.

Source: docs/chip.md section 7. The weights are streamed: they stay in memory and every step loads them again.
"""

from dataclasses import dataclass

import numpy as np

from impl.chip import MemoryWords
from impl.decoder import LONGEST_CONTEXT
from impl.integer_model import IntegerModel, Requantiser
from impl.memory_words import LANES_A_WORD, packed
from impl.program import to_words
from impl.tiny_lm import VOCABULARY
from spec.isa import (
    EXT_WORDS,
    LANES,
    Av,
    Dot,
    DotL,
    Halt,
    Instruction,
    Load,
    Register,
    Score,
    SetQ,
    Store,
    StReg,
    Words,
)

Q_ROW, X_ROW, O_ROW, Y_ROW, LOGITS_ROW = 0, 1, 2, 3, 4
KEY_ROW, VALUE_ROW, WEIGHT_ROW = 256, 512, 768
"""Scratchpad rows. The new key and value come first, and a DOT that puts its result rows 256 apart brings them there."""

Q_ENTRY, K_ENTRY, V_ENTRY, EXPONENT_ENTRY, Y_ENTRY = range(5)
CONTEXT, TOKEN, NEW_ROW, TOKEN_OFFSET = 1, 2, 4, 5
"""Registers that the host sets before a step: n, the token, where the new row goes, and the token's place in the embedding."""


class CompileError(ValueError):
    """A model that the chip cannot decode with."""


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Word addresses. Rows stand without gaps: `projections` are those of Wq, Wk and Wv, `new_row` a key, then its value.

    `keys` and `values` have room for the past of the longest context; `end` is the first word behind everything.
    """

    embedding: int
    projections: int
    output: int
    unembedding: int
    keys: int
    values: int
    new_row: int
    logits: int
    token: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A model on the chip: its program, the map of its memory, and what is written there once, before the first step."""

    lanes: int
    instructions: tuple[Instruction, ...]
    program: tuple[Words, ...]
    map: MemoryMap
    memory: tuple[tuple[int, MemoryWords], ...]

    @property
    def row_words(self) -> int:
        """Words of a row."""
        return self.lanes // LANES_A_WORD

    def registers(self, token: int, context: int) -> tuple[tuple[int, int], ...]:
        """Host address and value of each register of a step that feeds the token; `context` counts its new row."""
        values = {CONTEXT: context, TOKEN: token, NEW_ROW: self.map.new_row, TOKEN_OFFSET: token * self.row_words}
        return tuple((Register.R0 + number, value) for number, value in values.items())


def streamed(model: IntegerModel, lanes: int | None = None, words: int = EXT_WORDS) -> Compiled:
    """The program for a chip of so many lanes (None: the model's width) and words of memory, weights streamed.

    Raises CompileError when the model does not fit that chip.
    """
    width = model.width
    _check(model, width if lanes is None else lanes)
    places = _memory_map(width)
    if places.end > words:
        raise CompileError(f"{model.name} takes {places.end} words of memory, and the chip has {words}")
    instructions = _instructions(model, places)
    projections = np.concatenate((model.query, model.key, model.value))
    memory = (
        (places.embedding, packed(model.embedding)),
        (places.projections, packed(projections)),
        (places.output, packed(model.output)),
        (places.unembedding, packed(model.unembedding)),
    )
    return Compiled(width, instructions, to_words(instructions), places, memory)


def _check(model: IntegerModel, lanes: int) -> None:
    """CompileError for a model of another shape than the chip's."""
    if lanes not in LANES:
        raise CompileError(f"a chip has {' or '.join(map(str, LANES))} lanes, not {lanes}")
    width = model.width
    if width != lanes:
        raise CompileError(f"{model.name} has width {width}, and the chip {lanes} lanes")
    tables, squares = (VOCABULARY, width), (width, width)
    for name in ("embedding", "unembedding"):
        shape = getattr(model, name).shape
        if shape != tables:
            raise CompileError(f"the chip gives {VOCABULARY} logits: {name} is {tables}, not {shape}")
    for name in ("query", "key", "value", "output"):
        shape = getattr(model, name).shape
        if shape != squares:
            raise CompileError(f"{name} is {squares}, not {shape}")


def _memory_map(width: int) -> MemoryMap:
    row = width // LANES_A_WORD
    sizes = (
        VOCABULARY * row,
        3 * width * row,
        width * row,
        VOCABULARY * row,
        (LONGEST_CONTEXT - 1) * row,
        (LONGEST_CONTEXT - 1) * row,
        2 * row,
        VOCABULARY,  # a sum is a word
        1,
    )
    return MemoryMap(*(sum(sizes[:index]) for index in range(len(sizes) + 1)))


def _instructions(model: IntegerModel, places: MemoryMap) -> tuple[Instruction, ...]:
    """The program of section 7, in its order: what is needed first is loaded first, the rest while CX is at work."""
    width, row = model.width, model.width // LANES_A_WORD
    output_row = WEIGHT_ROW + 3 * width
    unembedding_row = output_row + width
    scales = model.requantisers
    return (
        Load(X_ROW, 1, places.embedding, address_register=TOKEN_OFFSET),
        Load(WEIGHT_ROW, 3 * width, places.projections),
        _entry(Q_ENTRY, scales.query),
        _entry(K_ENTRY, scales.key),
        _entry(V_ENTRY, scales.value),
        _entry(EXPONENT_ENTRY, model.exponent),
        SetQ(Y_ENTRY, scales.output.m, scales.output.shift, X_ROW, model.residual),
        Dot(X_ROW, WEIGHT_ROW, 3 * width, Q_ROW, Q_ENTRY, next_entry=True, apart=True),
        Load(KEY_ROW + 1, -1, places.keys, count_register=CONTEXT),
        Load(VALUE_ROW + 1, -1, places.values, count_register=CONTEXT),
        Load(output_row, width, places.output),
        Load(unembedding_row, VOCABULARY, places.unembedding),
        Score(Q_ROW, KEY_ROW, 0, EXPONENT_ENTRY, count_register=CONTEXT),
        Av(VALUE_ROW, 0, O_ROW, count_register=CONTEXT),
        Store(KEY_ROW, 1, 0, address_register=NEW_ROW),
        Store(VALUE_ROW, 1, row, address_register=NEW_ROW),
        Dot(O_ROW, output_row, width, Y_ROW, Y_ENTRY),
        DotL(Y_ROW, unembedding_row, VOCABULARY, LOGITS_ROW, argmax=True),
        Store(LOGITS_ROW, VOCABULARY * LANES_A_WORD // width, places.logits),
        StReg(places.token),
        Halt(),
    )


def _entry(number: int, factor: Requantiser) -> SetQ:
    return SetQ(number, factor.m, factor.shift)
