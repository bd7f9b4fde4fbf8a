"""What each host operation means, from spec/ alone: tokens, contexts, integers, pages and refusals.

States are immutable. The pages are those of spec.page_table, driven by New, Append, Trim, Fork, Truncate and Release; which
rows a step reads and where it trims are those of spec.window; the integers are spec.decode's, recomputed from the token
ids. Source: docs/reference.md section 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from spec import page_table, window
from spec.decode import Bytes, Parameters, Step, rows, step_from_tokens
from spec.operations import Append, Fork, New, Operation, Reason, Refused, Release, Trim, Truncate
from spec.page_table import Request, State
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback

NOT_ADMITTED = "NotAdmitted"
"""The refusal of an admission; the others are the names of Reason."""


class Definition:
    """The definition's integers of one model: memoised, since the many states of a search attend the same tokens again."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.vocabulary = len(parameters.embedding)
        self.keys, self.values = rows(parameters, range(self.vocabulary))
        self._steps: dict[tuple[int, ...], Step] = {}
        first: dict[bytes, int] = {}
        pairs = [key.tobytes() + value.tobytes() for key, value in zip(self.keys, self.values, strict=True)]
        self._alike = [first.setdefault(pair, token) for token, pair in enumerate(pairs)]

    def step(self, tokens: tuple[int, ...], width: int | None, sinks: int) -> Step:
        """The step that decodes the last of the tokens, from all of them."""
        attends = (*attended(tokens, width, sinks), tokens[-1])
        found = self._steps.get(attends)
        if found is None:
            found = self._steps[attends] = step_from_tokens(self.parameters, tokens, width, sinks)
        return found

    def past(self, tokens: tuple[int, ...]) -> tuple[Bytes, Bytes]:
        """Keys and values of these tokens' rows, (len(tokens), d) each."""
        return self.keys.take(tokens, 0), self.values.take(tokens, 0)

    def alike(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """For each token the first one with the same key and value: rows are told apart by their bytes alone."""
        return tuple(self._alike[token] for token in tokens)


@dataclass(frozen=True, slots=True)
class HostRequest:
    """A request as the host knows it; its rows are in the page table's state.

    The first `prompt` tokens are its prompt. `promised` are the pages that it was admitted for, 0 when it declared no length.
    """

    tokens: tuple[int, ...]
    prompt: int
    window: int | None
    sinks: int
    margin: int
    chunk: int
    promised: int

    @property
    def kept_window(self) -> int | None:
        """The window by which it trims: wider than what a step attends by the margin."""
        return None if self.window is None else self.window + self.margin


@dataclass(frozen=True, slots=True)
class HostState:
    """The page table and, for the same live requests, what the host knows; `peak` is the most pages seen after a trim."""

    cache: State
    requests: Mapping[int, HostRequest]
    pad: int = 0
    peak: int = 0

    def rows(self, request: int) -> int:
        """Rows of a live request, released ones included."""
        return len(self.cache.requests[request].rows)

    def held(self, request: int) -> int:
        """Pages of a live request."""
        return len(self.cache.requests[request].cells)


class Fed(NamedTuple):
    """One append: the tokens fed, and for each the token ids of the rows that it attends, ascending, and its step.

    `pages` are those of the request before the append, between append and trim, and after the trim.
    """

    request: int
    first_step: int
    tokens: tuple[int, ...]
    attended: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]
    pages: tuple[int, int, int]


class Expected(NamedTuple):
    """What an operation does: it is refused with this name, or accepted; `fed` is what went through the decoder."""

    refusal: str | None = None
    fed: Fed | None = None


ACCEPTED = Expected()
Transition = tuple[HostState, Expected]


def host_step(state: HostState, operation: HostOperation, definition: Definition) -> Transition:
    """The state after the operation, and what it does; a refused one changes nothing (HOST-REFUSE)."""
    match operation:
        case Admit():
            return _admit(state, operation, definition)
        case Advance(request):
            return _advance(state, request, definition)
        case ForkRequest():
            return _fork(state, operation, definition)
        case Rollback():
            return _rollback(state, operation, definition)
        case End(request):
            if request not in state.requests:
                return _refused(state, Reason.UNKNOWN_REQUEST)
            left = {name: kept for name, kept in state.requests.items() if name != request}
            return replace(state, cache=_applied(state.cache, Release(request)), requests=left), ACCEPTED


