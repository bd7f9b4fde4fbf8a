"""One interrupt is enough: it is not lost, and later ones do not break into the ending of a run."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE_SECONDS = 5.0
"""A Ctrl-C so long after the first is meant: the run has not ended, so it interrupts again."""

_first: list[float] = []  # when the interrupt came, while one is being acted on


@contextmanager
def one_interrupt() -> Iterator[None]:
    """Within, a Ctrl-C raises KeyboardInterrupt, and those that follow soon are ignored; the handler comes back after."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if before is not _interrupt:
            _first.clear()


def raise_if_interrupted() -> None:
    """KeyboardInterrupt when one was raised and lost: Python drops what is raised in a finalizer or a collector's callback."""
    if _first:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _first and now - _first[0] < PATIENCE_SECONDS:
        return
    _first[:] = [now]
    raise KeyboardInterrupt
