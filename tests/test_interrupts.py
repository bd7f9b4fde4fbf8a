"""A Ctrl-C is not lost where Python drops exceptions, and only one that came is acted on."""

import gc
import os
import signal
import time
from collections.abc import Callable

import pytest

from impl.interrupts import interrupt_at_checks, one_interrupt, raise_if_interrupted
from verify.sandbox import Limits, run_limited

LIMITS = Limits(cpu_seconds=20, memory_bytes=1 << 30, wall_seconds=60)


def interrupt() -> None:
    """Ctrl-C, at this very place."""
    signal.raise_signal(signal.SIGINT)


class Finalized:
    """Is interrupted when it goes."""

    def __del__(self) -> None:
        interrupt()


def in_a_finalizer() -> None:
    Finalized()


def in_a_callback_of_the_collector() -> None:
    def called(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(called)
        interrupt()

    gc.callbacks.append(called)
    gc.collect()


def at_a_fork() -> None:
    os.register_at_fork(after_in_parent=interrupt)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.parametrize("place", [in_a_finalizer, in_a_callback_of_the_collector, at_a_fork])
def test_an_interrupt_where_python_drops_exceptions_is_raised_after_all(place: Callable[[], None]) -> None:
    def interrupted() -> list[str]:
        said = []
        try:
            with one_interrupt():
                place()
                time.sleep(50)
        except KeyboardInterrupt:
            said.append("interrupted")
        return said

    ended = run_limited(interrupted, LIMITS)
    assert (ended.kind, ended.value) == ("returned", ["interrupted"])


def test_an_interrupt_that_is_only_noted_is_raised_at_the_next_check() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_at_checks():
        in_a_finalizer()
        raise_if_interrupted()
        time.sleep(50)


def test_an_exception_that_is_dropped_and_no_interrupt_interrupts_nothing() -> None:
    class Hostile:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def undisturbed() -> str:
        with one_interrupt():
            Hostile()
            time.sleep(0.2)
        return "undisturbed"

    assert run_limited(undisturbed, LIMITS).value == "undisturbed"
