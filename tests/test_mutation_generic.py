"""Each operator makes exactly the slips that its examples show, everywhere on the surface, under ids that stay."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Outcome

from impl.command import CommandError
from impl.exit_codes import ExitCode
from mutants.cli import cli
from mutants.engine import Plan, Record, Result
from mutants.gate import decide
from mutants.generic.controls import CONTROLS
from mutants.generic.generate import generate
from mutants.generic.operator import Operator
from mutants.generic.operators import OPERATORS
from mutants.generic.surface import module_of, read_surface
from mutants.mutant import Mutant, Project
from mutants.verdicts import NO_NEW_PROGRAM, Status, Verdict
from verify.suite import STAGES

ROOT = Path(__file__).resolve().parent.parent
SURFACE = read_surface(ROOT)


def mutated(source: str, operators: tuple[Operator, ...] = OPERATORS) -> list[str]:
    """Every source that the operators make of it."""
    found = generate("impl.some", source, "some", operators)
    return [_with(source, mutant) for mutant in found]


def _with(source: str, mutant: Mutant) -> str:
    assert mutant.at is not None
    start, end = mutant.at
    text = source.encode()
    assert text[start:end].decode() == mutant.before
    return f"{text[:start].decode()}{mutant.after}{text[end:].decode()}"


def normal(source: str) -> str:
    return ast.unparse(ast.parse(source))


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_operator_makes_what_its_examples_show(operator: Operator) -> None:
    assert operator.examples[0][1]
    for before, after in operator.examples:
        assert [normal(each) for each in mutated(before, (operator,))] == [normal(each) for each in after]


@pytest.mark.parametrize(
    "source",
    [
        "import a as b",
        "def f():\n    'text'",
        "a: A[1] = b",
        "def f(a: A[0]) -> B[-1]: ...",
        "class A:\n    __slots__ = ('a', 'b')",
        "Rows = A[0]",
        "@lru_cache(maxsize=1)\ndef f(): ...",
        "if TYPE_CHECKING:\n    a(1)",
        "assert a < 1, b[0]",
        "f'{a[0]}'",
        "isinstance(a, b | c)",
        "cast(a[0], b)",
        "def f():\n    raise A(b[0] + 1) from None",
    ],
)
def test_what_says_nothing_to_a_running_program_is_left_alone(source: str) -> None:
    quiet = tuple(
        each for each in OPERATORS if each.name not in ("statement deleted", "refusal forgotten", "argument forgotten")
    )
    assert mutated(source, quiet) == []


def test_a_mutant_says_in_which_function_it_is_and_what_runs_at_import_is_in_none() -> None:
    nested = "        def f(g=4):\n            return lambda: 5\n        return f\n"
    source = f"A = 1\n\n\nclass B:\n    c = 2\n\n    def d(self, e=3):\n{nested}"
    where = {
        mutant.before: mutant.function
        for mutant in generate("impl.some", source, "some")
        if mutant.operator == "constant"
    }
    assert where == {"1": "", "2": "", "3": "", "4": "B.d", "5": "B.d.f"}


def test_an_id_stays_while_its_own_function_does() -> None:
    one = "def f(a):\n    return a + 1\n\n\ndef g(a):\n    return [a + 1, a + 1]\n"
    ids = {mutant.id: mutant.function for mutant in generate("impl.some", one, "some")}
    assert len(ids) == len(generate("impl.some", one, "some"))
    moved = one.replace("def f", "# a comment\n\n\nB = 2\n\n\ndef f").replace("[a + 1, a + 1]", "[a+1,   a + 1]")
    assert ids.keys() <= {mutant.id for mutant in generate("impl.some", moved, "some")}
    edited = {mutant.id for mutant in generate("impl.some", one.replace("return a", "a = 2\n    return a"), "some")}
    assert {ids[gone] for gone in ids.keys() - edited} == {"f"} and "f" not in {
        ids[kept] for kept in ids.keys() & edited
    }


def test_every_module_is_on_the_surface_or_excluded_with_a_reason() -> None:
    modules = {module_of(ROOT, path) for path in (ROOT / "impl").rglob("*.py")}
    on_it = {module for module in modules if SURFACE.area_of(module) is not None}
    packages = {name for name in SURFACE.excluded if name != "impl"}
    off_it = {module for module in modules if any(f"{module}.".startswith(f"{name}.") for name in packages)} | {"impl"}
    assert (on_it | off_it, on_it & off_it) == (modules, set())
    assert set(SURFACE.excluded) <= modules and all(SURFACE.excluded.values())
    for area in SURFACE.areas:
        assert all(any(module == name or module.startswith(f"{name}.") for module in modules) for name in area.modules)
        assert area.stages and set(area.stages) <= set(STAGES)
        assert [control.family for control in CONTROLS[area.family]] == [area.family] * 2
    assert len(CONTROLS) == len(SURFACE.areas)


def test_a_project_without_a_surface_is_told_so(tmp_path: Path) -> None:
    for text in ("", "[tool.kvproof.mutation]\nareas = 1\n"):
        (tmp_path / "pyproject.toml").write_text(text)
        with pytest.raises(CommandError, match="has no surface of mutation"):
            read_surface(tmp_path)


def judged(status: Status, operator: str = "boundary") -> Record:
    """The record of a run of one mutant with that verdict."""
    mutant = Mutant("m", "", "some", "impl.some", "f", "a", "b", operator=operator)
    record = Record(Plan(Project(str(ROOT)), (mutant,), mutant, mutant))
    record.results.append(Result(mutant, Verdict(status, "", {}, ""), None, None))
    return record


def test_no_new_program_fails_the_gate_of_named_mutants_alone() -> None:
    for status in NO_NEW_PROGRAM:
        assert decide(judged(status)).code is ExitCode.PASS
        assert decide(judged(status, operator="")).code is ExitCode.FAIL
    assert decide(judged(Status.SURVIVED)).code is ExitCode.FAIL
    assert decide(judged(Status.KILLED_CRASH)).code is ExitCode.PASS


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mutants", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


def test_the_command_judges_the_mutants_of_a_file_and_says_how_many(tmp_path: Path) -> None:
    """Through every stage of the chip's area, with its controls: shuffling bytes between lanes and words is all that this is."""
    report = tmp_path / "report.json"
    done = command(
        "--generic", "impl/chip_model/rows.py", "--operator", "return value,arithmetic", "--json", str(report)
    )
    assert done.returncode == ExitCode.PASS, done.stderr
    document = json.loads(report.read_text())["kvproof"]
    planned = len(document["mutants"])
    assert planned >= 4 and f"planned {planned}, executed {planned}, killed {planned}" in done.stdout
    assert [control["verdict"] for control in document["controls"]] == ["survived", "killed.assertion"]


def test_the_command_lists_operators_and_refuses_what_it_does_not_have() -> None:
    def said(*arguments: str) -> Outcome:
        return CliRunner().invoke(cli, arguments, env={"COLUMNS": "200"})

    listed = said("--list", str(ROOT / "impl" / "window.py"), "--generic")
    assert all(operator.name in listed.output for operator in OPERATORS) and "impl.window 82" in listed.output
    for arguments, says in (
        (("no/such.py",), "does not exist"),
        ((str(ROOT / "impl" / "cli.py"),), "no file of the surface is there"),
        (("--operator", "typo"), "no operator 'typo'"),
        (("--only", "0123"), "no mutant '0123'"),
    ):
        refused = said("--generic", *arguments)
        assert refused.exit_code == ExitCode.USAGE and says in refused.output
