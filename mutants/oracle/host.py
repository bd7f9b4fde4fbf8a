"""Mutants of the window rule, of the host's definition, and of the checks that hold a host against both."""

from mutants.mutant import Mutant
from mutants.oracle.page_table import ROOT
from mutants.oracle.rule_mutant import HOST, dropped, negated
from mutants.oracle.silenced import silenced

CHECKS, WINDOWS, LOCKSTEP = "verify.host.differences", "verify.decode.window_checks", "verify.host.lockstep"
ORACLE, SPEC = "verify.host.oracle", "spec.window"
APPLY, OBSERVED = f"{LOCKSTEP}:HostLockstep.apply", f"{LOCKSTEP}:HostLockstep.state_differences"


def _of_window(rule: str) -> Mutant:
    """A function of the window rule that differs is not told by this rule."""
    return dropped(rule, HOST, f"{WINDOWS}:check_window", "shown != due", f"shown != due and rule != {rule!r}")


def _of_refusals(rule: str, kept: str) -> Mutant:
    """What the window rule must refuse is not told by this rule."""
    before = 'differences.append(Difference("WIN-6" if sinks else "WIN-1", due, f"{said}"))'
    return dropped(rule, HOST, f"{WINDOWS}:check_refused_windows", before, f"if {kept}:\n    {before}")


HOST_DROPPED = (
    *silenced(ROOT, HOST, CHECKS, LOCKSTEP),
    *map(_of_window, ("WIN-1", "WIN-2", "WIN-3", "WIN-6")),
    _of_refusals("WIN-1", "sinks"),
    _of_refusals("WIN-6", "not sinks"),
    dropped("PT-TOTAL", HOST, f"{CHECKS}:outcome_differences", '["PT-TOTAL"]', "[]"),
    dropped("BadArgument", HOST, f"{CHECKS}:outcome_differences", "[due]", "[]"),
    dropped("HOST-ADMIT", HOST, f"{CHECKS}:refusal_rule", 'return "HOST-ADMIT"', "return None"),
    dropped("HOST-ROLLBACK", HOST, f"{CHECKS}:refusal_rule", 'return "HOST-ROLLBACK"', "return None"),
    dropped("HOST-ROLLBACK", HOST, f"{CHECKS}:token_rule", 'return "HOST-ROLLBACK"', 'return "HOST-TOKENS"'),
    dropped("HOST-PAD", HOST, f"{CHECKS}:token_rule", 'return "HOST-PAD"', 'return "HOST-TOKENS"'),
    dropped("HOST-PAD", HOST, f"{CHECKS}:fed_differences", '"HOST-PAD"', '"HOST-TOKENS"'),
    dropped(
        "HOST-TOKENS",
        HOST,
        f"{CHECKS}:fed_differences",
        "[Difference(rule, {})]".format('f"request {fed.request} is fed {list(fed.tokens)}", f"{list(tokens)}"'),
        "[]",
    ),
    dropped("HOST-PLAIN", HOST, APPLY, "differences += plain_differences(answer, plain)"),
    dropped("HOST-POISON", HOST, APPLY, "differences += poison_differences(fed, answer, plain)"),
    dropped("HOST-REFUSE", HOST, APPLY, "differences += self.unchanged_differences(host, image)"),
    dropped("HOST-GATHER", HOST, APPLY, "differences += self.feed_differences(fed, plain, operation, paged=False)"),
    dropped("PT-PAGES", HOST, OBSERVED, "found += store_differences(seen.store, state)"),
    dropped("PT-INPLACE", HOST, OBSERVED, "check_in_place(self.mapped, mapped, found)"),
    dropped(
        "PT-ROWS",
        HOST,
        OBSERVED,
        "check_state(state.cache, seen.snapshot, found)",
        "check_state(state.cache, seen.snapshot, [])",
    ),
    dropped(
        "WIN-4",
        HOST,
        f"{LOCKSTEP}:HostLockstep.feed_differences",
        "found += page_differences(fed, answer.record, self.state)",
    ),
)

