"""One interrupt is enough: it is not lost, and later ones do not break into the ending of a run."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from impl.exit_codes import ExitCode

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

PATIENCE_SECONDS = 5.0
"""A Ctrl-C so long after the first is meant: the run has not ended, so it interrupts again."""

AGAIN_SECONDS = 0.01
"""So often an interrupt that Python dropped comes again until it is raised."""

_first: list[float] = []  # when the interrupt came, while one is being acted on
_dropped: list[CodeType] = []  # where Python dropped it, until it is raised elsewhere


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
    before, hook = signal.signal(signal.SIGINT, handler), sys.unraisablehook

    def unraisable(what: "UnraisableHookArgs") -> None:
        if _first and what.exc_type is KeyboardInterrupt and signal.getsignal(signal.SIGINT) is handler:
            _come_again(unraisable.__code__)
        else:
            hook(what)

    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        _dropped.clear()
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)
        if before not in (_interrupt, _note):
            _first.clear()


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(ExitCode.INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _within(_dropped, frame) or (_first and now - _first[0] < PATIENCE_SECONDS):
        return
    _dropped.clear()
    _first[:] = [now]
    raise KeyboardInterrupt


def _note(number: int, frame: FrameType | None) -> None:
    if _first:
        _interrupt(number, frame)
    else:
        _dropped.clear()
        _first.append(time.monotonic())


def _come_again(hook: CodeType) -> None:
    """The interrupt met code whose exceptions Python drops: a finalizer, a callback of the collector, what runs at a fork.

    It comes again from a thread, and is raised when the hook that was told of it has been left: there it would be dropped, too.
    """
    _first.clear()
    _dropped[:] = [hook]
    threading.Thread(target=_send_while_dropped, args=(threading.main_thread().ident,), daemon=True).start()


def _send_while_dropped(main: int) -> None:
    while _dropped:
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(AGAIN_SECONDS)


def _within(codes: list[CodeType], frame: FrameType | None) -> bool:
    """Whether the frame is one of the code, or was called by one."""
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return frame is not None
