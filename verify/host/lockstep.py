"""A paged host, a plain host and the definition side by side: the same host operations, and every rule after each.

The paged host is judged by everything that is seen of it: outcomes, records, the contexts that its decoder got, tokens,
pages and bytes. The plain host keeps every row for ever, so it is given only what the definition does not refuse for want
of rows or pages, and its integers must be the paged one's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from impl.decoder import Decoder, IntegerDecoder
from impl.host import Host, StepRecord
from impl.integer_model import IntegerModel
from impl.kv_cache import KVCache
from impl.model_files import load
from impl.page_table import PageTableError
from impl.row_store import PagedStore, PlainStore, RowStore
from spec.operations import Reason
from spec.page_table import initial
from verify.decode.oracle import parameters
from verify.host.differences import (
    Answer,
    call_differences,
    fed_differences,
    known_differences,
    outcome_differences,
    page_differences,
    plain_differences,
    poison_differences,
    record_differences,
    store_differences,
)
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback
from verify.host.oracle import NOT_ADMITTED, Definition, Expected, Fed, HostState, host_step
from verify.host.recorder import Reach, RecordingDecoder, TokenNames, host_image, look
from verify.refinement import Difference, check_in_place, check_state
from verify.target import Raised, answered

HOST_NAMES: Mapping[type[HostOperation], Mapping[str, str]] = {
    Admit: {"expected": "expected_rows"},
    ForkRequest: {"request": "source", "to": "request"},
}
"""What the host calls an argument that its operation calls otherwise."""

NOT_OF_PLAIN = frozenset({Reason.ROWS_RELEASED.value, Reason.OUT_OF_PAGES.value, NOT_ADMITTED})
"""Refusals for want of rows or pages, which a host that keeps every row does not know."""


def paged_store(pages: int, page_size: int, width: int) -> PagedStore:
    """A store over a fresh pool."""
    return PagedStore(KVCache(pages, page_size, layers=1, width=width))


@dataclass(frozen=True, slots=True)
class Parts:
    """What the two hosts are made of; a test plants a fault by another part."""

    host: Callable[[Decoder, RowStore, int], Host] = Host
    paged: Callable[[int, int, int], PagedStore] = paged_store
    plain: Callable[[int, int], RowStore] = PlainStore
    decoder: Callable[[IntegerModel], Decoder] = IntegerDecoder


SHIPPED = Parts()


@cache
def model_of(name: str) -> tuple[IntegerModel, Definition]:
    """The model of that name and its definition, one for all searches of a process."""
    model = load(name)
    return model, Definition(parameters(model))


class HostLockstep:
    """The two hosts, the definition's state beside them, and what was seen of them between operations.

    After a difference the three no longer describe the same state; a caller stops there.
    """

    def __init__(self, model: str, pages: int, page_size: int, pad: int = 0, parts: Parts = SHIPPED) -> None:
        integers, self.definition = model_of(model)
        self.names = TokenNames(self.definition)
        self.decoders = RecordingDecoder(parts.decoder(integers)), RecordingDecoder(parts.decoder(integers))
        width = self.decoders[0].width
        self.paged = parts.host(self.decoders[0], parts.paged(pages, page_size, width), pad)
        self.plain = parts.host(self.decoders[1], parts.plain(width, page_size), pad)
        self.state = HostState(initial(pages, page_size), {}, pad)
        self.expected = Expected()
        self.record: StepRecord | None = None
        self.mapped: dict[int, int] = {}
        self.reach_of: Callable[[HostState], Reach] | None = None
        """Set once bytes were overwritten: which rows may still matter."""

    def apply(self, operation: HostOperation) -> list[Difference]:
        """Apply the operation on all sides; every rule that breaks, none when they agree."""
        before = self.state
        self.state, self.expected = host_step(before, operation, self.definition)
        refusal, fed = self.expected
        images = [answered(host_image, host) for host in self.hosts] if refusal else []
        answer = perform(self.paged, self.decoders[0], operation)
        self.record = answer.record
        differences = outcome_differences(operation, self.expected, answer)
        if fed is not None:
            differences += self.feed_differences(fed, answer, operation)
        if refusal not in NOT_OF_PLAIN:
            plain = perform(self.plain, self.decoders[1], operation)
            differences += outcome_differences(operation, self.expected, plain)
            if fed is not None:
                differences += self.feed_differences(fed, plain, operation, paged=False)
                differences += plain_differences(answer, plain)
                if self.reach_of is not None:
                    differences += poison_differences(fed, answer, plain)
        if refusal:
            for host, image in zip(self.hosts, images, strict=True):
                differences += self.unchanged_differences(host, image)
        else:
            differences += self.state_differences(operation)
        return differences

    @property
    def hosts(self) -> tuple[Host, Host]:
        """The paged and the plain host."""
        return self.paged, self.plain

    def feed_differences(
        self, fed: Fed, answer: Answer, operation: HostOperation, paged: bool = True
    ) -> list[Difference]:
        """The decoder's calls and the record of one append against the definition."""
        found = call_differences(fed, answer.calls, self.definition, self.names)
        if answer.refusal is None and answer.raised is None:
            found += fed_differences(fed, answer, operation)
            if isinstance(operation, Advance) and answer.record is None:
                found.append(Difference("HOST-TOKENS", f"{operation} gives a record", "none"))
        if answer.record is not None:
            found += record_differences(fed, answer)
            if paged:
                found += page_differences(fed, answer.record, self.state)
        return found

    def unchanged_differences(self, host: Host, image: object) -> list[Difference]:
        """What a refusal may not change: anything."""
        if answered(host_image, host) == image:
            return []
        said = f"a refusal changes nothing in the {'paged' if host is self.paged else 'plain'} host"
        return [Difference("HOST-REFUSE", said, "tokens, pages or bytes changed")]

    def state_differences(self, operation: HostOperation) -> list[Difference]:
        """Requests, tokens, pages and rows of both hosts after an accepted operation."""
        state = self.state
        reach = self.reach_of(state) if self.reach_of else None
        seen = answered(look, self.paged, self.plain, state, self.names, reach)
        if isinstance(seen, Raised):
            return [Difference("PT-TOTAL", "the state can be observed", f"{seen.kind}: {seen.message}")]
        found = [d for known in seen.known for d in known_differences(known, state, operation)]
        mapped = check_state(state.cache, seen.snapshot, found)
        if not found:
            check_in_place(self.mapped, mapped, found)
            self.mapped = mapped
            found += store_differences(seen.store, state)
        return found


