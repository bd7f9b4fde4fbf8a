"""The window rule as the host applies it: which rows a step gathers, and where it trims after it.

Step L (1-based) reads from the L-1 rows before it and adds its own; `window` None is full attention. With `sinks` S the
step reads the first S rows and the last window - S, its own included. Source: docs/reference.md section 1.
"""


def context(step: int, window: int | None) -> int:
    """Rows that the step attends, its own included. Raises ValueError for a step or a window below 1."""
    _check(step, window, 0)
    return step if window is None else min(step, window)


def gather_ranges(step: int, window: int | None, sinks: int = 0) -> tuple[tuple[int, int], ...]:
    """The non-empty ranges (lo, hi) of rows that the step reads besides its own, ascending: at most two, sinks first.

    Raises ValueError for a step or a window below 1, or for sinks outside 0 .. window - 1.
    """
    _check(step, window, sinks)
    past, held = context(step, window) - 1, step - 1
    if past == held:
        return ((0, held),) if held else ()
    ranges = (0, sinks), (held - (past - sinks), held)
    return tuple((lo, hi) for lo, hi in ranges if lo < hi)


def keep_from(step: int, window: int | None, sinks: int = 0) -> int:
    """Where to trim once the step has appended its row: the first row behind the sinks that the next step still reads.

    Raises ValueError for a step or a window below 1, or for sinks outside 0 .. window - 1.
    """
    _check(step, window, sinks)
    return 0 if window is None else max(0, step + 1 - (window - sinks))


def _check(step: int, window: int | None, sinks: int) -> None:
    if step < 1:
        raise ValueError(f"step {step} is below 1")
    if window is not None and window < 1:
        raise ValueError(f"window {window} is below 1")
    if sinks < 0 or (window is not None and sinks >= window):
        raise ValueError(f"sinks {sinks} are not in 0 .. window - 1 (window {window})")
