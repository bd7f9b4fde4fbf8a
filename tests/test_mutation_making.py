"""A mutant is made once, and only a new program is run."""

from dataclasses import replace

import pytest

from mutants.client import Source
from mutants.held import compile_module
from mutants.making import instructions, make
from mutants.mutant import Mutant, Project
from mutants.verdicts import Status

PROJECT = Project(root="/project", subject=("impl",))
SOURCES = {
    "impl.table": Source("impl/table.py", "def drop(page):\n    return page + 1\n"),
    "verify.check": Source("verify/check.py", "def drop(page):\n    return page + 1\n"),
}


def mutant(name: str, after: str, module: str = "impl.table") -> Mutant:
    return Mutant(name, "", "", module, "drop", "page + 1", after)


def status(mutant: Mutant) -> Status | None:
    verdict = make([mutant], SOURCES, PROJECT)[mutant.id].verdict
    return verdict.status if verdict else None


def test_a_new_program_has_code_under_the_files_own_name() -> None:
    made = make([mutant("m", "page - 1")], SOURCES, PROJECT)["m"]
    assert made.verdict is None
    assert made.code is not None and made.code.co_filename == "/project/impl/table.py"
    namespace: dict[str, object] = {}
    exec(made.code, namespace)
    drop = namespace["drop"]
    assert callable(drop) and drop(7) == 6


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("page + 2", None),
        ("page+1", Status.EQUIVALENT_BYTECODE),
        ("page + (2 - 1)", Status.EQUIVALENT_BYTECODE),
        ("1 + page", None),
        ("page + True", None),
        ("page + 1.0", None),
        ("(yield from page) and await_", None),
        ("[await page]", Status.INVALID_COMPILE),
        ("page + ", Status.INVALID_APPLY),
    ],
)
def test_only_a_new_program_is_run(after: str, expected: Status | None) -> None:
    assert status(mutant("m", after)) is expected


def test_the_second_of_two_equal_mutants_is_a_duplicate_of_the_first() -> None:
    made = make([mutant("one", "page - 1"), mutant("two", "page - (3 - 2)")], SOURCES, PROJECT)
    assert made["one"].verdict is None
    verdict = made["two"].verdict
    assert verdict is not None
    assert (verdict.status, verdict.detail) == (Status.DUPLICATE, "the same instructions as one")


def test_the_same_change_before_other_stages_is_no_duplicate() -> None:
    project = replace(PROJECT, family_stages={"aside": ("unit",)})
    again = replace(mutant("two", "page - 1"), family="aside")
    made = make([mutant("one", "page - 1"), again, replace(again, id="three")], SOURCES, project)
    verdicts = {name: one.verdict and one.verdict.detail for name, one in made.items()}
    assert verdicts == {"one": None, "two": None, "three": "the same instructions as two"}


@pytest.mark.parametrize("module", ["verify.check", "impl.gone"])
def test_only_the_subject_can_be_mutated(module: str) -> None:
    assert status(mutant("m", "page - 1", module)) is Status.INVALID_APPLY


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = 1 + 2", "x = 3", True),
        ("x = 1", "\n\nx  =  1  # moved", True),
        ("x = 1", "x = 1.0", False),
        ("x = 1", "x = True", False),
        ("def f():\n    return a < b", "def f():\n    return a <= b", False),
        ("def f(a=1):\n    pass", "def f(a=2):\n    pass", False),
    ],
)
def test_instructions_are_the_same_when_only_the_place_differs(one: str, other: str, same: bool) -> None:
    codes = compile_module(one, "a.py"), compile_module(other, "a.py")
    assert (instructions(codes[0]) == instructions(codes[1])) is same