HOST_NEGATED = (
    negated("WIN-1", HOST, f"{SPEC}:context", "the context is W + 1", "min(step, window)", "min(step, window + 1)"),
    negated("WIN-1", HOST, f"{SPEC}:_check", "there is a step 0", "step < 1", "step < 0"),
    negated(
        "WIN-1",
        HOST,
        f"{SPEC}:_check",
        "there is a window of 0",
        "window is not None and window < 1",
        "window is not None and window < 0",
        word="window",
    ),
    negated(
        "WIN-2",
        HOST,
        f"{SPEC}:rows_read",
        "a step reads one row more",
        "step - (window - sinks)",
        "step - (window - sinks) - 1",
    ),
    negated(
        "WIN-2",
        HOST,
        f"{SPEC}:rows_read",
        "a step does not read the row before it",
        "(first, step - 1)",
        "(first, step - 2)",
        word="last row",
    ),
    negated(
        "WIN-3",
        HOST,
        f"{SPEC}:keep_from",
        "a trim keeps one row more",
        "step + 1 - (window - sinks)",
        "step - (window - sinks)",
    ),
    negated(
        "WIN-4",
        HOST,
        f"{SPEC}:pages_before_append",
        "a step finds the page of its own row",
        "pages_for(step - 1, page_size)",
        "pages_for(step, page_size)",
    ),
    negated(
        "WIN-4",
        HOST,
        f"{SPEC}:pages_before_append",
        "the trim before has let go one row less",
        "step - (window - sinks)",
        "step - 1 - (window - sinks)",
        word="trim",
    ),
    negated(
        "WIN-5",
        HOST,
        f"{SPEC}:bound_after_append",
        "the most pages after an append are one more",
        "page_size - 1 + window - sinks",
        "2 * page_size - 1 + window - sinks",
    ),
    negated(
        "WIN-5",
        HOST,
        f"{SPEC}:bound_after_trim",
        "the most pages after a trim are those after an append",
        "page_size - 1 + window - sinks - 1",
        "page_size - 1 + window - sinks",
    ),
    negated("WIN-6", HOST, f"{SPEC}:rows_read", "sinks are not read once the window slides", "min(sinks, first)", "0"),
    negated("WIN-6", HOST, f"{SPEC}:keep_from", "sinks do not narrow what slides", "window - sinks", "window"),
    negated(
        "WIN-6",
        HOST,
        f"{SPEC}:_check",
        "sinks may fill the window",
        "window is not None and sinks >= window",
        "window is not None and sinks > window",
        "WIN-1",
        "WIN-6",
    ),
    negated(
        "WIN-6",
        HOST,
        f"{SPEC}:bound_after_append",
        "pages of sinks are not counted",
        "sink_pages(sinks, page_size) + pages_for(page_size - 1 + window - sinks, page_size)",
        "pages_for(page_size - 1 + window - sinks, page_size)",
    ),
    negated(
        "HOST-GATHER",
        HOST,
        f"{ORACLE}:attended",
        "a step does not attend the first row of a range",
        "tokens[lo:hi]",
        "tokens[lo + 1 : hi]",
    ),
    negated(
        "HOST-TOKENS",
        HOST,
        f"{ORACLE}:next_chunk",
        "a step feeds one token of a chunk",
        "max(1, min(known.chunk, known.prompt - at))",
        "1",
    ),
    negated(
        "HOST-TOKENS",
        HOST,
        f"{ORACLE}:_advance",
        "the token that a step gives is not the next one",
        "expected.fed.steps[-1].token",
        "known.tokens[-1]",
    ),
    negated(
        "HOST-POISON",
        HOST,
        "verify.host.poison:read_next",
        "the oldest row that a step reads may be overwritten",
        "state.rows(request) + 1",
        "state.rows(request) + 2",
    ),
    negated(
        "HOST-REFUSE",
        HOST,
        f"{ORACLE}:host_step",
        "a request that ends keeps its pages",
        "_applied(state.cache, Release(request))",
        "state.cache",
        "PT-LIVE",
        "PT-PAGES",
    ),
    negated(
        "HOST-REFUSE",
        HOST,
        f"{ORACLE}:_feed",
        "a step that is refused has fed its tokens",
        "return _refused(state, outcome.reason)",
        "return replace(state, pad=state.pad, peak=state.cache.pages + 1), Expected(outcome.reason.value)",
        "PT-PAGES",
        word="peak",
    ),
    negated(
        "HOST-ROLLBACK",
        HOST,
        f"{ORACLE}:cut_refusal",
        "a cut next to a released row is refused",
        "max(lo, gone[0]) < min(hi, gone[1])",
        "max(lo, gone[0]) <= min(hi, gone[1])",
    ),
    negated(
        "HOST-ROLLBACK",
        HOST,
        f"{ORACLE}:cut_refusal",
        "the step behind a cut may read what is gone",
        "Reason.ROWS_RELEASED if any(max(lo, gone[0]) < min(hi, gone[1]) for lo, hi in reads) else None",
        "None",
        word="reads",
    ),
    negated(
        "HOST-PAD",
        HOST,
        f"{ORACLE}:_fork",
        "a padding fills as many rows as the last page has",
        "-state.rows(source) % state.cache.page_size",
        "state.rows(source) % state.cache.page_size",
    ),
    negated(
        "HOST-ADMIT",
        HOST,
        f"{ORACLE}:_admit",
        "an admission that fills the pool is refused",
        "promised + others > state.cache.pages",
        "promised + others >= state.cache.pages",
    ),
    negated(
        "HOST-ADMIT",
        HOST,
        f"{ORACLE}:peak_pages",
        "what is held between append and trim does not count",
        "peak = max(peak, cache.used)",
        "peak = max(peak, cache.used - (at > 1))",
    ),
)

HOST_MUTANTS = (*HOST_DROPPED, *HOST_NEGATED)
