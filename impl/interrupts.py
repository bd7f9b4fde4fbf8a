"""One interrupt is enough: it is not lost, and later ones do not break into the ending of a run."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from impl.exit_codes import ExitCode

PATIENCE_SECONDS = 5.0
"""A Ctrl-C so long after the first is meant: the run has not ended, so it interrupts again."""

_first: list[float] = []  # when the interrupt came, while one is being acted on


@contextmanager
def end_at_interrupt() -> Iterator[None]:
    """Within, a Ctrl-C ends the process at once with exit code 130: for imports, of which nothing is to be lost or said."""
    with _handled_by(_end):
        yield


@contextmanager
def one_interrupt() -> Iterator[None]:
    """Within, a Ctrl-C raises KeyboardInterrupt, and those that follow soon are ignored; the handler comes back after."""
    with _handled_by(_interrupt):
        yield


@contextmanager
def interrupt_at_checks() -> Iterator[None]:
    """Within, a Ctrl-C raises KeyboardInterrupt at the next `raise_if_interrupted` or at the end.

    For code that runs where Python drops exceptions, such as Hypothesis' callback of the garbage collector.
    """
    with _handled_by(_note):
        yield
        raise_if_interrupted()


def raise_if_interrupted() -> None:
    """KeyboardInterrupt when a Ctrl-C came and is to be acted on."""
    if _first:
        raise KeyboardInterrupt


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if before not in (_interrupt, _note):
            _first.clear()


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(ExitCode.INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _first and now - _first[0] < PATIENCE_SECONDS:
        return
    _first[:] = [now]
    raise KeyboardInterrupt


def _note(number: int, frame: FrameType | None) -> None:
    if _first:
        _interrupt(number, frame)
    else:
        _first.append(time.monotonic())
