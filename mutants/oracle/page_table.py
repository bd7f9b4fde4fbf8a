"""Mutants of the page table's definition and of its check, with the controls of every run."""

from pathlib import Path

from mutants.mutant import Mutant
from mutants.oracle.rule_mutant import DROPPED, PAGE_TABLE, dropped, family, negated
from mutants.oracle.silenced import silenced

ROOT = Path(__file__).parent.parent.parent
REFINEMENT, SPEC = "verify.refinement", "spec.page_table"
OUTCOME, CHECK, STATE = (
    f"{REFINEMENT}:outcome_differences",
    f"{REFINEMENT}:check_operation",
    f"{REFINEMENT}:check_state",
)

REASONS = ("UnknownRequest", "DuplicateRequest", "BadArgument", "RowsReleased", "OutOfPages")


def _reason(rule: str) -> Mutant:
    """A wrong answer to a refusal for this reason is not told by it."""
    before = "isinstance(expected, Refused)"
    return dropped(rule, PAGE_TABLE, OUTCOME, before, f"{before} and expected.reason.value != {rule!r}")


_SAID = "Difference(rule, said, {}) for rule in {}"
_TOTAL = '["PT-TOTAL", *due]'

PAGE_TABLE_DROPPED = (
    *silenced(ROOT, PAGE_TABLE, REFINEMENT),
    *map(_reason, REASONS),
    dropped(
        "OutOfPages",
        PAGE_TABLE,
        OUTCOME,
        "[Difference(answer.reason.value, said, describe(answer))]",
        "[]",
        "of an acceptance",
    ),
    dropped(
        "PT-TOTAL",
        PAGE_TABLE,
        OUTCOME,
        f"[{_SAID.format('describe(answer)', _TOTAL)}]",
        f"[{_SAID.format('describe(answer)', 'due')}]",
        "an error",
    ),
    dropped(
        "PT-TOTAL",
        PAGE_TABLE,
        OUTCOME,
        "[Difference(rule, said, f'answered {answer!r}') for rule in ['PT-TOTAL', *due]]",
        "[Difference(rule, said, f'answered {answer!r}') for rule in due]",
        "no answer",
    ),
    dropped("PT-TOTAL", PAGE_TABLE, CHECK, "differences.append(unseen(snapshot))"),
    dropped("PT-INPLACE", PAGE_TABLE, CHECK, "check_in_place(seen.mapped, mapped, differences)"),
    dropped("PT-SHARE", PAGE_TABLE, STATE, "add(share_difference(request, cell, page, mapped, state))", word="at all"),
    dropped(
        "PT-SHARE",
        PAGE_TABLE,
        STATE,
        "mapped.setdefault(cell, page) != page",
        "mapped.setdefault(cell, page) is None",
        "one cell on two pages",
    ),
    dropped(
        "PT-SHARE",
        PAGE_TABLE,
        STATE,
        "backs.setdefault(page, cell) != cell",
        "backs.setdefault(page, cell) is None",
        "one page for two cells",
    ),
    dropped("PT-OWN", PAGE_TABLE, f"{REFINEMENT}:check_pool", "snapshot.counts is not None", "False"),
    dropped("PT-FREE", PAGE_TABLE, f"{REFINEMENT}:check_pool", "snapshot.free is not None", "False"),
)

