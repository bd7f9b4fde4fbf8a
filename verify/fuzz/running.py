"""A case on several chips at once, and where they differ: in what each start leaves, and in counters.

The definition has no time, so it is asked only where time decides nothing. Source: docs/chip.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from impl.chip import Chip, ChipError, ChipUnknown, Profile, Result
from spec.isa import CODE_SHIFT, ErrorCode, Gather, IllegalInstruction, Words, decode
from spec.isa_machine import Machine
from spec.isa_semantics import run
from verify.chips.choice import open_chip
from verify.chips.comparison import counter_differences, memory_differences
from verify.fuzz.case import FuzzCase
from verify.refinement import Difference

DEFINITION = "spec"
LOSING = (ErrorCode.EXT_RANGE, ErrorCode.PAGE, ErrorCode.TIMEOUT)
"""Errors after which TOK may have no value."""


class NotLegalError(Exception):
    """A program of the case reads what has no value, so that the definition says nothing about it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What each chip made of a case, as far as it came, and the differences of the first start that has any."""

    results: Mapping[str, Sequence[Result]]
    differences: tuple[Difference, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that are broken, the first first."""
        return tuple(dict.fromkeys(difference.rule for difference in self.differences))


class Bench:
    """Chips by name, of both widths, opened when they are needed; a context."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._running = ExitStack()
        self._opened: dict[int, dict[str, Chip]] = {}

    def chips(self, lanes: int) -> Mapping[str, Chip]:
        """The chips of that width."""
        if lanes not in self._opened:
            self._opened[lanes] = {name: self.opened(name, lanes) for name in self.names}
        return self._opened[lanes]

    def opened(self, name: str, lanes: int) -> Chip:
        """A chip, open until the context ends."""
        return self._running.enter_context(open_chip(name, lanes))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()


def compare(case: FuzzCase, chips: Mapping[str, Chip], others: Sequence[Profile] = ()) -> Compared:
    """Run the case on the chips, on those that have time also with memory that answers otherwise. Raises NotLegalError."""
    results: dict[str, Sequence[Result]] = {}
    for name, chip in chips.items():
        if name == DEFINITION and case.timed:
            continue
        try:
            results[name] = chip.run(case.starts, case.memory, case.profile)
        except ChipUnknown as error:
            if name == DEFINITION:
                raise NotLegalError(str(error)) from None
            return Compared(results, (_no_result(name, error),))
        except ChipError as error:
            return Compared(results, (_no_result(name, error),))
    known = tokens_known(case, next(iter(results.values()), ()))
    found = _first(_by_start(results, known))
    for profile in () if found or case.timed else others:
        found = found or _at_another_time(case, chips, results, known, profile)
    return Compared(results, found)


def tokens_known(case: FuzzCase, results: Sequence[Result]) -> list[bool]:
    """After each start, whether TOK has a value; only an error of the walk, or TIMEOUT, takes that away."""
    codes = [result.status >> CODE_SHIFT for result in results]
    if not any(code in LOSING for code in codes):
        return [True] * len(results)
    if case.timed:
        return [not any(code in LOSING for code in codes[: number + 1]) for number in range(len(codes))]
    machine = Machine.fresh(case.lanes, case.memory)
    return [_token_known(machine, case, number) for number in range(len(results))]


def program_of(case: FuzzCase, number: int) -> tuple[Words, ...]:
    """The program that start `number` runs, its own or that of the last start before it which had one."""
    programs = [start.program for start in case.starts[: number + 1] if start.program is not None]
    return programs[-1] if programs else ()


def ends_in_a_walk(case: FuzzCase, number: int, result: Result) -> bool:
    """Whether start `number` ended with an error of a walk."""
    if result.status >> CODE_SHIFT not in (ErrorCode.EXT_RANGE, ErrorCode.PAGE):
        return False
    program = program_of(case, number)
    try:
        return result.error_pc < len(program) and isinstance(decode(*program[result.error_pc]), Gather)
    except IllegalInstruction:
        return False


def _token_known(machine: Machine, case: FuzzCase, number: int) -> bool:
    """Run the next start on the definition's machine."""
    start = case.starts[number]
    if start.reset_at == 0:
        machine.soft_reset()
    for first, words in start.memory:
        machine.memory[first : first + len(words)] = words
    machine.imem[: len(start.program or ())] = start.program or ()
    for address, value in start.registers:
        machine.host_write(address, value)
    run(machine)
    return "TOK" not in machine.lost


def _by_start(results: Mapping[str, Sequence[Result]], known: Sequence[bool]) -> Iterator[tuple[Difference, ...]]:
    """The differences of each start."""
    for number, has_token in enumerate(known):
        ended = {name: _without_token(found[number], has_token) for name, found in results.items()}
        found = [*memory_differences(ended), *counter_differences(ended)]
        yield tuple(Difference(one.rule, f"start {number}: {one.oracle}", one.target) for one in found)


def _first(found: Iterator[tuple[Difference, ...]]) -> tuple[Difference, ...]:
    return next((differences for differences in found if differences), ())


def _at_another_time(
    case: FuzzCase,
    chips: Mapping[str, Chip],
    results: Mapping[str, Sequence[Result]],
    known: Sequence[bool],
    profile: Profile,
) -> tuple[Difference, ...]:
    """What the first chip with time leaves otherwise when memory answers otherwise (CHIP-TIME)."""
    name = next((name for name, found in results.items() if found and found[0].counters is not None), None)
    if name is None:
        return ()
    try:
        again = chips[name].run(case.starts, case.memory, profile)
    except ChipError as error:
        return (_no_result(f"{name}, {_spelled(profile)}", error),)
    for number, has_token in enumerate(known):
        ended = {
            f"{name}, {_spelled(one)}": _without_token(found[number], has_token)
            for one, found in ((case.profile, results[name]), (profile, again))
        }
        if found := tuple(memory_differences(ended)):
            return tuple(Difference("CHIP-TIME", f"start {number}: {one.oracle}", one.target) for one in found)
    return ()


def _without_token(result: Result, known: bool) -> Result:
    return result if known else replace(result, token=0)


def _no_result(name: str, error: ChipError) -> Difference:
    return Difference("CHIP-ISA", "a result of every start", f"{name}: {type(error).__name__}: {error}")


def _spelled(profile: Profile) -> str:
    return f"seed {profile.seed:#x}" if profile.seed else f"latency {profile.latency}"
