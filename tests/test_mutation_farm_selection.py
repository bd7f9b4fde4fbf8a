"""A mutant goes only through stages that can tell it from the original, and one that never ends costs little."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import pytest

from mutants.engine import Plan, Record, Result, carry_out
from mutants.farm.selection import stages_that_see, watch
from mutants.farm.since import touched_since
from mutants.farm.work import end_server, kept_server
from mutants.mutant import Mutant
from mutants.verdicts import Status
from mutants.wire import Reach
from tests.toy_cache.catalogue import BROKEN, NO_OP, PROJECT, in_take

STACK = "tests.toy_cache.stack"
ROOT = Path(PROJECT.root)
RUNAWAY_SECONDS = 0.5
"""What one that never ends may cost in CPU, both of its runs together."""


@dataclass(frozen=True, slots=True)
class Placed(Mutant):
    """A mutant outside functions, which is known by its place."""

    at: tuple[int, int] | None = None


def in_function(name: str, function: str, before: str, after: str) -> Mutant:
    return Mutant(name, "", "toy", STACK, function, before, after, declares_runaway=True)


def selected(mutants: Sequence[Mutant], *stages: str) -> dict[str, Result]:
    record = Record(Plan(replace(PROJECT, stages=stages), tuple(mutants), NO_OP, BROKEN, selects=True))
    carry_out(record, lambda label: None)
    assert record.problems == []
    return {result.mutant.id: result for result in record.results}


def test_a_mutant_goes_through_the_stages_that_call_its_function_alone() -> None:
    mutants = [
        in_function("kept", "Stack.give", "self.free.append(page)", "self.free += [page]"),
        in_function("idle", "Stack.idle", "return len(self.free)", "return 0"),
        in_take("taken", "page = self.free.pop(-1)"),
    ]
    found = selected(mutants, "witness", "exhaustive", "unit")
    ran = {name: [stage.stage for stage in result.run.stages] if result.run else [] for name, result in found.items()}
    assert ran == {"kept": ["witness", "unit"], "idle": [], "taken": ["witness", "exhaustive", "unit"]}
    assert found["idle"].verdict.detail == "no stage calls it"
    assert {result.verdict.status for result in found.values()} == {Status.SURVIVED}


def test_what_runs_during_imports_or_outside_functions_goes_through_every_stage() -> None:
    try:
        server = kept_server("run", PROJECT, [STACK], ())
        seen = {stage: watch(server, stage) for stage in ("witness", "blind")}
    finally:
        end_server()
    assert f"{STACK}:capacity" in seen["blind"].importing
    assert seen["blind"].called == set()
    stages = ("witness", "blind")
    assert stages_that_see(in_function("", "capacity", "", ""), stages, seen) == stages
    assert stages_that_see(in_function("", "", "", ""), stages, seen) == stages
    assert stages_that_see(in_function("", "Stack.take", "", ""), stages, seen) == ("witness",)


def test_a_stage_that_cannot_tell_the_mutant_apart_is_left_out_unless_imports_run_it() -> None:
    seen = {
        "witness": Reach(frozenset({f"{STACK}:Stack.take"}), frozenset({f"{STACK}:capacity"}), 0.0),
        "unit": Reach(frozenset({f"{STACK}:Stack.take"}), frozenset(), 0.0),
    }
    alike = {"witness": {"same", "early"}, "unit": {"other"}}
    stages = ("witness", "unit")
    assert stages_that_see(in_function("same", "Stack.take", "", ""), stages, seen, alike) == ("unit",)
    assert stages_that_see(in_function("another", "Stack.take", "", ""), stages, seen, alike) == stages
    assert stages_that_see(in_function("early", "capacity", "", ""), stages, seen, alike) == stages


def test_one_that_never_ends_costs_half_a_second_even_in_a_long_stage() -> None:
    mutants = [
        replace(in_take("loop", "while True: page = 0"), declares_runaway=True),
        replace(in_take("list", "page = [0]\nwhile True: page += page"), declares_runaway=True),
    ]
    for result in selected(mutants, "long").values():
        assert result.verdict.status is Status.KILLED_RUNAWAY, result.verdict
        assert result.cpu_ms * 2 <= RUNAWAY_SECONDS * 1e3
    # Without a look at single calls only the stage's own budget ends it.
    once = replace(mutants[0], declares_runaway=False)
    record = Record(Plan(replace(PROJECT, stages=("long",)), (once,), NO_OP, BROKEN))
    carry_out(record, lambda label: None)
    assert record.results[0].cpu_ms > RUNAWAY_SECONDS * 1e3


SOURCE = '''"""A module."""

LIMIT = 3


def first() -> int:
    here = 1

    return here


def second() -> int:
    return 2
'''


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        (SOURCE, []),
        (SOURCE.replace("here = 1", "here = 4"), ["first"]),
        (SOURCE.replace("here = 1\n", "here = 1\n    # why\n"), ["first"]),
        (SOURCE.replace("    here = 1\n\n", "    here = 1\n"), ["first"]),
        (SOURCE.replace("LIMIT = 3", "LIMIT = 5"), ["limit"]),
        (SOURCE.replace("\n\n\ndef second", "\n\ndef second"), []),
        (SOURCE + "\n\nEND = 1\n", []),
    ],
)
def test_since_a_revision_only_what_was_touched_is_judged(changed: str, chosen: list[str], tmp_path: Path) -> None:
    file = tmp_path / "subject.py"
    file.write_text(SOURCE)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True)
    file.write_text(changed)
    at = changed.index("LIMIT") + len("LIMIT = ")
    mutants = [Mutant(name, "", "", "subject", name, "", "") for name in ("first", "second")]
    limit = Placed("limit", "", "", "subject", "", "", "", at=(at, at + 1))
    assert [mutant.id for mutant in touched_since("HEAD", [*mutants, limit], tmp_path)] == chosen
    (tmp_path / "fresh.py").write_text("x = 1\n")
    fresh = replace(mutants[0], id="fresh", module="fresh")
    assert [mutant.id for mutant in touched_since("HEAD", [fresh], tmp_path)] == ["fresh"]
    with pytest.raises(click.UsageError, match="no revision"):
        touched_since("no-such-revision", mutants, tmp_path)
