"""The source suite passes what ships, and each of its rules rejects something hand-broken, at every step to the end."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from impl.decoder import Context, IntegerDecoder, Step
from impl.float_reference import FloatDecoder
from impl.kv_cache import KVCache
from impl.row_store import PagedStore
from impl.tiny_lm import Tensor
from spec.operations import Append, Operation, Outcome, Reason, Refused, Trim
from spec.page_table import initial, step
from tests.planted import Corrupt, Leaking, Overwriting, Uncounted
from verify.explore import StepsExhausted
from verify.refinement import Difference
from verify.situations import ID_USED_AGAIN, SITUATIONS, reached
from verify.source import host as source_host
from verify.source import page_table as source_page_table
from verify.source.blame import subject_ends
from verify.source.page_table import OPERATIONS, PAGE_SIZE, PAGES, SEEDS, Judged
from verify.source.rules import EXACT_PAGES, GROUPS
from verify.source.suite import CHECKS, source_stage
from verify.target import Factory, Snapshot
from verify.targets.shipped import ShippedCache


class TrimsLate(ShippedCache):
    """Keeps the last page that a trim could release."""

    def apply(self, operation: Operation) -> Outcome:
        if isinstance(operation, Trim) and operation.keep_from:
            operation = replace(operation, keep_from=operation.keep_from - 1)
        return super().apply(operation)


class NeverTrims(ShippedCache):
    """Takes a trim for granted."""

    def apply(self, operation: Operation) -> Outcome:
        return super().apply(replace(operation, keep_from=0) if isinstance(operation, Trim) else operation)


class TrimsEarly(ShippedCache):
    """Releases a page with rows that are needed."""

    def apply(self, operation: Operation) -> Outcome:
        if isinstance(operation, Trim) and operation.request in self.cache.table.tables:
            length = self.cache.table.length(operation.request)
            operation = replace(operation, keep_from=min(length, operation.keep_from + PAGE_SIZE))
        return super().apply(operation)


class Cautious(ShippedCache):
    """Refuses the second half of the pool."""

    def apply(self, operation: Operation) -> Outcome:
        short = len(self.cache.table.free) < PAGES // 2
        return Refused(Reason.OUT_OF_PAGES) if short and isinstance(operation, Append) else super().apply(operation)


class Forgetful(ShippedCache):
    """Does not show its newest request, nor the last row of the first."""

    def observe(self) -> Snapshot:
        shown = super().observe()
        views = [
            (request, view._replace(length=view.length - 1, rows=view.rows[:-1]))
            for request, view in shown.requests.items()
        ]
        return shown._replace(requests=dict(views[:-1]))


class Restless(ShippedCache):
    """Turns its free list round when it refuses."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(outcome, Refused):
            self.cache.table.free.reverse()
        return outcome