def attended(tokens: tuple[int, ...], width: int | None, sinks: int) -> tuple[int, ...]:
    """Token ids of the rows that the step of the last token reads, ascending (HOST-GATHER)."""
    return tuple(token for lo, hi in window.rows_read(len(tokens), width, sinks) for token in tokens[lo:hi])


def next_chunk(state: HostState, request: int) -> tuple[int, ...]:
    """The tokens that the request's next step feeds (HOST-TOKENS)."""
    known, at = state.requests[request], state.rows(request)
    return known.tokens[at : at + max(1, min(known.chunk, known.prompt - at))]


def lacks_pages(state: HostState, request: int) -> bool:
    """Whether the request's next step is refused for want of pages."""
    return isinstance(page_table.step(state.cache, Append(request, next_chunk(state, request)))[1], Refused)


def cut_refusal(state: HostState, request: int, rows: int) -> Reason | None:
    """Why the request cannot be forked at, or rolled back to, its first `rows` rows (HOST-ROLLBACK); None when it can."""
    _, outcome = page_table.step(state.cache, Truncate(request, rows))
    if isinstance(outcome, Refused):
        return outcome.reason
    known = state.requests[request]
    gone = released_rows(state.cache.requests[request], state.cache.page_size)
    reads = window.rows_read(rows + 1, known.window, known.sinks)
    return Reason.ROWS_RELEASED if any(max(lo, gone[0]) < min(hi, gone[1]) for lo, hi in reads) else None


def released_rows(request: Request, page_size: int) -> tuple[int, int]:
    """The released rows (first, stop), stop excluded; (0, 0) when there are none."""
    first, stop = page_table.released(request, page_size)
    return first * page_size, stop * page_size


@lru_cache(maxsize=4096)
def peak_pages(
    rows: int, page_size: int, width: int | None, sinks: int = 0, margin: int = 0, prompt: int = 1, chunk: int = 1
) -> int:
    """The most pages held at once, append before trim included, while a request grows from nothing to `rows` rows.

    By doing it in a page table. The first `prompt` rows come in chunks of `chunk`, the others one by one.
    """
    cache = _applied(page_table.initial(page_table.pages_for(rows, page_size), page_size), New(0, sinks))
    at = peak = 0
    while at < rows:
        fed = min(max(1, min(chunk, prompt - at)), rows - at)
        at += fed
        cache = _applied(cache, Append(0, (0,) * fed))
        peak = max(peak, cache.used)
        cache = _applied(cache, Trim(0, window.keep_from(at, None if width is None else width + margin, sinks)))
    return peak


def _admit(state: HostState, operation: Admit, definition: Definition) -> Transition:
    """Adds a request that holds nothing yet; DuplicateRequest, BadArgument, NotAdmitted (HOST-ADMIT)."""
    if operation.request in state.requests:
        return _refused(state, Reason.DUPLICATE_REQUEST)
    width, sinks, expected = operation.window, operation.sinks, operation.expected
    sound = (
        operation.prompt
        and all(0 <= token < definition.vocabulary for token in operation.prompt)
        and (width is None or width >= 1)
        and sinks >= 0
        and (width is None or sinks < width)
        and operation.margin >= 0
        and operation.chunk >= 1
        and (expected is None or expected >= len(operation.prompt))
    )
    if not sound:
        return _refused(state, Reason.BAD_ARGUMENT)
    prompt, promised = len(operation.prompt), 0
    if expected is not None:
        promised = peak_pages(expected, state.cache.page_size, width, sinks, operation.margin, prompt, operation.chunk)
        others = sum(max(known.promised, state.held(live)) for live, known in state.requests.items())
        if promised + others > state.cache.pages:
            return state, Expected(NOT_ADMITTED)
    request = HostRequest(operation.prompt, prompt, width, sinks, operation.margin, operation.chunk, promised)
    cache = _applied(state.cache, New(operation.request, sinks))
    return replace(state, cache=cache, requests={**state.requests, operation.request: request}), ACCEPTED


def _advance(state: HostState, request: int, definition: Definition) -> Transition:
    """Feeds the next tokens; UnknownRequest, OutOfPages."""
    if request not in state.requests:
        return _refused(state, Reason.UNKNOWN_REQUEST)
    after, expected = _feed(state, request, next_chunk(state, request), definition)
    if expected.fed is None:
        return after, expected
    known = after.requests[request]
    if after.rows(request) == len(known.tokens):
        grown = replace(known, tokens=(*known.tokens, expected.fed.steps[-1].token))
        after = replace(after, requests={**after.requests, request: grown})
    return after, expected


