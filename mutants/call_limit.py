"""Ends a process in which one call into the subject takes too long.

A stage makes thousands of short calls, so the first that never returns can be told long before the stage's own budget is
spent. A sampler looks at the stack; a frame that is still there, look after look, is one call. What switches the sampler off
meets the stage's budget.
"""

import os
import signal
from collections.abc import Sequence
from types import FrameType

from mutants.held import within

TICK_SECONDS = 0.02


def limit_calls(seconds: float, subject: Sequence[str]) -> None:
    """From now on a call from outside the subject into it may take so many seconds of CPU; then SIGPROF ends this process."""
    seen: FrameType | None = None
    looks = 0

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal seen, looks
        outermost = _outermost(frame, subject)
        # The frame itself is kept, not its address: the next call of the same function may well have the same one.
        seen, looks = outermost, looks + 1 if outermost is not None and outermost is seen else 0
        if looks * TICK_SECONDS >= seconds:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGPROF)

    signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, TICK_SECONDS, TICK_SECONDS)


def _outermost(frame: FrameType | None, subject: Sequence[str]) -> FrameType | None:
    found = None
    while frame is not None:
        if within(str(frame.f_globals.get("__name__")), subject):
            found = frame
        frame = frame.f_back
    return found
