"""The decoder on a chip: every step is one run of the compiled program, from power-on to its HALT.

Nothing stays on the chip from step to step: the host brings the weights and the gathered rows each time, as docs/chip.md
section 7 has it.
"""

from collections.abc import Sequence

import numpy as np

from impl.chip import Chip, ChipDied, ChipError, Profile, Result, Start
from impl.compiler import Compiled, streamed
from impl.decoder import Context, Step, check_step
from impl.integer_model import IntegerModel
from impl.memory_words import packed, sums, unpacked
from impl.program import listed
from spec.isa import CODE_SHIFT, DONE, ERROR, ErrorCode, Words

DEFAULT_PROFILE = Profile()
_ERRORS = {code.value: code.name for code in ErrorCode if code is not ErrorCode.NONE}


class ProgramFailed(ChipError):  # noqa: N818
    """A program did not end as one without an error does."""


class ChipDecoder:
    """A model on a chip: a Decoder. Its steps raise ChipError too, a program that ends with an error ProgramFailed.

    `last` is the result of the last step's run, whatever came of it, and `cycles` the cycles of all runs so far; they stay
    0 on a chip that has no time. Raises CompileError when the model does not fit the chip.
    """

    __slots__ = ("_chip", "_memory", "_profile", "compiled", "cycles", "last", "vocabulary", "width")

    def __init__(self, model: IntegerModel, chip: Chip, profile: Profile = DEFAULT_PROFILE) -> None:
        self.compiled: Compiled = streamed(model, chip.lanes, chip.words)
        self.vocabulary, self.width = model.embedding.shape
        self.last: Result | None = None
        self.cycles = 0
        self._chip = chip
        self._profile = profile
        self._memory = np.zeros(chip.words, np.uint32)
        for address, words in self.compiled.memory:
            self._memory[address : address + len(words)] = words

    def step(self, token: int, context: Context) -> Step:
        """Feed the token; see Decoder.step."""
        check_step(self, token, context)
        compiled, places = self.compiled, self.compiled.map
        past = ((places.keys, packed(context.keys)), (places.values, packed(context.values)))
        start = Start(compiled.program, compiled.registers(token, len(context.keys) + 1), past)
        (result,) = self._chip.run((start,), self._memory, self._profile)
        self.last = result
        if result.counters is not None:
            self.cycles += result.counters.total
        check_ended(result, compiled.program)
        memory = result.memory
        given = int(memory[places.token])
        if given != result.token or given >= self.vocabulary:
            raise ChipDied(f"the chip's token is {result.token}, and it wrote {given}, of 0 .. {self.vocabulary - 1}")
        key, value = unpacked(memory[places.new_row : places.new_row + 2 * compiled.row_words], self.width)
        return Step(given, sums(memory[places.logits : places.logits + self.vocabulary]), key, value)


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