PAGE_TABLE_NEGATED = (
    negated(
        "PT-OWN",
        PAGE_TABLE,
        f"{SPEC}:owners",
        "a cell that is not shared has two owners",
        "state.shared.get(cell, 1)",
        "state.shared.get(cell, 2)",
    ),
    negated(
        "PT-OWN",
        PAGE_TABLE,
        f"{SPEC}:fork",
        "a fork counts two new owners",
        "shared.get(cell, 1) + 1",
        "shared.get(cell, 1) + 2",
    ),
    negated(
        "PT-LEAK",
        PAGE_TABLE,
        f"{SPEC}:_disowned",
        "a cell that its last owner leaves stays in use",
        "state.used - len(cells) + len(left_to_others)",
        "state.used",
        "PT-PAGES",
    ),
    negated(
        "PT-PAGES",
        PAGE_TABLE,
        f"{SPEC}:pages_for",
        "a page that is begun is not counted",
        "-(-rows // page_size)",
        "rows // page_size",
        "PT-PAGES",
        "PT-TOTAL",
    ),
    negated(
        "PT-PAGES",
        PAGE_TABLE,
        f"{SPEC}:truncate",
        "the pages that a cut lets go stay in use",
        "request.cells[len(prefix.cells) :]",
        "()",
    ),
    negated(
        "PT-SHARE",
        PAGE_TABLE,
        f"{SPEC}:fork",
        "a fork's pages are not shared",
        "{**shared, **{cell: shared.get(cell, 1) + 1 for cell in child.cells}}",
        "shared",
        "PT-SHARE",
        "PT-OWN",
        word="not kept",
    ),
    negated(
        "PT-SHARE",
        PAGE_TABLE,
        f"{SPEC}:append",
        "a shared page is not copied before it is written",
        "length % page_size != 0 and cells[-1] in shared",
        "False",
    ),
    negated(
        "PT-INPLACE",
        PAGE_TABLE,
        f"{SPEC}:append",
        "new pages come before those that a request holds",
        "cells + tuple(range(state.next_cell, state.next_cell + needed))",
        "tuple(range(state.next_cell, state.next_cell + needed)) + cells",
    ),
    negated(
        "PT-ROWS",
        PAGE_TABLE,
        f"{SPEC}:readable",
        "the first row behind the released pages is not readable",
        "(stop * page_size, len(request.rows))",
        "(stop * page_size + (stop > 0), len(request.rows))",
    ),
    negated(
        "PT-ROWS",
        PAGE_TABLE,
        f"{SPEC}:read",
        "a read gives the rows from the next one on",
        "request.rows[op.lo : op.hi]",
        "request.rows[op.lo + 1 : op.hi + 1]",
    ),
    negated(
        "PT-LEN",
        PAGE_TABLE,
        f"{SPEC}:append",
        "an append of several rows adds one",
        "request.rows + op.tokens",
        "request.rows + op.tokens[:1]",
    ),
    negated(
        "PT-HOLE",
        PAGE_TABLE,
        f"{SPEC}:trim",
        "a trim lets go a page whose last row is kept",
        "op.keep_from // state.page_size",
        "(op.keep_from + 1) // state.page_size",
        "PT-HOLE",
        "PT-ROWS",
    ),
    negated(
        "PT-HOLE",
        PAGE_TABLE,
        f"{SPEC}:released",
        "the released pages begin at the first",
        "sink_pages(request.sinks, page_size)",
        "0",
    ),
    negated(
        "PT-LIVE",
        PAGE_TABLE,
        f"{SPEC}:release",
        "a released request stays live",
        "del requests[op.request]",
        "pass",
    ),
    negated(
        "PT-REFUSE",
        PAGE_TABLE,
        f"{SPEC}:append",
        "an append that does not fit ends every request",
        "return state, OUT_OF_PAGES",
        "return initial(state.pages, page_size), OUT_OF_PAGES",
    ),
    negated(
        "PT-TOTAL",
        PAGE_TABLE,
        f"{SPEC}:step",
        "what is no operation is refused",
        'raise TypeError(f"not an operation: {op!r}")',
        "return state, BAD_ARGUMENT",
    ),
    negated(
        "PT-TOTAL",
        PAGE_TABLE,
        f"{SPEC}:trim",
        "a trim of an unknown request has no outcome",
        "state.requests.get(op.request)",
        "state.requests[op.request]",
        "UnknownRequest",
    ),
    negated(
        "UnknownRequest",
        PAGE_TABLE,
        f"{SPEC}:trim",
        "a trim of an unknown request is a bad argument",
        "return state, UNKNOWN_REQUEST",
        "return state, BAD_ARGUMENT",
    ),
    negated(
        "DuplicateRequest",
        PAGE_TABLE,
        f"{SPEC}:fork",
        "a fork may begin a live request anew",
        "op.to in state.requests",
        "False",
    ),
    negated(
        "DuplicateRequest",
        PAGE_TABLE,
        f"{SPEC}:new",
        "a live request begins anew",
        "op.request in state.requests",
        "False",
    ),
    negated("BadArgument", PAGE_TABLE, f"{SPEC}:new", "negative sinks are none", "op.sinks < 0", "False"),
    negated("BadArgument", PAGE_TABLE, f"{SPEC}:append", "nothing can be appended", "not op.tokens", "False"),
    negated(
        "BadArgument",
        PAGE_TABLE,
        f"{SPEC}:trim",
        "a trim may reach one row beyond the request",
        "0 <= op.keep_from <= len(request.rows)",
        "0 <= op.keep_from <= len(request.rows) + 1",
    ),
    negated(
        "RowsReleased",
        PAGE_TABLE,
        f"{SPEC}:read",
        "a read that ends at a released row is refused",
        "max(op.lo, first * state.page_size) < min(op.hi, stop * state.page_size)",
        "max(op.lo, first * state.page_size) <= min(op.hi, stop * state.page_size)",
    ),
    negated(
        "RowsReleased",
        PAGE_TABLE,
        f"{SPEC}:_prefix",
        "a cut right behind the released pages is refused",
        "first * page_size < length < (first + dropped) * page_size",
        "first * page_size < length <= (first + dropped) * page_size",
    ),
    negated(
        "OutOfPages",
        PAGE_TABLE,
        f"{SPEC}:append",
        "an append that takes the last page is refused",
        "needed > state.pages - state.used",
        "needed >= state.pages - state.used and needed > 0",
    ),
    negated(
        "OutOfPages",
        PAGE_TABLE,
        f"{SPEC}:append",
        "the copy of a shared page costs nothing",
        "needed > state.pages - state.used",
        "needed - copies > state.pages - state.used",
        word="copies",
    ),
)

PAGE_TABLE_MUTANTS = (*PAGE_TABLE_DROPPED, *PAGE_TABLE_NEGATED)

NO_OP = Mutant(
    id="no-op",
    title="control: another spelling of the same sum",
    family=family(PAGE_TABLE, DROPPED),
    module=SPEC,
    function="_prefix",
    before="pages_for(length, page_size) - dropped",
    after="-dropped + pages_for(length, page_size)",
)

BROKEN = Mutant(
    id="broken",
    title="control: an append counts one page too many",
    family=family(PAGE_TABLE, DROPPED),
    module=SPEC,
    function="append",
    before="state.used + needed",
    after="state.used + needed + 1",
)
