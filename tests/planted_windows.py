"""Functions of the host's window rule, each wrong in one way."""


def one_more_context(step: int, window: int | None) -> int:
    return step if window is None else min(step, window + 1)


def last_row_twice(step: int, window: int | None, sinks: int = 0) -> tuple[tuple[int, int], ...]:
    return ((max(0, step - (window or step) - 1), step - 1),)


def trims_late(step: int, window: int | None, sinks: int = 0) -> int:
    return 0 if window is None else max(0, step - (window - sinks))


def ignores_sinks(step: int, window: int | None, sinks: int = 0) -> int:
    return 0 if window is None else max(0, step + 1 - window)
