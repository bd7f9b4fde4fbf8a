"""What a host did with one operation against the definition: each function is a few rules and reports every difference.

Source: docs/reference.md section 6.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from impl.host import StepRecord
from spec import window
from spec.operations import Reason
from verify.host.operations import ForkRequest, HostOperation, Rollback
from verify.host.oracle import NOT_ADMITTED, Definition, Expected, Fed, HostState, released_rows
from verify.host.recorder import Call, Known, StoreFigures, TokenNames
from verify.refinement import Difference
from verify.target import Raised


class Answer(NamedTuple):
    """What a host did with an operation: a record, the name of its refusal, or what it raised, and its decoder's calls."""

    record: StepRecord | None
    refusal: str | None
    raised: Raised | None
    calls: list[Call]


def outcome_differences(operation: HostOperation, expected: Expected, answer: Answer) -> list[Difference]:
    """The rules that a wrong outcome breaks; empty when it is the definition's."""
    if answer.raised is None and answer.refusal == expected.refusal:
        return []
    said = f"{operation}: " + (f"refused, {expected.refusal}" if expected.refusal else "accepted")
    done = f"refused, {answer.refusal}" if answer.refusal else "accepted"
    if answer.raised is not None:
        done = f"raised {answer.raised.kind}: {answer.raised.message}"
    due = refusal_rule(operation, expected.refusal or answer.refusal)
    rules = [] if answer.raised is None else ["PT-TOTAL"]
    return [Difference(rule, said, done) for rule in [*rules, *([due] if due else [])]]


def refusal_rule(operation: HostOperation, refusal: str | None) -> str | None:
    """The rule that says when an operation is refused so."""
    if refusal == NOT_ADMITTED:
        return "HOST-ADMIT"
    if refusal == Reason.ROWS_RELEASED.value and isinstance(operation, ForkRequest | Rollback):
        return "HOST-ROLLBACK"
    return refusal


def token_rule(operation: HostOperation, request: int) -> str:
    """The rule that wrong tokens or rows of the request break, after this operation."""
    match operation:
        case ForkRequest(source, _, padded=True) if source == request:
            return "HOST-PAD"
        case ForkRequest() | Rollback():
            return "HOST-ROLLBACK"
    return "HOST-TOKENS"


def call_differences(fed: Fed, calls: Sequence[Call], definition: Definition, names: TokenNames) -> list[Difference]:
    """Each context against the rows that the window rule names; from a right one, the answer against the definition."""
    found = []
    for offset, (call, attended, step) in enumerate(zip(calls, fed.attended, fed.steps, strict=False)):
        where = f"step {fed.first_step + offset} of request {fed.request}"
        keys, values = definition.past(attended)
        if len(call.keys) != len(attended):
            said = f"{where} has a context of {len(attended) + 1}"
            found.append(Difference("WIN-1", said, f"{len(call.keys) + 1}"))
        if not same(call.keys, keys) or not same(call.values, values):
            said = f"{where} attends keys and values of {list(attended)}"
            found.append(Difference("HOST-GATHER", said, names.said(call)))
            continue
        answer = call.step
        exact = same(answer.key, step.key) and same(answer.value, step.value) and same(answer.logits, step.logits)
        if answer.token != step.token or not exact:
            said = f"{where}: token {step.token}, logits {step.logits.tolist()}"
            found.append(Difference("DEC-INT", said, f"token {answer.token}, logits {answer.logits.tolist()}"))
    return found


def same(shown: npt.NDArray[Any], expected: npt.NDArray[Any]) -> bool:
    """The same numbers in the same shape and type."""
    return shown.dtype == expected.dtype and shown.shape == expected.shape and shown.tobytes() == expected.tobytes()


def record_differences(fed: Fed, answer: Answer) -> list[Difference]:
    """The record against the definition, and against what the decoder gave."""
    found = []
    record, calls = answer.record, answer.calls
    assert record is not None
    last = fed.first_step + len(fed.tokens) - 1
    where = f"step {last} of request {fed.request}"
    if (record.request, record.step, record.fed) != (fed.request, last, fed.tokens):
        shown = f"step {record.step} of request {record.request} feeds {list(record.fed)}"
        found.append(Difference("HOST-TOKENS", f"{where} feeds {list(fed.tokens)}", shown))
    context = len(fed.attended[-1]) + 1
    if record.context != context:
        found.append(Difference("WIN-1", f"{where} has a context of {context}", f"{record.context}"))
    given = calls[-1].step if calls else fed.steps[-1]
    if record.token != given.token or not same(record.logits, given.logits):
        said = f"{where}: the decoder gave token {given.token}, logits {given.logits.tolist()}"
        found.append(Difference("HOST-TOKENS", said, f"token {record.token}, logits {record.logits.tolist()}"))
    return found


