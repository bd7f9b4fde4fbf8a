"""The quick stage of the chip sees another memory, another end and another cycle, and a run that does not end."""

from collections.abc import Sequence
from dataclasses import replace

from impl.chip import ChipTimeout, Counters, MemoryWords, Profile, Result, Start
from impl.chip_model.machine import ChipModel
from impl.program import to_words
from verify.chips.program_cases import ORDER, REGISTERS
from verify.chips.programs_suite import run_differences
from verify.chips.spec_chip import SpecChip

NAME = "CHIP-QUIET: a store reads its row after the load before it"
START = [Start(to_words(ORDER[NAME]), REGISTERS)]
MODEL = ChipModel(16)


def slower(starts: Sequence[Start], memory: MemoryWords, profile: Profile) -> list[Result]:
    """The model with a cycle more in TOTAL."""
    (result,) = MODEL.run(starts, memory, profile)
    counters = result.counters or Counters(0, 0, 0, 0, 0, 0, 0)
    return [replace(result, counters=counters._replace(total=counters.total + 1))]


def another_word(starts: Sequence[Start], memory: MemoryWords, profile: Profile) -> list[Result]:
    (result,) = MODEL.run(starts, memory, profile)
    changed = result.memory.copy()
    changed[0] ^= 1
    return [replace(result, memory=changed)]


def endless(starts: Sequence[Start], memory: MemoryWords, profile: Profile) -> list[Result]:
    raise ChipTimeout("it goes on")


def test_a_run_that_differs_is_seen_by_its_rule() -> None:
    for run, rules in (
        (MODEL.run, []),
        (slower, ["CHIP-CYCLE"]),
        (another_word, ["CHIP-ISA"]),
        (endless, ["CHIP-QUIET"]),
    ):
        found = run_differences(NAME, run, Profile(), START, SpecChip(16))
        assert [difference.rule for difference in found] == rules
