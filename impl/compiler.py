"""The compiler: a model as the programs that decode with it, and what its chip's memory holds before the first step.

A step comes in three forms. The host gathers the past rows, or the chip does, through a block table; and the weights are
streamed, every step loading them again, or resident: a program of their own leaves them on the chip. Source: docs/chip.md
section 7.
"""

from dataclasses import dataclass
from typing import overload

import numpy as np

from impl.chip import MemoryWords
from impl.integer_model import IntegerModel, Requantiser
from impl.memory_map import CompileError, Gathering, MemoryMap, PagedMap, check_lanes, host_map, paged_map
from impl.memory_words import LANES_A_WORD, packed, row_words
from impl.program import to_words
from impl.tiny_lm import VOCABULARY
from spec.isa import (
    EXT_WORDS,
    Av,
    Dot,
    DotL,
    Gather,
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
CONTEXT, TOKEN, FIRST, NEW_ROW, TOKEN_OFFSET = 1, 2, 3, 4, 5
"""Registers that the host sets before a step: n, the token, lo, where the new row goes, the token's place in the embedding."""
KEYS, VALUES = 0, 1
"""The halves of a page."""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A model on a chip whose past rows the host gathers: the program of a step, and the memory before the first step."""

    lanes: int
    instructions: tuple[Instruction, ...]
    program: tuple[Words, ...]
    map: MemoryMap
    memory: tuple[tuple[int, MemoryWords], ...]

    @property
    def row_words(self) -> int:
        """Words of a row."""
        return row_words(self.lanes)

    def registers(self, token: int, context: int) -> tuple[tuple[int, int], ...]:
        """Host address and value of each register of a step that feeds the token; `context` counts its new row."""
        values = {CONTEXT: context, TOKEN: token, NEW_ROW: self.map.new_row, TOKEN_OFFSET: token * self.row_words}
        return _registers(values)


@dataclass(frozen=True, slots=True, eq=False)
class PagedCompiled:
    """A model on a chip that gathers by itself.

    `once` is the program that brings weights and entries to stay, before the first step of a life; None where every step
    streams them.
    """

    lanes: int
    once: tuple[Words, ...] | None
    instructions: tuple[Instruction, ...]
    program: tuple[Words, ...]
    map: PagedMap
    memory: tuple[tuple[int, MemoryWords], ...]

    @property
    def row_words(self) -> int:
        """Words of a row."""
        return row_words(self.lanes)

    @property
    def half_words(self) -> int:
        """Words of the keys of a page, which its values follow."""
        return self.map.page_size * self.row_words

    def new_row(self, slot: int) -> int:
        """Word address of the key in that slot, page * page size + offset; its value stands `half_words` behind it."""
        page, offset = divmod(slot, self.map.page_size)
        return self.map.pool + page * 2 * self.half_words + offset * self.row_words

    def registers(self, token: int, context: int, first: int, slot: int) -> tuple[tuple[int, int], ...]:
        """Host address and value of each register of a step that feeds the token, the walker's included.

        `context` counts its new row, which goes to the slot; `first` is the first logical row that it reads.
        """
        values = {
            CONTEXT: context,
            TOKEN: token,
            FIRST: first,
            NEW_ROW: self.new_row(slot),
            TOKEN_OFFSET: token * self.row_words,
        }
        return (*_registers(values), *self.map.walker)


@overload
def streamed(
    model: IntegerModel, lanes: int | None = None, words: int = EXT_WORDS, gather: None = None
) -> Compiled: ...
@overload
def streamed(model: IntegerModel, lanes: int | None, words: int, gather: Gathering) -> PagedCompiled: ...
@overload
def streamed(
    model: IntegerModel, lanes: int | None = None, words: int = EXT_WORDS, *, gather: Gathering
) -> PagedCompiled: ...
def streamed(
    model: IntegerModel, lanes: int | None = None, words: int = EXT_WORDS, gather: Gathering | None = None
) -> Compiled | PagedCompiled:
    """The program for a chip of so many lanes (None: the model's width) and words of memory, weights streamed.

    Without `gather` the host gathers. Raises CompileError when the model or the pool does not fit that chip.
    """
    width = _checked(model, lanes)
    if gather is not None:
        places = paged_map(width, words, gather)
        instructions = _step(model, places, _chip_gathers(), places.page_size, stream=True)
        return PagedCompiled(width, None, instructions, to_words(instructions), places, _memory(model, places))
    buffers = host_map(width)
    if buffers.end > words:
        raise CompileError(f"{model.name} takes {buffers.end} words of memory, and the chip has {words}")
    instructions = _step(model, buffers, _host_gathers(buffers), 1, stream=True)
    return Compiled(width, instructions, to_words(instructions), buffers, _memory(model, buffers))


def resident(model: IntegerModel, gather: Gathering, lanes: int | None = None, words: int = EXT_WORDS) -> PagedCompiled:
    """The two programs for a chip that gathers by itself and keeps the weights; see streamed."""
    width = _checked(model, lanes)
    places = paged_map(width, words, gather)
    once = (
        # Wq, Wk, Wv, Wo and U follow each other in memory as on the chip.
        Load(WEIGHT_ROW, 4 * width + VOCABULARY, places.projections),
        *_entries(model),
        Halt(),
    )
    instructions = _step(model, places, _chip_gathers(), places.page_size, stream=False)
    memory = _memory(model, places)
    return PagedCompiled(width, to_words(once), instructions, to_words(instructions), places, memory)


def _registers(values: dict[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((Register.R0 + number, value) for number, value in values.items())


def _checked(model: IntegerModel, lanes: int | None) -> int:
    """The model's width; CompileError for a model of another shape than the chip's."""
    width = model.width
    check_lanes(width if lanes is None else lanes)
    if lanes not in (None, width):
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
    return width


def _memory(model: IntegerModel, places: MemoryMap | PagedMap) -> tuple[tuple[int, MemoryWords], ...]:
    """The weights, where they stand."""
    return (
        (places.embedding, packed(model.embedding)),
        (places.projections, packed(np.concatenate((model.query, model.key, model.value)))),
        (places.output, packed(model.output)),
        (places.unembedding, packed(model.unembedding)),
    )


def _host_gathers(places: MemoryMap) -> tuple[Instruction, Instruction]:
    """Past rows from the buffers into which the host wrote them."""
    return (
        Load(KEY_ROW + 1, -1, places.keys, count_register=CONTEXT),
        Load(VALUE_ROW + 1, -1, places.values, count_register=CONTEXT),
    )


def _chip_gathers() -> tuple[Instruction, Instruction]:
    """Past rows through the block table."""
    return (
        Gather(KEY_ROW + 1, -1, KEYS, count_register=CONTEXT, address_register=FIRST),
        Gather(VALUE_ROW + 1, -1, VALUES, count_register=CONTEXT, address_register=FIRST),
    )


def _step(
    model: IntegerModel,
    places: MemoryMap | PagedMap,
    past: tuple[Instruction, Instruction],
    rows_apart: int,
    stream: bool,
) -> tuple[Instruction, ...]:
    """The program of section 7, in its order: what is needed first is loaded first, the rest while CX is at work.

    The new value goes `rows_apart` rows behind the new key. Without `stream` weights and entries are there already.
    """
    width, row = model.width, row_words(model.width)
    output_row = WEIGHT_ROW + 3 * width
    unembedding_row = output_row + width
    first: tuple[Instruction, ...] = ()
    last: tuple[Instruction, ...] = ()
    if stream:
        first = (Load(WEIGHT_ROW, 3 * width, places.projections), *_entries(model))
        last = (Load(output_row, width, places.output), Load(unembedding_row, VOCABULARY, places.unembedding))
    return (
        Load(X_ROW, 1, places.embedding, address_register=TOKEN_OFFSET),
        *first,
        Dot(X_ROW, WEIGHT_ROW, 3 * width, Q_ROW, Q_ENTRY, next_entry=True, apart=True),
        *past,
        *last,
        Score(Q_ROW, KEY_ROW, 0, EXPONENT_ENTRY, count_register=CONTEXT),
        Av(VALUE_ROW, 0, O_ROW, count_register=CONTEXT),
        Store(KEY_ROW, 1, 0, address_register=NEW_ROW),
        Store(VALUE_ROW, 1, rows_apart * row, address_register=NEW_ROW),
        Dot(O_ROW, output_row, width, Y_ROW, Y_ENTRY),
        DotL(Y_ROW, unembedding_row, VOCABULARY, LOGITS_ROW, argmax=True),
        Store(LOGITS_ROW, VOCABULARY * LANES_A_WORD // width, places.logits),
        StReg(places.token),
        Halt(),
    )


def _entries(model: IntegerModel) -> tuple[Instruction, ...]:
    """The factors of every DOT and of the exponent."""
    scales = model.requantisers
    return (
        _entry(Q_ENTRY, scales.query),
        _entry(K_ENTRY, scales.key),
        _entry(V_ENTRY, scales.value),
        _entry(EXPONENT_ENTRY, model.exponent),
        SetQ(Y_ENTRY, scales.output.m, scales.output.shift, X_ROW, model.residual),
    )


def _entry(number: int, factor: Requantiser) -> SetQ:
    return SetQ(number, factor.m, factor.shift)