def perform(host: Host, decoder: RecordingDecoder, operation: HostOperation) -> Answer:
    """Call the host; a named error is a refusal, any other exception is kept as what it is."""
    decoder.taken()

    def called() -> StepRecord | str | None:
        try:
            return call(host, operation)
        except PageTableError as error:
            return type(error).__name__

    done = answered(called)
    calls = decoder.taken()
    match done:
        case Raised():
            return Answer(None, None, done, calls)
        case str():
            return Answer(None, done, None, calls)
        case _:
            return Answer(done, None, None, calls)


def call(host: Host, operation: HostOperation) -> StepRecord | None:
    """The host's method for the operation."""
    arguments = given(operation)
    match operation:
        case Admit():
            host.admit(**arguments)
        case Advance():
            return host.step(**arguments)
        case ForkRequest():
            host.fork(**arguments)
        case Rollback():
            host.rollback(**arguments)
        case End():
            host.release(**arguments)
    return None


def given(operation: HostOperation) -> dict[str, Any]:
    """The arguments by the host's names; what the operation has by default is left out, as it is the host's default too."""
    names = HOST_NAMES.get(type(operation), {})
    values = ((field, getattr(operation, field.name)) for field in fields(operation))
    return {names.get(field.name, field.name): value for field, value in values if value != field.default}
