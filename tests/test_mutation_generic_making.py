"""A mutant that names its place is made from the unit around it alone, and is what compiling the whole module makes."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType

import pytest

from mutants.client import Source
from mutants.generic.generate import generate
from mutants.held import compile_module
from mutants.making import instructions, make
from mutants.mutant import Mutant, Project
from mutants.splice import DoesNotApply
from mutants.splice_at import splice_at
from mutants.unit import layout
from mutants.verdicts import NO_NEW_PROGRAM, Status, judge_run
from mutants.wire import Run, StageRun

ROOT = Path(__file__).resolve().parent.parent
PROJECT = Project(root="/project", subject=("impl",))
SAMPLE = {"impl/page_table.py": 6, "impl/chip_host.py": 2, "impl/quantise.py": 8, "impl/row_store.py": 8}
"""Modules with classes, super(), calls of imported modules and closures, and one of how many mutants is looked at."""


def lines(code: CodeType) -> Iterator[object]:
    """Names and line numbers of the code and of all code in it."""
    yield code.co_qualname, code.co_firstlineno, tuple(code.co_lines())
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from lines(value)


def made_of(source: str, mutants: list[Mutant]) -> list[tuple[CodeType, str]]:
    """Code and mutated source of every mutant that is a new program."""
    found = make(mutants, {"impl.some": Source("impl/some.py", source)}, PROJECT).values()
    assert {one.verdict.status for one in found if one.verdict} <= NO_NEW_PROGRAM
    return [(one.code, one.spliced.source) for one in found if one.code is not None and one.spliced is not None]


@pytest.mark.parametrize("path", SAMPLE)
def test_a_swapped_function_makes_the_code_of_the_whole_module(path: str) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    for code, mutated in made_of(source, generate("impl.some", source, "some")[:: SAMPLE[path]]):
        whole = compile_module(mutated, "/project/impl/some.py")
        assert instructions(code) == instructions(whole)
        assert list(lines(code)) == list(lines(whole))


TRAPS = """\
import m


class A(B):
    def f(self, a=(1,
                   2)):
        super().f()
        return m.g(self.__h,
                   1)

    @property
    def f(self):
        return [a + 1 for a in self.b]
"""
"""A first line that no import has room before, a call that closes over its class, a mangled name, two functions of one name."""


def test_what_changes_more_than_a_function_is_compiled_whole() -> None:
    for source in (TRAPS, "def f(a):\n    return a + 1\n"):
        found = made_of(source, generate("impl.some", source, "some"))
        assert found
        for code, mutated in found:
            whole = compile_module(mutated, "/project/impl/some.py")
            assert (instructions(code), list(lines(code))) == (instructions(whole), list(lines(whole)))


def at(source: str, before: str, after: str) -> Mutant:
    """A mutant of the first place where the source has that text."""
    start = source.encode().index(before.encode())
    return Mutant(
        "m", "", "", "impl.some", "", before, after, operator="some", at=(start, start + len(before.encode()))
    )


def test_a_place_takes_its_text_and_the_rest_stays_byte_for_byte() -> None:
    source = "def f(a):\n    return 'ö', a * 2  # kept\n"
    spliced = splice_at(source, "impl/some.py", at(source, "a * 2", "a"))
    assert spliced.source == "def f(a):\n    return 'ö', a  # kept\n"
    assert (spliced.start.line, spliced.start.column, spliced.end.column) == (2, 17, 22)
    assert spliced.diff.splitlines()[2:] == [
        "@@ -1,3 +1,3 @@",
        " def f(a):",
        "-    return 'ö', a * 2  # kept",
        "+    return 'ö', a  # kept",
        " ",
    ]
    assert "a = (b if c else d) * 2" in splice_at("a = b * 2\n", "x", at("a = b * 2\n", "b", "b if c else d")).source


@pytest.mark.parametrize(
    ("mutant", "why"),
    [
        (replace(at("a = b + c\n", "b", "d"), at=(5, 6)), "are not 'b'"),
        (replace(at("a = b + c\n", "b", "d"), at=(50, 51)), "are not 'b'"),
        (at("a = b + c\n", "b +", "d +"), "is no change"),
        (at("a = b + c\n", "b", "d; e"), "is 2 statements"),
        (at("a = b + c\n", "b", "pass"), "does not parse as the transformed tree"),
        (at("a = b + c\n", "a = b", "d"), "does not parse as the transformed tree"),
        (at("a = b + c\nd = e\n", "c\nd", "f"), "in no one statement"),
    ],
)
def test_a_place_that_is_not_one_node_does_not_apply(mutant: Mutant, why: str) -> None:
    source = "a = b + c\nd = e\n" if "\n" in mutant.before else "a = b + c\n"
    with pytest.raises(DoesNotApply, match=why):
        splice_at(source, "impl/some.py", mutant)


def test_a_function_that_cannot_stand_alone_says_so() -> None:
    first, second = layout("def f():\n    return 1\n\n\ndef g():\n    return 1\n").units[:2]
    assert (first.stands_alone, second.stands_alone) == (False, True)


def run_of(*stages: StageRun, stopped: str = "") -> Run:
    return Run("returned", stopped, "why", stages, 0.0)


def test_whatever_a_generic_mutant_makes_raise_is_a_crash_that_must_come_twice() -> None:
    generic = at("a = 1\n", "1", "2")
    raising = run_of(StageRun("unit", "harness-error", {}, None, 0, "TypeError", 0.0))
    for ended, named in ((raising, Status.HARNESS_ERROR), (run_of(stopped="invalid.import"), Status.INVALID_IMPORT)):
        assert (
            judge_run(generic, ended, partial(run_of, *ended.stages, stopped=ended.stopped)).status
            is Status.KILLED_CRASH
        )
        assert judge_run(generic, ended, run_of).status is Status.FLAKY
        assert judge_run(replace(generic, operator=""), ended, run_of).status is named
