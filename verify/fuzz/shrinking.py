"""A failing case made smaller: fewer phrases, then fewer starts, instructions, writes and rows, while it breaks a rule alike.

A candidate of which the definition can say nothing is never taken, so the smallest case is as legal as the first.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from impl.chip import Chip, Profile, Start
from spec.isa import FieldError, IllegalInstruction, Words, decode, encode
from spec.isa_machine import MODULUS
from verify.fuzz.building import build
from verify.fuzz.case import STYLES, Contents, FuzzCase
from verify.fuzz.draws import Drawn
from verify.fuzz.running import Compared, NotLegalError, compare

MOST_TRIES = 4_000
MOST_SECONDS = 120.0

Moves = Iterator[tuple[int, FuzzCase]]
"""Smaller cases, each with its number, from which to go on after a success."""


def smallest(drawn: Drawn, first: Compared, chips: Callable[[int], Mapping[str, Chip]]) -> tuple[FuzzCase, Compared]:
    """A small case that breaks one of the rules that the drawn one breaks, and how.

    How small, not whether it fails, may depend on time: each try on a chip that hangs takes some.
    """
    search = _Search(first, chips)
    phrases = search.of_phrases(drawn)
    return search.of_case(phrases)


class _Search:
    """Tries candidates, as many as there may be."""

    def __init__(self, first: Compared, chips: Callable[[int], Mapping[str, Chip]]) -> None:
        self.rules = frozenset(first.rules)
        self.found = first
        self.chips = chips
        self.left = MOST_TRIES
        self.deadline = time.monotonic() + MOST_SECONDS

    def fails(self, case: FuzzCase) -> bool:
        """Whether the case breaks one of the rules; the last that did is in `found`."""
        if self.left <= 0 or time.monotonic() > self.deadline:
            return False
        self.left -= 1
        try:
            others = (Profile(1), Profile(20)) if "CHIP-TIME" in self.rules else ()
            compared = compare(case, self.chips(case.lanes), others)
        except NotLegalError:
            return False
        if self.rules.isdisjoint(compared.rules):
            return False
        self.found = compared
        return True

    def of_phrases(self, drawn: Drawn) -> FuzzCase:
        """The case without the phrases, and with the simplest bytes, that still fails."""
        best, case = drawn, build(drawn).case
        smaller = True
        while smaller:
            smaller = False
            for candidate in _fewer_phrases(best):
                built = build(candidate).case
                if self.fails(built):
                    best, case, smaller = candidate, built, True
                    break
        return case

    def of_case(self, case: FuzzCase) -> tuple[FuzzCase, Compared]:
        """The case from which nothing can be taken away."""
        smaller = True
        while smaller:
            smaller = False
            for moves in (_fewer_starts, _fewer_instructions, _simpler_surroundings, _simpler_instructions):
                # After a success the same place is tried again, not all before it.
                candidates = moves(case, 0)
                while (candidate := next(candidates, None)) is not None:
                    number, other = candidate
                    if self.fails(other):
                        case, smaller = other, True
                        candidates = moves(case, number)
        return case, self.found


def _fewer_phrases(drawn: Drawn) -> Iterator[Drawn]:
    phrases = drawn.phrases
    size = max(1, len(phrases) // 2)
    while size and len(phrases) > 1:
        for at in range(len(phrases) - size, -1, -1):
            left = phrases[:at] + phrases[at + size :]
            if left:
                yield drawn._replace(phrases=left)
        size //= 2


def _fewer_starts(case: FuzzCase, at: int) -> Moves:
    for number in range(at, len(case.starts)):
        if len(case.starts) > 1:
            yield number, replace(case, starts=case.starts[:number] + case.starts[number + 1 :])


def _fewer_instructions(case: FuzzCase, at: int) -> Moves:
    """Without runs of instructions, the longest first; numbers say which run."""
    number = 0
    for place, start in enumerate(case.starts):
        program = start.program or ()
        size = len(program)
        while size:
            for first in range(max(0, len(program) - size), -1, -size):
                if number >= at:
                    yield number, _with(case, place, program=program[:first] + program[first + size :])
                number += 1
            size //= 2


def _simpler_surroundings(case: FuzzCase, at: int) -> Moves:
    """Simpler memory, quicker answers, fewer writes by the host."""
    found: list[FuzzCase] = []
    for style in STYLES[: STYLES.index(case.contents.style) + 1]:
        if Contents(style) != case.contents:
            found.append(replace(case, contents=Contents(style)))
    latencies = range(1, 3 if case.profile.seed else case.profile.latency)
    found += [replace(case, profile=Profile(latency, mute_after=case.profile.mute_after)) for latency in latencies]
    for place, start in enumerate(case.starts):
        found += [_with(case, place, registers=())] if len(start.registers) > 1 else []
        found += [_with(case, place, registers=_without(start.registers, one)) for one in range(len(start.registers))]
        found += [_with(case, place, memory=_without(start.memory, one)) for one in range(len(start.memory))]
        found += [_with(case, place, reset_at=None)] if start.reset_at is not None else []
    for number, candidate in enumerate(found):
        if number >= at:
            yield number, candidate


def _simpler_instructions(case: FuzzCase, at: int) -> Moves:
    """Without registers in sums, with fewer rows, without flags."""
    number = 0
    registers = [0] * 8
    for place, start in enumerate(case.starts):
        for address, value in start.registers:
            if 8 < address < 16:
                registers[address - 8] = value
        program = start.program or ()
        for pc, words in enumerate(program):
            for other in _simpler(words, registers):
                if number >= at:
                    yield number, _with(case, place, program=(*program[:pc], other, *program[pc + 1 :]))
                number += 1


def _simpler(words: Words, registers: list[int]) -> Iterator[Words]:
    try:
        instruction: Any = decode(*words)
    except IllegalInstruction:
        return
    names = {field.name for field in fields(instruction)}
    candidates: list[dict[str, Any]] = []
    for name, register in (("row", "row_register"), ("count", "count_register"), ("address", "address_register")):
        if register in names and name in names and (number := getattr(instruction, register)):
            value = (getattr(instruction, name) + registers[number]) % MODULUS
            signed = value - MODULUS if name == "count" and value >= MODULUS // 2 else value
            candidates.append({name: signed, register: 0})
    count = getattr(instruction, "count", 0)
    candidates += [{"count": fewer} for fewer in (1, count // 2, count - 1) if 0 < fewer < count]
    simple = {"residual": 0, "residual_row": 0, "argmax": False, "next_entry": False, "apart": False, "shift": 22}
    candidates += [
        {name: value} for name, value in simple.items() if name in names and getattr(instruction, name) != value
    ]
    for candidate in candidates:
        try:
            yield encode(replace(instruction, **candidate))
        except FieldError:
            continue


def _with(case: FuzzCase, place: int, **changes: Any) -> FuzzCase:
    """The case with another start at that place."""
    start: Start = replace(case.starts[place], **changes)
    return replace(case, starts=(*case.starts[:place], start, *case.starts[place + 1 :]))


def _without(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return items[:place] + items[place + 1 :]
