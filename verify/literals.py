"""Literal tables of docs/reference.md section 2, and the order of the free list, held against the cache that ships.

They are typed from the reference, not computed, so they also see what no relation between two computations can.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from spec.operations import Accepted, Append, Fork, New, Operation, Read, Reason, Refused, Release, Trim, Truncate
from verify.refinement import Difference
from verify.target import Snapshot, attempt
from verify.targets.shipped import ShippedCache

EVENT_TRACE_A: tuple[tuple[tuple[int, int], tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((0, 0), (0,), 0, (1, 2, 3, 4, 5, 6, 7)),
    ((0, 1), (0,), 0, (1, 2, 3, 4, 5, 6, 7)),
    ((0, 2), (0,), 0, (1, 2, 3, 4, 5, 6, 7)),
    ((0, 3), (0,), 0, (1, 2, 3, 4, 5, 6, 7)),
    ((0, 4), (0, 1), 0, (2, 3, 4, 5, 6, 7)),
    ((0, 5), (0, 1), 0, (2, 3, 4, 5, 6, 7)),
    ((1, 6), (0, 1), 0, (2, 3, 4, 5, 6, 7)),
    ((2, 7), (0, 1), 0, (2, 3, 4, 5, 6, 7)),
    ((3, 8), (1, 2), 1, (0, 3, 4, 5, 6, 7)),
    ((4, 9), (1, 2), 1, (0, 3, 4, 5, 6, 7)),
    ((5, 10), (1, 2), 1, (0, 3, 4, 5, 6, 7)),
    ((6, 11), (1, 2), 1, (0, 3, 4, 5, 6, 7)),
    ((7, 12), (2, 0), 2, (1, 3, 4, 5, 6, 7)),
    ((8, 13), (2, 0), 2, (1, 3, 4, 5, 6, 7)),
)
"""Pool 8, page 4, window 6: per step 1, 2, ... the rows read (lo, hi), then the table, dropped pages and sorted free list
after the step's append and trim."""


@dataclass(slots=True)
class Bench:
    """A cache under literal expectations: what differs, and how many operations were applied."""

    target: ShippedCache
    differences: list[Difference] = field(default_factory=list)
    steps: int = 0

    def apply(self, *operations: Operation) -> None:
        """Apply operations that must be accepted."""
        for operation in operations:
            self.answer(operation, Accepted())

    def answer(self, operation: Operation, expected: Accepted | Refused) -> None:
        """Apply an operation that must be answered so."""
        self.steps += 1
        said = attempt(self.target, operation)
        rule = "PT-TOTAL"
        if isinstance(expected, Refused):
            rule = expected.reason.value
        elif isinstance(operation, Read):
            rule = "PT-ROWS"
        self.expect(rule, f"answer to {operation}", expected, said)

    def expect(self, rule: str, what: str, expected: object, shown: object) -> None:
        """Break the rule unless what is shown is what is expected."""
        if shown != expected:
            self.differences.append(Difference(rule, f"{what}: {expected}", f"{shown}"))

    def table(self, request: int, pages: tuple[int, ...], dropped: int) -> None:
        """The block table names exactly these pages, behind `dropped` released ones."""
        view = self.shown().requests[request]
        self.expect("PT-HOLE", f"released pages of request {request}", (0, dropped), view.released)
        self.expect("LIFO", f"block table of request {request}", pages, view.pages)

    def free(self, pages: Sequence[int]) -> None:
        """These pages are free, in any order."""
        self.expect("PT-PAGES", "free pages", sorted(pages), sorted(self.shown().free or ()))

    def shown(self) -> Snapshot:
        """What the cache shows now."""
        return self.target.observe()


def event_trace_a() -> Bench:
    """The event trace: one request decodes 14 steps under a window of 6."""
    bench = Bench(ShippedCache(8, 4))
    bench.apply(New(0))
    for step, ((lo, hi), table, dropped, free) in enumerate(EVENT_TRACE_A, start=1):
        bench.answer(Read(0, lo, hi), Accepted(tuple(range(lo + 1, hi + 1))))
        bench.apply(Append(0, (step,)), Trim(0, max(0, step + 1 - 6)))
        bench.table(0, table, dropped)
        bench.free(free)
    return bench


def fork_example() -> Bench:
    """A holds 10 rows, B forks it and appends; then B ends."""
    bench = Bench(ShippedCache(8, 4))
    rows = tuple(range(1, 11))
    bench.apply(New(0), Append(0, rows), Fork(0, 1, 10))
    bench.expect("PT-OWN", "counts after the fork", (2, 2, 2, 0, 0, 0, 0, 0), bench.shown().counts)
    bench.apply(Append(1, (11,)))
    bench.table(0, (0, 1, 2), 0)
    bench.table(1, (0, 1, 3), 0)
    bench.expect("PT-OWN", "counts after the append", (2, 2, 1, 1, 0, 0, 0, 0), bench.shown().counts)
    bench.answer(Read(0, 0, 10), Accepted(rows))
    bench.answer(Read(1, 0, 11), Accepted((*rows, 11)))
    bench.apply(Release(1))
    bench.expect("PT-OWN", "counts after the release", (1, 1, 1, 0, 0, 0, 0, 0), bench.shown().counts)
    bench.free((3, 4, 5, 6, 7))
    return bench


def exhaustion() -> Bench:
    """Pool of 3 pages of 2: the seventh append is refused and the length stays 6."""
    bench = Bench(ShippedCache(3, 2))
    bench.apply(New(0), *(Append(0, (token,)) for token in range(1, 7)))
    bench.answer(Append(0, (7,)), Refused(Reason.OUT_OF_PAGES))
    bench.expect("PT-LEN", "length after the refusal", 6, bench.shown().requests[0].length)
    bench.free(())
    return bench


def order_of_the_free_list() -> Bench:
    """Fresh pages ascend, freed ones come back first: each way to free pages shows its order in the next append."""
    bench = Bench(ShippedCache(6, 1))
    four = (1, 2, 3, 4)
    bench.apply(New(0), Append(0, four))
    bench.table(0, (0, 1, 2, 3), 0)
    bench.apply(Release(0), New(0), Append(0, four))
    bench.table(0, (3, 2, 1, 0), 0)
    bench.apply(Trim(0, 2), New(1), Append(1, (5, 6)))
    bench.table(1, (2, 3), 0)
    bench.apply(Truncate(1, 0), Append(1, (7, 8, 9)))
    bench.table(1, (2, 3, 4), 0)
    return bench


def literal_differences() -> tuple[list[Difference], int]:
    """What differs from any of the tables, and the operations applied."""
    benches = [event_trace_a(), fork_example(), exhaustion(), order_of_the_free_list()]
    return [difference for bench in benches for difference in bench.differences], sum(b.steps for b in benches)