def _feed(state: HostState, request: int, chunk: tuple[int, ...], definition: Definition) -> Transition:
    """Appends the rows of these next tokens, all or none, and trims; OutOfPages."""
    known, at = state.requests[request], state.rows(request)
    appended, outcome = page_table.step(state.cache, Append(request, definition.alike(chunk)))
    if isinstance(outcome, Refused):
        return _refused(state, outcome.reason)
    last = at + len(chunk)
    trimmed = _applied(appended, Trim(request, window.keep_from(last, known.kept_window, known.sinks)))
    prefixes = [known.tokens[: at + fed] for fed in range(1, len(chunk) + 1)]
    fed = Fed(
        request,
        at + 1,
        chunk,
        tuple(attended(tokens, known.window, known.sinks) for tokens in prefixes),
        tuple(definition.step(tokens, known.window, known.sinks) for tokens in prefixes),
        (state.held(request), len(appended.requests[request].cells), len(trimmed.requests[request].cells)),
    )
    return replace(state, cache=trimmed, peak=max(state.peak, trimmed.used)), Expected(None, fed)


def _fork(state: HostState, operation: ForkRequest, definition: Definition) -> Transition:
    """Adds a request with rows and tokens of the source, which declares no length; refused for any reason of Reason.

    A padded one first fills the source's last page with the pad token (HOST-PAD).
    """
    source, at = operation.request, operation.at
    if source not in state.requests:
        return _refused(state, Reason.UNKNOWN_REQUEST)
    if operation.to in state.requests:
        return _refused(state, Reason.DUPLICATE_REQUEST)
    if not _possible(operation.token, definition) or (operation.padded and at is not None):
        return _refused(state, Reason.BAD_ARGUMENT)
    refusal = cut_refusal(state, source, state.rows(source) if at is None else at)
    if refusal is not None:
        return _refused(state, refusal)
    expected = ACCEPTED
    missing = -state.rows(source) % state.cache.page_size
    if operation.padded and missing:
        pads = (state.pad,) * missing
        state_of_padded = replace(state, requests={**state.requests, source: _padded(state, source, pads)})
        after, expected = _feed(state_of_padded, source, pads, definition)
        if expected.fed is None:
            return state, expected
        state = after
    rows = state.rows(source) if at is None else at
    cache = _applied(state.cache, Fork(source, operation.to, rows))
    child = replace(_cut(state.requests[source], rows, operation.token), promised=0)
    return replace(state, cache=cache, requests={**state.requests, operation.to: child}), expected


def _padded(state: HostState, source: int, pads: tuple[int, ...]) -> HostRequest:
    """The source with the pads before its next token, as a part of its prompt."""
    known, at = state.requests[source], state.rows(source)
    tokens = (*known.tokens[:at], *pads, *known.tokens[at:])
    return replace(known, tokens=tokens, prompt=max(known.prompt, at) + len(pads))


def _rollback(state: HostState, operation: Rollback, definition: Definition) -> Transition:
    """Cuts rows and tokens; UnknownRequest, BadArgument, RowsReleased (HOST-ROLLBACK)."""
    request, rows = operation.request, operation.rows
    if request not in state.requests:
        return _refused(state, Reason.UNKNOWN_REQUEST)
    if not _possible(operation.token, definition):
        return _refused(state, Reason.BAD_ARGUMENT)
    refusal = cut_refusal(state, request, rows)
    if refusal is not None:
        return _refused(state, refusal)
    cache = _applied(state.cache, Truncate(request, rows))
    kept = _cut(state.requests[request], rows, operation.token)
    return replace(state, cache=cache, requests={**state.requests, request: kept}), ACCEPTED


def _cut(request: HostRequest, rows: int, token: int | None) -> HostRequest:
    """The tokens up to t_rows, those of the prompt beyond it too; a given token replaces t_rows and what follows it."""
    if token is None:
        return replace(request, tokens=request.tokens[: max(rows + 1, request.prompt)])
    return replace(request, tokens=(*request.tokens[:rows], token), prompt=min(request.prompt, rows + 1))


def _possible(token: int | None, definition: Definition) -> bool:
    return token is None or 0 <= token < definition.vocabulary


def _refused(state: HostState, reason: Reason) -> Transition:
    return state, Expected(reason.value)


def _applied(cache: State, operation: Operation) -> State:
    """The page table after an operation that it accepts."""
    after, outcome = page_table.step(cache, operation)
    assert not isinstance(outcome, Refused), f"{operation}: {outcome}"
    return after
