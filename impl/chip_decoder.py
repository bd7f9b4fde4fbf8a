"""The decoders on a chip: every step is one life of the chip, from power-on to the HALT of its last program.

Nothing stays on the chip from step to step. For a ChipDecoder the host gathers the past rows and brings them each time; a
PagedChipDecoder has them in its memory and finds them there by a block table. Source: docs/chip.md section 7.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from impl.chip import Chip, ChipDied, ChipError, MemoryWords, Profile, Result, Start
from impl.compiler import Compiled, PagedCompiled, resident, streamed
from impl.decoder import Context, ContextTooLongError, Places, Step, check_context, check_step, check_token
from impl.integer_model import IntegerModel
from impl.memory_map import ENTRY_VALID, Gathering, MemoryMap, PagedMap
from impl.memory_words import packed, row_words, sums, unpacked
from impl.pool import Pool
from impl.program import listed
from spec.isa import CODE_SHIFT, DONE, ERROR, ErrorCode, Words

DEFAULT_PROFILE = Profile()
_ERRORS = {code.value: code.name for code in ErrorCode if code is not ErrorCode.NONE}
_REGISTER_MASK = 2**32 - 1


class ProgramFailed(ChipError):  # noqa: N818
    """A program did not end as one without an error does."""


class DecoderOnChip:
    """What the decoders on a chip have in common. Their steps raise ChipError too, an error of the program ProgramFailed.

    `last` is the result of the last step's run, whatever came of it, and `cycles` the cycles of all steps so far; they stay
    0 on a chip that has no time.
    """

    __slots__ = ("_chip", "_profile", "cycles", "last", "vocabulary", "width")

    def __init__(self, model: IntegerModel, chip: Chip, profile: Profile) -> None:
        self.vocabulary, self.width = model.embedding.shape
        self.last: Result | None = None
        self.cycles = 0
        self._chip = chip
        self._profile = profile

    def _run(self, starts: Sequence[Start], programs: Sequence[Sequence[Words]], memory: MemoryWords) -> Result:
        """The result of the last of the starts, which is the step; each has run its program to the end."""
        results = self._chip.run(starts, memory, self._profile)
        self.last = results[-1]
        if self.last.counters is not None:
            self.cycles += self.last.counters.total
        for result, program in zip(results, programs, strict=True):
            check_ended(result, program)
        return results[-1]

    def _given(self, result: Result, places: MemoryMap | PagedMap, key: int, value: int) -> Step:
        """What the step stored: token and logits where the map has them, and the new row at these addresses."""
        memory = result.memory
        token = int(memory[places.token])
        if token != result.token or token >= self.vocabulary:
            raise ChipDied(f"the chip's token is {result.token}, and it wrote {token}, of 0 .. {self.vocabulary - 1}")
        words = row_words(self.width)
        new = (row for address in (key, value) for row in unpacked(memory[address : address + words], self.width))
        return Step(token, sums(memory[places.logits : places.logits + self.vocabulary]), *new)


class ChipDecoder(DecoderOnChip):
    """A model on a chip for which the host gathers: a Decoder. Raises CompileError when the model does not fit the chip."""

    __slots__ = ("_memory", "compiled")

    def __init__(self, model: IntegerModel, chip: Chip, profile: Profile = DEFAULT_PROFILE) -> None:
        super().__init__(model, chip, profile)
        self.compiled: Compiled = streamed(model, chip.lanes, chip.words)
        self._memory = _written(self.compiled.memory, chip.words)

    def step(self, token: int, context: Context) -> Step:
        """Feed the token; see Decoder.step."""
        check_step(self, token, context)
        compiled, places = self.compiled, self.compiled.map
        past = ((places.keys, packed(context.keys)), (places.values, packed(context.values)))
        start = Start(compiled.program, compiled.registers(token, len(context.keys) + 1), past)
        result = self._run((start,), (compiled.program,), self._memory)
        return self._given(result, places, places.new_row, places.new_row + compiled.row_words)


class PagedChipDecoder(DecoderOnChip):
    """A model on a chip that gathers by itself, from a pool in its memory: what a ChipHost decodes with.

    `memory` is the memory that a step in place finds, and what it leaves is the next one's; `pool` is a part of it. With
    `stays` each life begins with the program that brings weights and entries, which counts no cycles. Raises CompileError
    when the model or the pool does not fit the chip.
    """

    __slots__ = ("compiled", "memory", "pool")

    def __init__(
        self,
        model: IntegerModel,
        chip: Chip,
        gather: Gathering,
        stays: bool = False,
        profile: Profile = DEFAULT_PROFILE,
    ) -> None:
        super().__init__(model, chip, profile)
        self.compiled: PagedCompiled = (
            resident(model, gather, chip.lanes, chip.words)
            if stays
            else streamed(model, chip.lanes, chip.words, gather)
        )
        self.memory = _written(self.compiled.memory, chip.words)
        self.pool = self._pool_in(self.memory)

    def step(self, token: int, context: Context) -> Step:
        """Feed the token; see Decoder.step. The rows go to the first pages of a memory that holds nothing else.

        Raises ContextTooLongError also when the pool has no room for them and the new one.
        """
        check_step(self, token, context)
        past = len(context.keys)
        pages = range(past // self.pool.page_size + 1)
        if len(pages) > self.pool.pages:
            room = self.pool.pages * self.pool.page_size
            raise ContextTooLongError(f"the chip's pool has room for {room} rows, not for {past + 1}")
        memory = _written(self.compiled.memory, len(self.memory))
        self._pool_in(memory).write(array("q", pages), 0, np.stack(context)[np.newaxis])
        return self._stepped(token, Places(pages, 0, 0, past + 1, past), memory)[0]

    def step_in_place(self, token: int, places: Places) -> Step:
        """Feed the token and leave its row in `memory`, which an error leaves as it was.

        The step attends the rows that stand in `memory` already, read through the block table. Raises ValueError for a token
        outside the vocabulary or more pages than the pool has, ContextTooLongError.
        """
        check_token(self, token)
        check_context(places.context)
        if len(places.pages) > self.pool.pages:
            raise ValueError(f"the chip's pool has {self.pool.pages} pages, not {len(places.pages)}")
        step, self.memory[:] = self._stepped(token, places, self.memory)
        return step

    def _stepped(self, token: int, places: Places, memory: MemoryWords) -> tuple[Step, MemoryWords]:
        """The step from that memory, which is not changed, and the memory that it leaves."""
        compiled, where = self.compiled, self.compiled.map
        table = np.zeros(where.ring, np.uint32)  # no other entry is valid
        logical = np.arange(places.dropped, places.dropped + len(places.pages))
        table[logical & where.ring - 1] = np.array(places.pages, np.uint32) | np.uint32(ENTRY_VALID)
        registers = compiled.registers(token, places.context, places.first & _REGISTER_MASK, places.slot)
        starts = [Start(compiled.program, registers, ((where.table, table),))]
        programs = [compiled.program]
        if compiled.once is not None:
            starts.insert(0, Start(compiled.once))
            programs.insert(0, compiled.once)
        result = self._run(starts, programs, memory)
        key = compiled.new_row(places.slot)
        return self._given(result, where, key, key + compiled.half_words), result.memory

    def _pool_in(self, memory: MemoryWords) -> Pool:
        """The pool as the bytes of that memory: a page is its keys and then its values, as on the chip."""
        where = self.compiled.map
        return Pool(1, where.pages, where.page_size, self.width, memory=memory[where.pool : where.end].view(np.uint8))


def check_ended(result: Result, program: Sequence[Words]) -> None:
    """ProgramFailed unless the status says done, not busy, and no error; it names the error and shows the instruction."""
    status, pc = result.status, result.error_pc
    if status == DONE:
        return
    name = _ERRORS.get(status >> CODE_SHIFT)
    if name is None or status & (1 << CODE_SHIFT) - 1 != DONE | ERROR:
        raise ProgramFailed(f"the status at the end of a run is {status:#06x}: neither done nor done with an error")
    shown = listed(pc, program[pc]) if pc < len(program) else f"instruction {pc}, behind the program"
    raise ProgramFailed(f"the program ended with the error {name} at\n{shown}")


def _written(parts: Sequence[tuple[int, MemoryWords]], words: int) -> MemoryWords:
    """A memory of so many words, the parts where they belong and 0 elsewhere; byte for byte the chip's, whoever runs it."""
    memory: MemoryWords = np.zeros(words, "<u4")
    for address, part in parts:
        memory[address : address + len(part)] = part
    return memory
