"""The processes behind a simulated chip: they are replaced when they are lost, and nothing of them stays behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from impl.chip import ChipDied
from tests.toy_chip.toy import KINDS, MEMORY, Misdeed, copies, toy
from verify.chips.fork_server import IN_MEMORY
from verify.chips.simulated import SimulatedChip

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 60.0
LONG = 2_000_000_000
"""Cycles that take longer than any test."""

RUNS_FOR_EVER = """
import sys
from tests.toy_chip.toy import MEMORY, Misdeed, copies, toy
with toy(sys.argv[1], cycle_limit=2_000_000_000) as chip:
    chip.cpu_seconds = 1000
    chip.run([copies(1)], MEMORY)
    print(chip.server_pid, flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "busy":
        chip.run([copies(1, misdeed=Misdeed.ENDLESS)], MEMORY)
    sys.stdin.read()
"""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each simulator."""
    request.getfixturevalue(request.param)
    return str(request.param)


@pytest.fixture
def chip(kind: str) -> Iterator[SimulatedChip]:
    """The stand-in, with a server that has served."""
    with toy(kind, cycle_limit=LONG) as running:
        running.cpu_seconds = 1000
        running.run([copies(1)], MEMORY)
        wait_until_idle(running.server_pid)
        yield running


def forked_by(server: int) -> list[int]:
    """The processes that the server has forked: the one that runs, or the one that waits for its run."""
    try:
        return [int(pid) for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split()]
    except FileNotFoundError:
        return []


def runs_of(server: int) -> list[int]:
    """Those of them that have begun to run: what they print goes to a log of their own."""
    return [pid for pid in forked_by(server) if printing_to(pid) == "log"]


def spares_of(server: int) -> list[int]:
    """Those of them that have not."""
    return [pid for pid in forked_by(server) if printing_to(pid) == "server"]


def printing_to(pid: int) -> str:
    """The name of the file that the process prints to; "" when it has gone."""
    try:
        return Path(os.readlink(f"/proc/{pid}/fd/1")).name
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_gone(pid: int) -> bool:
    """Whether the process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for(what: Callable[[], object]) -> None:
    """Return once it is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_until_idle(server: int | None) -> None:
    """Return once the process of the last run, whose answer does not wait for that, has gone."""
    assert server is not None
    wait_for(lambda: not runs_of(server))


def killed_while_it_runs(chip: SimulatedChip, victim: Callable[[int], int], number: int) -> str:
    """What the chip says when the process is killed in the middle of a run."""
    server = chip.server_pid
    assert server is not None

    def kill() -> None:
        wait_for(lambda: runs_of(server))
        os.kill(victim(server), number)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(ChipDied) as raised:
        chip.run([copies(1, misdeed=Misdeed.ENDLESS)], MEMORY)
    killer.join()
    return str(raised.value)


def test_a_run_that_crashes_is_told_and_the_server_stays(chip: SimulatedChip) -> None:
    server = chip.server_pid
    assert "ended by SIGSEGV" in killed_while_it_runs(chip, lambda pid: runs_of(pid)[0], signal.SIGSEGV)
    assert chip.run([copies(1)], MEMORY)[0].status == 2
    assert chip.server_pid == server


@pytest.mark.parametrize("waves", [False, True])
def test_a_server_has_no_thread_that_its_runs_would_miss(kind: str, waves: bool) -> None:
    server = toy(kind)._started(waves)
    try:
        wait_for(lambda: spares_of(server.pid))
        assert len(os.listdir(f"/proc/{server.pid}/task")) == 1
    finally:
        server.close()


def test_a_server_that_is_killed_takes_its_run_along_and_is_started_again(chip: SimulatedChip) -> None:
    server = chip.server_pid
    assert "the simulator's process ended (-9)" in killed_while_it_runs(chip, lambda pid: pid, signal.SIGKILL)
    assert chip.run([copies(1)], MEMORY)[0].status == 2
    assert chip.server_pid != server


def test_a_server_that_was_killed_between_runs_is_started_again(chip: SimulatedChip) -> None:
    server = chip.server_pid
    assert server is not None
    os.kill(server, signal.SIGKILL)
    wait_for(lambda: is_gone(server))
    with pytest.raises(ChipDied, match="the simulator's process ended"):
        chip.run([copies(1)], MEMORY)
    assert chip.run([copies(1)], MEMORY)[0].status == 2


def test_a_process_that_was_killed_before_its_run_is_told_and_the_server_stays(chip: SimulatedChip) -> None:
    server = chip.server_pid
    assert server is not None
    wait_for(lambda: spares_of(server))
    (spare,) = spares_of(server)
    os.kill(spare, signal.SIGKILL)
    with pytest.raises(ChipDied, match="ended by SIGKILL"):
        chip.run([copies(1)], MEMORY)
    assert chip.run([copies(1)], MEMORY)[0].status == 2
    assert chip.server_pid == server


def test_a_closed_chip_leaves_no_process_and_no_folder(kind: str) -> None:
    with toy(kind) as chip:
        chip.run([copies(1)], MEMORY)
        server = chip.server_pid
        assert server is not None
        folder = Path(os.readlink(f"/proc/{server}/cwd"))
        assert folder.parent == IN_MEMORY or not IN_MEMORY.is_dir()
    assert is_gone(server) and not folder.exists()


@pytest.mark.parametrize("doing", ["busy", "idle"])
def test_a_killed_parent_leaves_no_process_and_no_folder(kind: str, doing: str) -> None:
    command = [sys.executable, "-c", RUNS_FOR_EVER, kind, doing]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        folder = Path(os.readlink(f"/proc/{server}/cwd"))
        wait_until_idle(server)
        assert parent.stdin is not None
        parent.stdin.write("\n")
        parent.stdin.flush()
        if doing == "busy":
            wait_for(lambda: runs_of(server))
        else:
            wait_for(lambda: spares_of(server))
        left = [server, *forked_by(server)]
        parent.kill()
    wait_for(lambda: all(is_gone(pid) for pid in left) and not folder.exists())


def test_a_forked_process_has_a_server_of_its_own(chip: SimulatedChip) -> None:
    server = chip.server_pid
    child = os.fork()
    if child == 0:
        try:
            sound = chip.run([copies(1)], MEMORY)[0].status == 2 and chip.server_pid != server
            chip.close()
            os._exit(0 if sound else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert chip.run([copies(1)], MEMORY)[0].status == 2
    assert chip.server_pid == server


def test_an_interrupt_in_a_run_does_not_spoil_the_next(chip: SimulatedChip) -> None:
    server = chip.server_pid
    assert server is not None

    def interrupt() -> None:
        wait_for(lambda: runs_of(server))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        chip.run([copies(1, misdeed=Misdeed.ENDLESS)], MEMORY)
    interrupter.join()
    assert chip.run([copies(2, target=9)], MEMORY)[0].memory[9:11].tolist() == MEMORY[:2].tolist()
    wait_for(lambda: is_gone(server))
