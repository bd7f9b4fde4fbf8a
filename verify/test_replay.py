"""Saved witnesses and the literal tables of the reference, replayed on what ships."""

import pytest

from verify.literals import event_trace_a, exhaustion, fork_example, order_of_the_free_list
from verify.lockstep import replay
from verify.stage import SAVED_WITNESSES
from verify.summary import Summary
from verify.targets.shipped import ShippedCache
from verify.witness import Witness


@pytest.mark.parametrize("witness", SAVED_WITNESSES, ids=lambda witness: "-".join(witness.rules))
def test_saved_witnesses_pass(witness: Witness, summary: Summary) -> None:
    run = replay(witness.operations, witness.pages, witness.page_size, ShippedCache)
    summary.witnesses += 1
    assert run.applied == witness.operations
    assert not run.differences


@pytest.mark.parametrize("table", [event_trace_a, fork_example, exhaustion, order_of_the_free_list])
def test_the_literal_tables_of_the_reference_hold(table: object) -> None:
    assert callable(table)
    bench = table()
    assert bench.steps
    assert not bench.differences
