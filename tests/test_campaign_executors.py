"""Work on any executor: nothing is lost with a worker, what cannot be had is one clear error, and what work raises is raised."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from verify.campaign import executors
from verify.campaign.executors import ExecutorMissing, Lost, Place, finished, open_executor

TWO = Place("process", 2)
ROOT = Path(__file__).resolve().parent.parent

LEFT_WITH_MUCH_TO_WRITE = """
import contextlib, multiprocessing, sys, time
from concurrent.futures import BrokenExecutor
from verify.campaign.executors import open_executor

def for_ever(data):
    time.sleep(600)

with contextlib.suppress(KeyboardInterrupt), open_executor("process", 2) as pool:
    calls = [pool.submit(for_ever, bytes(1 << 20)) for _ in range(8)]  # far more than a pipe holds
    time.sleep(1)
    if sys.argv[1] == "interrupted":
        raise KeyboardInterrupt
    multiprocessing.active_children()[0].kill()
    assert all(isinstance(call.exception(), BrokenExecutor) for call in calls)
"""


def square(number: int) -> int:
    """The square."""
    return number * number


def die_once(place: Path, number: int) -> int:
    """The square, after this worker was killed over number 3 once."""
    if number == 3 and not place.exists():
        place.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def die_always(number: int) -> int:
    """The square, unless it is that of 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def fail(number: int) -> int:
    """Raises for 3, at once, and takes long for 4."""
    if number == 3:
        raise ValueError("three")
    time.sleep(60 * (number == 4))
    return number


@pytest.mark.parametrize("place", [Place("serial"), TWO], ids=["serial", "process"])
def test_every_item_comes_with_its_result(place: Place) -> None:
    assert sorted(finished(place, square, range(20))) == [(n, n * n) for n in range(20)]


def test_what_a_killed_worker_had_is_done_by_another(tmp_path: Path) -> None:
    found = sorted(finished(TWO, partial(die_once, tmp_path / "died"), range(12)))
    assert found == [(n, n * n) for n in range(12)]
    assert (tmp_path / "died").exists()


def test_an_item_that_loses_every_worker_is_lost_and_no_other_is() -> None:
    found = dict(finished(TWO, die_always, range(8)))
    assert isinstance(found.pop(3), Lost)
    assert found == {n: n * n for n in (0, 1, 2, 4, 5, 6, 7)}


def test_items_are_taken_only_when_there_is_room_for_them() -> None:
    items = iter(range(100))
    results = finished(TWO, square, items)
    next(results)
    results.close()
    assert next(items) <= 2 * executors.IN_FLIGHT_PER_WORKER * TWO.workers


@pytest.mark.parametrize("how", ["interrupted", "a worker lost"])
def test_processes_end_however_much_is_still_being_written_to_them(how: str) -> None:
    command = [sys.executable, "-c", LEFT_WITH_MUCH_TO_WRITE, how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_work_raises_is_raised_and_running_work_does_not_hold_it_up() -> None:
    begun = time.monotonic()
    with pytest.raises(ValueError, match="three"):
        list(finished(TWO, fail, (4, 3)))
    assert time.monotonic() - begun < 30


def test_without_the_package_there_is_no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExecutorMissing, match="needs the package distributed"), open_executor("dask", 1):
        pass


def test_a_scheduler_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "SCHEDULER_SECONDS", 0.2)
    with pytest.raises(ExecutorMissing, match="no Dask scheduler answers at"):
        list(finished(Place("dask", 1, "tcp://127.0.0.1:9"), square, (1,)))
