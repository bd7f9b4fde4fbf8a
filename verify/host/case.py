"""A small case on the hosts, written out: each operation must be accepted or refused as said, and breaks no rule."""

from dataclasses import dataclass, field

from impl.host import StepRecord
from spec.page_table import readable
from verify.host.lockstep import HostLockstep
from verify.host.operations import Advance, HostOperation


@dataclass(slots=True)
class HostCase:
    """Two hosts, paged and plain, and the definition, under a case; `records` are those of its steps."""

    pages: int
    page_size: int
    model: str = "random-1-16"
    pad: int = 0
    run: HostLockstep = field(init=False)
    records: list[StepRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.run = HostLockstep(self.model, self.pages, self.page_size, self.pad)

    def do(self, *operations: HostOperation) -> None:
        """Operations that must be accepted."""
        for operation in operations:
            assert self.run.apply(operation) == [], operation
            assert self.run.expected.refusal is None, operation
            if self.run.record is not None:
                self.records.append(self.run.record)

    def refuse(self, operation: HostOperation, reason: str) -> None:
        """An operation that must be refused for this reason, with nothing changed."""
        assert self.run.apply(operation) == [], operation
        assert self.run.expected.refusal == reason, operation

    def advance(self, request: int, steps: int = 1) -> list[StepRecord]:
        """That many steps; their records."""
        before = len(self.records)
        self.do(*(Advance(request) for _ in range(steps)))
        return self.records[before:]

    def rows(self, request: int) -> int:
        """Rows of the request."""
        return self.run.paged.rows(request)

    def tokens(self, request: int) -> tuple[int, ...]:
        """All tokens of the request known so far."""
        return self.run.paged.tokens(request)

    def held(self, request: int) -> int:
        """Pages of the request."""
        return self.run.paged.store.held(request)

    def used(self) -> int:
        """Pages in use."""
        return self.run.paged.store.used

    def held_rows(self, request: int) -> list[int]:
        """The rows that are not released."""
        ranges = readable(self.run.state.cache.requests[request], self.page_size)
        return [row for lo, hi in ranges for row in range(lo, hi)]


def integers(records: list[StepRecord]) -> list[tuple[int, list[int]]]:
    """Token and logits of each step."""
    return [(record.token, record.logits.tolist()) for record in records]
