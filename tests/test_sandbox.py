"""However a child ends, the sandbox names it, counts its CPU time and leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verify.sandbox import Limits, run_limited, run_noted

LIMITS = Limits(cpu_seconds=0.3, memory_bytes=200 << 20, wall_seconds=20)
ROOT = Path(__file__).parent.parent


def spin() -> None:
    while True:
        pass


def spin_and_swallow_everything() -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        try:
            spin()
        except BaseException:
            continue


def allocate_without_end() -> None:
    rows = []
    while True:
        rows.append(bytearray(1 << 20))


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def raise_unprintable() -> None:
    raise UnprintableError


def test_a_value_comes_back_as_json_carries_it() -> None:
    ended = run_limited(lambda: {"rules": ["PT-OWN"], "steps": (1, 2)}, LIMITS)
    assert (ended.kind, ended.value) == ("returned", {"rules": ["PT-OWN"], "steps": [1, 2]})
    assert 0 < ended.cpu_seconds < 0.3


def test_a_value_that_json_cannot_carry_is_raised_not_pickled() -> None:
    ended = run_limited(lambda: {1, 2}, LIMITS)
    assert (ended.kind, "not JSON serializable" in ended.detail) == ("raised", True)


def test_an_exception_is_named_with_its_place() -> None:
    ended = run_limited(lambda: [][0], LIMITS)
    assert ended.kind == "raised"
    assert ended.detail.startswith("IndexError: list index out of range (test_sandbox.py:")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RecursionError, GeneratorExit])
def test_no_exception_reaches_the_parents_frames(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    assert run_limited(fail, LIMITS).detail.startswith(error.__name__)


def test_an_exception_without_a_text_is_still_named() -> None:
    assert run_limited(raise_unprintable, LIMITS).detail.startswith("UnprintableError: (its text cannot be had)")


@pytest.mark.parametrize("function", [spin, spin_and_swallow_everything])
def test_a_spinning_child_runs_out_of_cpu(function: object) -> None:
    assert callable(function)
    ended = run_limited(function, LIMITS)
    assert ended.kind == "runaway.cpu"
    assert 0.25 < ended.cpu_seconds < 1


def test_a_child_that_disarms_its_timer_still_runs_out_of_cpu() -> None:
    def disarm() -> None:
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        spin()

    ended = run_limited(disarm, LIMITS)
    assert ended.kind == "runaway.cpu"
    assert ended.cpu_seconds < 4


def test_a_child_that_allocates_without_end_runs_out_of_memory() -> None:
    limits = Limits(cpu_seconds=5, memory_bytes=64 << 20, wall_seconds=20)
    assert run_limited(allocate_without_end, limits).kind == "runaway.memory"


def test_one_huge_allocation_runs_out_of_memory() -> None:
    assert run_limited(lambda: len(bytearray(1 << 40)), LIMITS).kind == "runaway.memory"


@pytest.mark.parametrize("function", [lambda: time.sleep(60), lambda: os.kill(os.getpid(), signal.SIGSTOP)])
def test_a_child_that_waits_is_ended_by_the_wall_clock(function: object) -> None:
    assert callable(function)
    ended = run_limited(function, Limits(cpu_seconds=5, memory_bytes=LIMITS.memory_bytes, wall_seconds=0.2))
    assert (ended.kind, ended.cpu_seconds < 0.2) == ("runaway.wall", True)


@pytest.mark.parametrize(
    ("end", "detail"),
    [
        (lambda: os._exit(7), "exit 7"),
        (lambda: os._exit(0), "exit 0 without a reply"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "SIGKILL"),
        (lambda: os.kill(os.getpid(), signal.SIGUSR1), "SIGUSR1"),
        (lambda: os.kill(os.getpid(), 40), "signal 40"),
        (lambda: os.closerange(3, 64), "exit 0 without a reply"),
    ],
)
def test_a_child_that_ends_without_a_word_died(end: object, detail: str) -> None:
    assert callable(end)
    ended = run_limited(end, LIMITS)
    assert (ended.kind, ended.detail) == ("died", detail)


@pytest.mark.parametrize("garbage", [b"\xff garbage\n", b"[" * 100_000 + b"\n", b"17\n", b'{"ended": "returned"'])
def test_a_reply_with_garbage_in_it_is_no_reply(garbage: bytes) -> None:
    inherited = {int(name) for name in os.listdir("/proc/self/fd")}

    def write_into_the_reply() -> None:
        for descriptor in set(range(64)) - inherited:
            try:
                os.write(descriptor, garbage)
            except OSError:
                continue

    ended = run_limited(write_into_the_reply, LIMITS)
    assert (ended.kind, ended.detail) == ("died", "its reply is garbled")


def test_what_a_child_prints_stays_with_the_child(capfd: pytest.CaptureFixture[str]) -> None:
    def chatter() -> None:
        os.write(1, b"noise")
        os.write(2, b"more noise")

    assert run_limited(chatter, LIMITS).kind == "returned"
    assert capfd.readouterr() == ("", "")


def test_notes_survive_a_child_that_does_not() -> None:
    def fall(note: object) -> None:
        assert callable(note)
        note({"stage": "witness"})
        note({"stage": "exhaustive"})
        os._exit(3)

    assert run_noted(fall, LIMITS).notes == ({"stage": "witness"}, {"stage": "exhaustive"})


def test_what_a_child_started_ends_with_it(tmp_path: Path) -> None:
    alive = tmp_path / "alive"

    def leave_one_behind() -> None:
        if os.fork() == 0:
            time.sleep(0.3)
            alive.write_text("still here")
            os._exit(0)

    assert run_limited(leave_one_behind, LIMITS).kind == "returned"
    time.sleep(0.5)
    assert not alive.exists()


def test_a_parent_that_is_killed_leaves_no_child(tmp_path: Path) -> None:
    started, alive = tmp_path / "started", tmp_path / "alive"
    program = f"""
import pathlib, time
from verify.sandbox import Limits, run_limited
def linger():
    pathlib.Path({str(started)!r}).write_text("x")
    time.sleep(1)
    pathlib.Path({str(alive)!r}).write_text("x")
run_limited(linger, Limits(9, 1 << 28, 9))
"""
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    while not started.exists():
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    time.sleep(1.2)
    assert not alive.exists()


def test_an_interrupted_parent_ends_its_child(tmp_path: Path) -> None:
    alive = tmp_path / "alive"

    def linger() -> None:
        time.sleep(0.4)
        alive.write_text("still here")

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_limited(linger, LIMITS)
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.5)
    assert not alive.exists()
