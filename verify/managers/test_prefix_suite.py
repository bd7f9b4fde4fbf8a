"""The prefix cache that ships passes every stage that its mutants go through."""

from collections.abc import Callable

import pytest

from verify.explore import StepsExhausted
from verify.managers.literals import TABLES, Bench
from verify.managers.lockstep import replay
from verify.managers.saved_witnesses import SAVED_WITNESSES
from verify.managers.suite import STAGES
from verify.stage import StageResult
from verify.targets.prefix import PrefixManager


@pytest.mark.parametrize("name", SAVED_WITNESSES)
def test_saved_witnesses_pass(name: str) -> None:
    witness = SAVED_WITNESSES[name]
    run = replay(witness.operations, witness.configuration.traits, PrefixManager)
    assert run.differences == ()
    assert run.applied == witness.operations


@pytest.mark.parametrize("table", TABLES)
def test_the_literal_tables_hold(table: Callable[[], Bench]) -> None:
    bench = table()
    assert bench.steps
    assert not bench.differences


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES.keys())
def test_every_stage_passes_and_keeps_to_its_budget(stage: Callable[[int | None], StageResult]) -> None:
    found = stage(None)
    assert (found.verdict, found.broken, found.witness) == ("pass", {}, None)
    assert stage(found.steps) == found
    with pytest.raises(StepsExhausted):
        stage(found.steps - 1)
