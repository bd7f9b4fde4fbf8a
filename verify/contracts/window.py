"""Contracts of the window rule: host against oracle, and both against the definition of what a step attends.

The integers are unbounded; `window` None is no window.
"""

from impl import window as host
from spec import window as oracle


def windowed(step: int, window: int | None, sinks: int = 0) -> bool:
    """Whether the rule is defined for these arguments."""
    return step >= 1 and sinks >= 0 and (window is None or sinks < window)


def attended(row: int, step: int, window: int | None, sinks: int) -> bool:
    """The definition: a step attends the sinks and the latest window - sinks rows up to its own, step - 1."""
    return 0 <= row < step and (window is None or row < sinks or step - row <= window - sinks)


def context_is_the_oracles(step: int, window: int | None) -> tuple[int, int]:
    """The host's context is the oracle's.

    pre: windowed(step, window)
    post: _[0] == _[1]
    """
    return host.context(step, window), oracle.context(step, window)


def context_counts_what_is_read(step: int, window: int | None, sinks: int) -> tuple[int, int]:
    """The context is the number of rows gathered and one, whatever the sinks.

    pre: windowed(step, window, sinks)
    post: _[0] == _[1]
    """
    rows = sum([hi - lo for lo, hi in host.gather_ranges(step, window, sinks)])
    return host.context(step, window), rows + 1


def ranges_are_the_oracles(step: int, window: int | None, sinks: int) -> tuple[object, object]:
    """The host gathers exactly the oracle's ranges.

    pre: windowed(step, window, sinks)
    post: _[0] == _[1]
    """
    return host.gather_ranges(step, window, sinks), oracle.rows_read(step, window, sinks)


def a_row_is_gathered_exactly_when_attended(
    step: int, window: int | None, sinks: int, row: int
) -> tuple[list[bool], list[bool]]:
    """A past row lies in one gathered range when the step attends it, and else in none.

    pre: windowed(step, window, sinks) and row != step - 1
    post: _[0] == _[1]
    """
    within = [True for lo, hi in host.gather_ranges(step, window, sinks) if lo <= row < hi]
    return within, [True] if attended(row, step, window, sinks) else []


def keep_from_is_the_oracles(step: int, window: int | None, sinks: int) -> tuple[int, int]:
    """The host trims where the oracle does.

    pre: windowed(step, window, sinks)
    post: _[0] == _[1]
    """
    return host.keep_from(step, window, sinks), oracle.keep_from(step, window, sinks)


def no_later_step_reads_what_is_trimmed(step: int, later: int, window: int | None, sinks: int, row: int) -> bool:
    """A row below keep_from that is no sink is attended by no later step.

    pre: windowed(step, window, sinks) and step < later
    pre: sinks <= row < host.keep_from(step, window, sinks)
    post: not _
    """
    return attended(row, later, window, sinks)


def the_next_step_reads_the_first_row_kept(step: int, window: int | None, sinks: int) -> tuple[int, bool]:
    """keep_from is a legal trim and cannot be later: the next step attends that row.

    pre: windowed(step, window, sinks)
    post: 0 <= _[0] <= step and _[1]
    """
    kept = host.keep_from(step, window, sinks)
    return kept, attended(kept, step + 1, window, sinks)


def arguments_outside_are_refused(step: int, window: int | None, sinks: int) -> list[str]:
    """Outside its range, and only there, each function of the host raises ValueError.

    post: _ == ([] if windowed(step, window, sinks) else ["gather_ranges", "keep_from"])
    """
    refused = []
    try:
        host.gather_ranges(step, window, sinks)
    except ValueError:
        refused.append("gather_ranges")
    try:
        host.keep_from(step, window, sinks)
    except ValueError:
        refused.append("keep_from")
    return refused


def a_context_outside_is_refused(step: int, window: int | None) -> bool:
    """Outside its range, and only there, the host's context raises ValueError.

    post: _ != windowed(step, window)
    """
    try:
        host.context(step, window)
    except ValueError:
        return True
    return False