def fed_differences(fed: Fed, answer: Answer, operation: HostOperation) -> list[Difference]:
    """The tokens that went through the decoder."""
    tokens = tuple(call.token for call in answer.calls)
    if tokens == fed.tokens:
        return []
    rule = "HOST-PAD" if isinstance(operation, ForkRequest) else "HOST-TOKENS"
    return [Difference(rule, f"request {fed.request} is fed {list(fed.tokens)}", f"{list(tokens)}")]


def page_differences(fed: Fed, record: StepRecord, state: HostState) -> list[Difference]:
    """The pages of the record, exactly and within the bounds of the window that the request trims by."""
    known, size = state.requests[fed.request], state.cache.page_size
    found = []
    pages = record.pages_before, record.pages_appended, record.pages
    if pages != fed.pages:
        said = f"request {fed.request} holds {fed.pages} pages before the append, after it and after the trim"
        found.append(Difference("WIN-4", said, f"{pages}"))
    if known.kept_window is not None:
        # A chunk of c tokens needs what a window wider by c - 1 needs, append before trim included.
        most = window.bound_after_append(known.kept_window + len(fed.tokens) - 1, size, known.sinks)
        left = window.bound_after_trim(known.kept_window, size, known.sinks)
        if record.pages_appended > most or record.pages > left:
            said = f"request {fed.request} holds at most {most} pages after an append and {left} after a trim"
            found.append(Difference("WIN-5", said, f"{record.pages_appended} and {record.pages}"))
    return found


def known_differences(known: Known, state: HostState, operation: HostOperation) -> list[Difference]:
    """Live requests, their rows and tokens, as a host tells them after the operation."""
    if known.keys() != state.requests.keys():
        return [Difference("PT-LIVE", f"live requests {sorted(state.requests)}", f"{sorted(known)}")]
    found = []
    for request, truth in state.requests.items():
        rows, tokens = known[request]
        if (rows, tokens) != (state.rows(request), truth.tokens):
            said = f"request {request} has {state.rows(request)} rows and the tokens {list(truth.tokens)}"
            found.append(Difference(token_rule(operation, request), said, f"{rows} rows, {list(tokens)}"))
    return found


def store_differences(store: StoreFigures, state: HostState) -> list[Difference]:
    """Pages in use, the peak, and pages held and rows released per request, against the page table's state."""
    found = []
    if (store.used, store.peak) != (state.cache.used, state.peak):
        said = f"{state.cache.used} pages in use, {state.peak} at most after a trim"
        found.append(Difference("PT-PAGES", said, f"{store.used} and {store.peak}"))
    for request, truth in state.cache.requests.items():
        held = state.held(request), released_rows(truth, state.cache.page_size)
        if store.requests[request] != held:
            said = f"request {request} holds {held[0]} pages, and its rows {held[1]} are released"
            found.append(Difference("PT-HOLE", said, f"{store.requests[request]}"))
    return found


def plain_differences(paged: Answer, plain: Answer) -> list[Difference]:
    """Every integer of the two hosts' steps."""
    ours = [(call.token, call.step.token, call.step.logits.tolist()) for call in paged.calls]
    theirs = [(call.token, call.step.token, call.step.logits.tolist()) for call in plain.calls]
    return [] if ours == theirs else [Difference("HOST-PLAIN", f"plain lists give {theirs}", f"pages give {ours}")]


def poison_differences(fed: Fed, paged: Answer, plain: Answer) -> list[Difference]:
    """After an overwriting of the pool: contexts and integers are those of the plain lists, which have no pool."""
    ours, theirs = (
        [(c.keys.tobytes(), c.values.tobytes(), c.step.token, c.step.logits.tobytes()) for c in answer.calls]
        for answer in (paged, plain)
    )
    if ours == theirs:
        return []
    said = f"request {fed.request} decodes as if nothing out of reach had been overwritten"
    return [Difference("HOST-POISON", said, "contexts or results changed")]
