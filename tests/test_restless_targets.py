"""Targets that change what an operation must leave alone: pages that move, reads and refusals with effects."""

from dataclasses import replace

import pytest

from spec.operations import Append, New, Operation, Outcome, Read, Refused, Trim
from spec.page_table import initial
from tests.test_refinement import broken_by
from tests.test_searches import TINY
from verify.explore import Search
from verify.lockstep import Lockstep
from verify.targets.shipped import CAPABILITIES, ShippedCache


class Moving(ShippedCache):
    """Moves the first page of a request that appends to a free page, rows and count with it."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        table = self.cache.table
        if isinstance(operation, Append) and not isinstance(outcome, Refused) and table.free:
            entry = table.tables[operation.request]
            pages = entry.pages
            old, new = pages[0], table.free[-1]
            self.cache.pool.copy_page(old, new)
            table.counts[new], table.counts[old] = table.counts[old], 0
            table.free[-1], pages[0] = old, new
            entry.last = pages[-1]
        return outcome


class MovingAndSaysSo(Moving):
    """Declares that it moves pages."""

    capabilities = replace(CAPABILITIES, moves_pages=True)


@pytest.mark.parametrize(("target", "rules"), [(Moving, {"PT-INPLACE"}), (MovingAndSaysSo, set())])
def test_a_page_that_moves_under_its_rows_breaks_in_place_unless_declared(
    target: type[ShippedCache], rules: set[str]
) -> None:
    run = Lockstep(target(5, 2), initial(5, 2))
    assert not run.apply(New(0))
    assert not run.apply(Append(0, (1,)))
    assert {difference.rule for difference in run.apply(Append(0, (2,)))} == rules


class ReadingTurns(ShippedCache):
    """A cache that turns its free list round whenever it is read."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Read):
            self.cache.table.free.reverse()
        return outcome


def test_a_read_that_changes_the_order_of_the_free_list_breaks_refuse() -> None:
    assert broken_by(ReadingTurns(5, 2), Read(0, 0, 0)) == {"PT-REFUSE"}
    assert set(Search(TINY, ReadingTurns).run().broken()) == {"PT-REFUSE"}


class ForgetsOnRefusedTrim(ShippedCache):
    """A cache that ends every request when it refuses a trim."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Trim) and isinstance(outcome, Refused):
            for request in self.cache.table.requests():
                self.cache.release(request)
        return outcome


def test_what_a_refused_operation_spoils_is_not_blamed_on_the_next_one() -> None:
    assert set(Search(TINY, ForgetsOnRefusedTrim).run().broken()) == {"PT-REFUSE"}
