"""The quick stage of the chip sees another memory, another end and another cycle, and a run that does not end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from impl.chip import ChipTimeout, Counters, MemoryWords, Profile, Result, Start
from impl.chip_model.machine import ChipModel
from impl.chip_model.sequencer import Head
from impl.command import CommandError
from impl.program import to_words
from spec.isa import Halt
from verify.chips.observed import observed_differences
from verify.chips.pin_cli import agreed_ends
from verify.chips.pinned import Case, differences, ends_of, plain_cases, read_pins
from verify.chips.refusals import attempted
from verify.chips.spec_chip import SpecChip

NAME = "CHIP-QUIET: a store reads its row after the load before it"
CASE = next(case for case in plain_cases() if case.name == NAME)
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
        found = differences(CASE, run, SpecChip(16), read_pins()[NAME])
        assert [difference.rule for difference in found] == rules


def test_memory_of_a_run_in_which_time_decides_is_pinned_too() -> None:
    case = Case("a reset", 16, Profile(), [Start(to_words((Halt(),)), reset_at=1)])
    pinned = ends_of(case, MODEL.run(case.starts, case.memory, case.profile))
    assert differences(case, MODEL.run, SpecChip(16), pinned) == []
    assert [one.rule for one in differences(case, another_word, SpecChip(16), pinned)] == ["CHIP-CYCLE"]


class Slower(ChipModel):
    """A cycle more in TOTAL, as above."""

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        return slower(starts, memory, profile)


def test_nothing_is_pinned_where_simulators_differ() -> None:
    assert agreed_ends(CASE, {"one": MODEL, "other": ChipModel(16)}) == read_pins()[NAME]
    with pytest.raises(CommandError, match="the simulators differ"):
        agreed_ends(CASE, {"one": MODEL, "other": Slower(16)})


class Blurred(ChipModel):
    """Shows its observer another cycle than the one that it counts."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(16)
        self.changes: Any = changes

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        see = self.observer
        assert see is not None
        self.observer = lambda seen: see(seen._replace(**self.changes) if seen.cycle == 40 else seen)
        return super().run(starts, memory, profile)


def test_an_observer_that_sees_something_else_is_seen() -> None:
    assert list(observed_differences(CASE, MODEL)) == []
    for changes in (
        {"cycle": 41},
        {"head": Head.ISSUES},
        {"occupancy": 0},
        {"outstanding": 3},
        {"read": 5},
        {"write": (5, 5)},
        {"response": 77},
        {"loaded_row": 9},
        {"store_reads": True},
        {"waits": True, "head": Head.ABSENT},
        {"out_row": 9, "loaded_row": None},
    ):
        assert list(observed_differences(CASE, Blurred(**changes))) != [], changes


def test_a_request_that_is_refused_or_not_against_the_protocol_is_seen() -> None:
    def within() -> None:
        pass

    def beyond() -> None:
        raise ValueError

    assert list(attempted("a", beyond, ValueError)) == list(attempted("a", within, None)) == []
    assert len(list(attempted("a", beyond, None))) == len(list(attempted("a", within, ValueError))) == 1