class Falling(ShippedCache):
    """Raises where a page is full."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Append) and not isinstance(outcome, Refused):
            assert self.cache.table.length(operation.request) % PAGE_SIZE
        return outcome


class Blinking(ShippedCache):
    """Cannot be looked at while a request has sinks."""

    def observe(self) -> Snapshot:
        if any(table.sinks for table in self.cache.table.tables.values()):
            raise KeyError("sinks")
        return super().observe()


def broken(factory: Factory, seed: int = 0) -> set[str]:
    run = Judged(seed, factory)
    run.run()
    assert len(run.operations) >= OPERATIONS
    return {difference.rule for difference in run.differences}


def test_what_ships_passes() -> None:
    result = source_stage(None)
    assert (result.verdict, result.broken) == ("pass", {})
    assert result.steps > len(SEEDS) * OPERATIONS == 2400


def test_too_many_steps_are_too_many() -> None:
    with pytest.raises(StepsExhausted):
        source_stage(100)


def test_the_random_operations_reach_every_situation() -> None:
    met: Counter[str] = Counter()
    for seed in SEEDS:
        run = Judged(seed)
        run.run()
        state = initial(PAGES, PAGE_SIZE)
        for operation in run.operations:
            after, outcome = step(state, operation)
            met.update(reached(state, operation, outcome, after))
            met.update([outcome.reason.value] if isinstance(outcome, Refused) else [])
            assert len(after.requests) <= 5
            state = after
    wanted = {*SITUATIONS, *(reason.value for reason in Reason)} - {ID_USED_AGAIN}
    assert [name for name in sorted(wanted) if met[name] < 5] == []


@pytest.mark.parametrize(
    ("factory", "rules"),
    [
        (Leaking, {"PT-LEAK", "PT-PAGES"}),
        (Uncounted, {"PT-OWN"}),
        (Overwriting, {"PT-ROWS"}),
        (Corrupt, {"PT-FREE"}),
        (TrimsEarly, {"PT-ROWS", "PT-HOLE"}),
        (NeverTrims, {"SRC-BOUND", "PT-PAGES", "PT-HOLE"}),
        (Cautious, {"SRC-OUTCOME", "OutOfPages"}),
        (Forgetful, {"PT-LIVE", "PT-LEN"}),
        (Restless, {"PT-REFUSE"}),
        (Falling, {"PT-TOTAL"}),
        (Blinking, {"PT-TOTAL"}),
    ],
)
def test_a_broken_cache_is_rejected_by_its_rules(factory: Factory, rules: set[str]) -> None:
    assert broken(factory) >= rules


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cache_that_keeps_a_page_too_many_breaks_no_rule_but_those_of_the_exact_pages(seed: int) -> None:
    assert set() < broken(TrimsLate, seed) <= GROUPS[EXACT_PAGES]


def test_recorded_tables_are_one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.literals.ShippedCache", TrimsLate)
    found, _ = source_page_table.table_differences()
    assert {difference.rule for difference in found} == {"SRC-TABLES"}


def test_an_exception_of_the_subjects_breaks_a_rule_and_one_of_the_checks_passes() -> None:
    found: list[Difference] = []
    with subject_ends(found, "SRC-STEP", "a cache"):
        KVCache(0, 0)
    assert [difference.rule for difference in found] == ["SRC-STEP"]
    with pytest.raises(ZeroDivisionError), subject_ends(found, "SRC-STEP", "a check"):
        _ = 1 / 0


Broken = Callable[[pytest.MonkeyPatch], None]


def gathers_late(patch: pytest.MonkeyPatch) -> None:
    true = PagedStore.gather
    patch.setattr(
        PagedStore, "gather", lambda self, request, ranges: Context(*(p[1:] for p in true(self, request, ranges)))
    )


def never_trims(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PagedStore, "trim", lambda self, request, keep_from: None)


def falls_at_nine(patch: pytest.MonkeyPatch) -> None:
    true = IntegerDecoder.step

    def step_of(self: IntegerDecoder, token: int, context: Context) -> Step:
        return true(self, token, context if len(context.keys) < 8 else Context(context.keys, context.values[1:]))

    patch.setattr(IntegerDecoder, "step", step_of)


def off_by_one(patch: pytest.MonkeyPatch) -> None:
    true = IntegerDecoder.step

    def step_of(self: IntegerDecoder, token: int, context: Context) -> Step:
        right = true(self, token, context)
        return right._replace(token=(right.token + 1) % 16, logits=np.roll(right.logits, 1))

    patch.setattr(IntegerDecoder, "step", step_of)


def floats_without_past(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FloatDecoder, "_cut", lambda self, rows: rows[:0] if self._window else rows)


def floats_with_everything(patch: pytest.MonkeyPatch) -> None:
    def cut(self: FloatDecoder, rows: Tensor) -> Tensor:
        return rows

    patch.setattr(FloatDecoder, "_cut", cut)


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (gathers_late, {"HOST-PLAIN", "DEC-INT", "SRC-CLOSE", "DEC-ERROR"}),
        (never_trims, {"WIN-4", "SRC-BOUND", "SRC-TABLES"}),
        (falls_at_nine, {"SRC-STEP"}),
        (off_by_one, {"DEC-INT", "DEC-RULE", "SRC-CLOSE", "DEC-ERROR"}),
        (floats_without_past, {"DEC-FLOAT", "DEC-FULL"}),
        (floats_with_everything, {"DEC-FLOAT", "DEC-FULL"}),
    ],
)
def test_a_broken_host_or_decoder_is_rejected_by_its_rules(
    change: Broken, rules: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch)
    found = {
        difference.rule for check in CHECKS if check.__module__ == source_host.__name__ for difference in check()[0]
    }
    assert found >= rules
