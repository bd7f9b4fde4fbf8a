"""Saved witnesses and the literal tables of the reference, replayed on what ships."""

import pytest

from verify.findings import describe_failure
from verify.literals import event_trace_a, exhaustion, fork_example, order_of_the_free_list
from verify.lockstep import replay
from verify.remote.choice import Choice
from verify.show import failure_text
from verify.stage import SAVED_WITNESSES
from verify.summary import Summary


@pytest.mark.any_target
@pytest.mark.parametrize("name", SAVED_WITNESSES)
def test_saved_witnesses_pass(name: str, choice: Choice, summary: Summary) -> None:
    witness = SAVED_WITNESSES[name]
    pages, page_size = witness.pages, witness.page_size
    run = replay(witness.operations, pages, page_size, choice.factory)
    summary.witnesses += 1
    if run.differences:
        report = describe_failure(
            run.applied, run.differences, pages, page_size, choice.factory, spelling=choice.spelling
        )
        pytest.fail(failure_text(report), pytrace=False)
    assert len(run.applied) + run.skipped == len(witness.operations)
    assert choice.far or not run.skipped


@pytest.mark.parametrize("table", [event_trace_a, fork_example, exhaustion, order_of_the_free_list])
def test_the_literal_tables_of_the_reference_hold(table: object) -> None:
    assert callable(table)
    bench = table()
    assert bench.steps
    assert not bench.differences
