"""The mutants of the prefix cache die by their own rules in every stage of the family that can see them."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from impl.exit_codes import ExitCode
from mutants.catalogue import BROKEN, FAMILY_CONTROLS, MUTANTS, NO_OP, PROJECT
from mutants.engine import Plan, Record, carry_out
from mutants.gate import decide, summary
from mutants.mutant import PREFIX_CACHE, Mutant, Project, any_of
from mutants.verdicts import Status

PREFIX = tuple(mutant for mutant in MUTANTS if mutant.family == PREFIX_CACHE)
STAGES = PROJECT.stages_of(PREFIX_CACHE)
QUICK = replace(PROJECT, stages=("witness",))
"""The controls of the page table, which are not what is tested here, go through one stage."""


def carried_out(*mutants: Mutant, at_least: int = 0, project: Project = QUICK) -> Record:
    record = Record(Plan(project, mutants, NO_OP, BROKEN, at_least, None, FAMILY_CONTROLS))
    carry_out(record, lambda label: None)
    return record


@pytest.fixture(scope="module")
def record() -> Iterator[Record]:
    """Every mutant of the family through every stage of it."""
    yield carried_out(*PREFIX, at_least=len(STAGES))


def test_the_family_passes_the_gate(record: Record) -> None:
    assert decide(record).reasons == ()
    assert summary(record) == ["prefix cache 8 of 8"]
    assert {result.verdict.status for result in record.results} == {Status.KILLED_ASSERTION}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("mutant", PREFIX, ids=lambda mutant: mutant.id)
def test_each_stage_sees_every_mutant_by_its_rule(record: Record, mutant: Mutant, stage: str) -> None:
    (result,) = (result for result in record.results if result.mutant == mutant)
    assert result.run is not None
    (run,) = (run for run in result.run.stages if run.stage == stage)
    assert mutant.caught_by(run.broken), run


def test_the_controls_of_the_family_are_what_they_must_be(record: Record) -> None:
    verdicts = {result.mutant.id: result.verdict.status for result in record.controls}
    assert verdicts["P no-op"] is Status.SURVIVED
    assert verdicts["P broken"] is Status.KILLED_ASSERTION


def test_the_original_goes_through_every_stage_of_the_family_before_and_after(record: Record) -> None:
    for run in (record.before, record.after):
        assert run is not None
        assert tuple(stage.stage for stage in run.stages) == ("witness", *STAGES)


def test_a_saved_witness_says_what_broke(record: Record) -> None:
    for result in record.results:
        assert result.run is not None
        witness = result.run.stages[0].witness
        assert isinstance(witness, dict)
        assert witness["kvproof"] == "manager witness"
        assert set(witness["rules"]) == result.run.stages[0].broken.keys()


@pytest.mark.parametrize("wrong", ["PRE-EVICT", "PT-LEAK"])
def test_a_mutant_that_another_rule_must_catch_fails_the_gate(wrong: str) -> None:
    mutant = replace(PREFIX[0], expected=any_of(wrong))
    project = replace(QUICK, family_stages={PREFIX_CACHE: ("prefix witness",)})
    decision = decide(carried_out(mutant, project=project))
    assert decision.code is ExitCode.FAIL
    assert decision.reasons == (f"mutant P1: killed, but not by its rule: PRE-PUBLISH instead of {wrong}",)
