"""Situations that a search over hosts must have reached: the "sometimes" beside each "always"."""

from dataclasses import dataclass, field

from spec import window
from spec.operations import Reason
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback
from verify.host.oracle import NOT_ADMITTED, Expected, Fed, HostState, next_chunk

FORKED_MID_DECODE = "forked mid-decode"
FORKED_MID_PROMPT = "forked mid-prompt"
FORK_OF_TRIMMED = "fork of trimmed"
PADDED_FORK = "padded fork"
ROLLBACK = "rollback"
ROLLBACK_INTO_PROMPT = "rollback into prompt"
ROLLBACK_REFUSED = "rollback refused"
FORK_REFUSED = "fork refused"
STEP_REFUSED = "step refused"
CHUNK_REFUSED = "chunk refused that fits in part"
STEP_AFTER_REFUSAL = "step after its refusal"
CHUNKED = "chunked prompt"
SINKS = "trimmed around sinks"
MARGIN = "margin kept pages"
WINDOW_OF_ONE = "window of one"
INTERLEAVED = "three requests interleaved"
ID_USED_AGAIN = "id used again"
NOT_ADMITTED_ = "not admitted"
SHARED_PAGE_WRITTEN = "shared page written"
POISONED = "step after poison"

HOST_SITUATIONS = (
    FORKED_MID_DECODE,
    FORKED_MID_PROMPT,
    FORK_OF_TRIMMED,
    PADDED_FORK,
    ROLLBACK,
    ROLLBACK_INTO_PROMPT,
    ROLLBACK_REFUSED,
    FORK_REFUSED,
    STEP_REFUSED,
    CHUNK_REFUSED,
    STEP_AFTER_REFUSAL,
    CHUNKED,
    SINKS,
    MARGIN,
    WINDOW_OF_ONE,
    INTERLEAVED,
    ID_USED_AGAIN,
    NOT_ADMITTED_,
    SHARED_PAGE_WRITTEN,
    POISONED,
)


@dataclass(slots=True)
class History:
    """What some situations need to know of the operations before."""

    ended: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    stepped: list[int] = field(default_factory=list)
    poisoned: bool = False

    def reached(self, before: HostState, operation: HostOperation, expected: Expected, after: HostState) -> list[str]:
        """The situations that this operation met."""
        match operation, expected:
            case Admit(), Expected(refusal=refusal) if refusal == NOT_ADMITTED:
                return [NOT_ADMITTED_]
            case Admit(request), Expected(refusal=None):
                return [ID_USED_AGAIN] if request in self.ended else []
            case Advance(request), Expected(refusal=Reason.OUT_OF_PAGES.value):
                self.refused.add(request)
                room = len(next_chunk(before, request)) > 1 and before.cache.used < before.cache.pages
                return [STEP_REFUSED, *([CHUNK_REFUSED] if room else [])]
            case Advance(request), Expected(refusal=None, fed=Fed() as fed):
                return [*step_reached(before, fed, after), *self.of_the_step(request, after)]
            case Rollback(), Expected(refusal=Reason.ROWS_RELEASED.value):
                return [ROLLBACK_REFUSED]
            case Rollback(request, rows), Expected(refusal=None) if rows < before.rows(request):
                return [ROLLBACK, *([ROLLBACK_INTO_PROMPT] if rows < before.requests[request].prompt else [])]
            case ForkRequest(), Expected(refusal=Reason.ROWS_RELEASED.value):
                return [FORK_REFUSED]
            case ForkRequest(), Expected(refusal=None, fed=fed):
                return [*fork_reached(before, operation), *([PADDED_FORK] if fed else [])]
            case End(request), Expected(refusal=None):
                self.ended.add(request)
                self.refused.discard(request)
        return []

    def of_the_step(self, request: int, after: HostState) -> list[str]:
        """What the steps before make of a step that was taken."""
        found = [POISONED] if self.poisoned else []
        if request in self.refused:
            self.refused.remove(request)
            found.append(STEP_AFTER_REFUSAL)
        self.stepped = [*self.stepped[-2:], request]
        live = set(self.stepped) & after.requests.keys()
        return [*found, INTERLEAVED] if len(live) == 3 else found


def step_reached(before: HostState, fed: Fed, after: HostState) -> list[str]:
    """What one step met by itself."""
    request = fed.request
    known, cache = after.requests[request], before.cache
    old, new = cache.requests[request], after.cache.requests[request]
    found = [CHUNKED] if len(fed.tokens) > 1 else []
    found += [SINKS] if new.dropped > old.dropped and known.sinks else []
    found += [WINDOW_OF_ONE] if known.window == 1 and old.rows else []
    found += [SHARED_PAGE_WRITTEN] if len(old.rows) % cache.page_size and old.cells[-1] in cache.shared else []
    if known.window is not None and known.margin:
        keep_from = window.keep_from(len(new.rows), known.window, known.sinks)
        found += [MARGIN] if keep_from // cache.page_size > -(-known.sinks // cache.page_size) + new.dropped else []
    return found


def fork_reached(before: HostState, operation: ForkRequest) -> list[str]:
    """What one fork met."""
    known, rows = before.requests[operation.request], before.rows(operation.request)
    at = rows if operation.at is None else operation.at
    found = [FORK_OF_TRIMMED] if before.cache.requests[operation.request].dropped else []
    if rows < known.prompt:
        return [*found, FORKED_MID_PROMPT] if rows else found
    return [*found, FORKED_MID_DECODE] if at > known.prompt else found
