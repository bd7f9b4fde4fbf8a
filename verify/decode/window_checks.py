"""The host's window rule against the oracle's: how much a step attends, which rows it gathers, where it trims."""

from collections.abc import Iterable

from impl import window as host
from spec import window as oracle
from verify.decode.oracle import Found
from verify.refinement import Difference
from verify.target import Raised, answered

BAD_ARGUMENTS: tuple[tuple[int, int | None, int], ...] = (
    (0, None, 0),
    (0, 4, 0),
    (1, 0, 0),
    (1, 4, 4),
    (1, 4, -1),
    (1, None, -1),
)
"""Step, window, sinks: a step or a window below 1, and sinks outside 0 .. window - 1."""


def check_window(window: int | None, sinks: int, steps: Iterable[int]) -> Found:
    """Context, gathered ranges and trim point of each step are the oracle's (WIN-1, WIN-2, WIN-3, with sinks WIN-6)."""
    differences: list[Difference] = []
    asked = 0
    for step in steps:
        given = (sinks,) if sinks else ()
        cases: tuple[tuple[str, str, object, object], ...] = (
            ("WIN-1", "context", oracle.context(step, window), answered(host.context, step, window)),
            (
                "WIN-6" if sinks else "WIN-2",
                "rows",
                oracle.rows_read(step, window, sinks),
                answered(host.gather_ranges, step, window, *given),
            ),
            (
                "WIN-6" if sinks else "WIN-3",
                "trim",
                oracle.keep_from(step, window, sinks),
                answered(host.keep_from, step, window, *given),
            ),
        )
        for rule, what, due, shown in cases:
            if shown != due:
                differences.append(Difference(rule, f"{what} of step {step}, W={window}, S={sinks}: {due}", f"{shown}"))
        asked += len(cases)
    return differences, asked


def check_refused_windows() -> Found:
    """Arguments outside the window rule are ValueErrors of the host's that name the first one that is wrong (WIN-1, WIN-6)."""
    differences: list[Difference] = []
    asked = 0
    for step, window, sinks in BAD_ARGUMENTS:
        answers = [answered(host.gather_ranges, step, window, sinks), answered(host.keep_from, step, window, sinks)]
        if not sinks:
            answers.append(answered(host.context, step, window))
        wrong = "step" if step < 1 else "window" if window is not None and window < 1 else "sinks"
        for said in answers:
            if not (isinstance(said, Raised) and said.kind == ValueError.__name__ and said.message.startswith(wrong)):
                due = f"ValueError of {wrong} for step {step}, W={window}, S={sinks}"
                differences.append(Difference("WIN-6" if sinks else "WIN-1", due, f"{said}"))
        asked += len(answers)
    return differences, asked
