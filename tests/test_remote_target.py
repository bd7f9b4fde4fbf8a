"""Python adapters behind the pipe: healthy ones pass, and whatever a hostile one does is a finding with a witness."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from spec.operations import Append, Fork, New, Operation, Read, Release
from spec.page_table import initial
from verify.bounds import Scope
from verify.explore import Search, StepsExhausted
from verify.findings import shortest
from verify.lockstep import Lockstep, replay
from verify.machines import search_at_random
from verify.remote.choice import Choice, TargetOptions, chosen
from verify.remote.connection import cpu_seconds_of
from verify.remote.new_target import TEMPLATES
from verify.target import Raised, attempt

ROOT = Path(__file__).resolve().parent.parent
TINY = Scope(2, 2, 2, 3)
SMALL = Scope(3, 2, 2, 4)

Start = Callable[..., Choice]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The adapter that new-target writes, and the hostile ones around it."""
    path = tmp_path_factory.mktemp("mine")
    shutil.copy(TEMPLATES / "adapter.py.txt", path / "adapter.py")
    shutil.copy(Path(__file__).with_name("hostile_adapters.py.txt"), path / "hostile.py")
    return path


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Starts an adapter; its processes end with the test."""
    with ExitStack() as running:

        def started(target: str, workers: int = 1, seconds: float | None = None, memory: int | None = None) -> Choice:
            options = TargetOptions(target=target, path=str(folder), seconds=seconds, memory=memory)
            return running.enter_context(chosen(options, workers))

        yield started


def test_the_adapter_that_new_target_writes_is_searched_to_the_fixpoint(start: Start) -> None:
    choice = start("adapter:make")
    found = Search(SMALL, choice.factory).run()
    assert found.complete
    assert (found.states, found.transitions) == (170, 3_420)
    assert found.not_offered == ("Trim", "Truncate", "New with sinks", "Fork before the last row")


@pytest.mark.parametrize("name", ["Noisy", "Alone", "Foreign"])
def test_what_a_healthy_adapter_prints_shows_or_could_import_does_not_matter(
    name: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'verify' / '..'}")
    assert Search(TINY, start(f"hostile:{name}").factory).run().complete


HOSTILE = {
    "Raises": ("PT-TOTAL", "raised KeyError: 'no block'"),
    "Exits": ("PT-TOTAL", "raised SystemExit: 3"),
    "Dies": ("PT-TOTAL", "its process ended with exit status 7; its last words: bad block table"),
    "Spins": ("PT-TOTAL", "no reply in 0.3 s of CPU time"),
    "Greedy": ("PT-TOTAL", "raised MemoryError"),
    "Unnamed": ("PT-TOTAL", 'refused with "Full", which is none of UnknownRequest, DuplicateRequest'),
    "Wordy": ("PT-TOTAL", "raised TypeError: release returned 7, not None or the name of a reason"),
    "Garbled": ("PT-TOTAL", 'request "0" has no "length"'),
    "Unshowable": ("PT-TOTAL", "TypeError: 'object' object cannot be interpreted as an integer"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_adapter_is_a_finding_that_says_what_it_did(name: str, start: Start) -> None:
    rule, said = HOSTILE[name]
    choice = start(f"hostile:{name}", seconds=0.3 if name == "Spins" else 2.0, memory=256)
    found = Search(TINY, choice.factory).run()
    assert said in found.broken()[rule].target
    failure = shortest(found, choice.factory)
    again = replay(failure.operations, TINY.pages, TINY.page_size, choice.factory)
    assert rule in {difference.rule for difference in again.differences}


def test_a_loss_that_only_tries_in_a_row_show_comes_with_all_of_them(start: Start) -> None:
    choice = start("hostile:Grudging")
    found = Search(TINY, choice.factory).run()
    assert found.broken()["PT-TOTAL"].target == "its process ended with exit status 8"
    failure = shortest(found, choice.factory)
    assert [type(operation).__name__ for operation in failure.operations] == ["Append", "Release"]
    assert replay(failure.operations, TINY.pages, TINY.page_size, choice.factory).differences


def test_a_loss_while_many_lines_wait_is_a_finding_even_when_none_of_them_alone_brings_it_back(start: Start) -> None:
    found = Search(TINY, start("hostile:Lonesome").factory).run()
    assert not found.complete
    assert found.broken()["PT-TOTAL"].target == "its process ended with exit status 9"


def test_a_fault_that_no_state_shows_comes_with_the_refusals_that_it_needs(start: Start) -> None:
    choice = start("hostile:Secretive")
    found = Search(TINY, choice.factory).run()
    assert set(found.broken()) == {"UnknownRequest"}
    failure = shortest(found, choice.factory)
    kinds = [type(operation).__name__ for operation in failure.operations]
    assert kinds == ["Append", "Append", "Release"]
    assert replay(failure.operations, TINY.pages, TINY.page_size, choice.factory).differences


def test_a_target_that_does_not_do_the_same_twice_is_told_so(start: Start) -> None:
    found = Search(TINY, start("hostile:Fickle").factory).run()
    assert "on another fresh instance, operation" in found.broken()["PT-TOTAL"].target


def test_every_way_to_ask_a_copy_tells_when_its_path_is_answered_otherwise(start: Start) -> None:
    target = start("hostile:Moody").factory(2, 2)
    for operation in (New(0), Append(0, (1,))):
        target.apply(operation)
    apart, in_a_row = target.clone(), target.clone()
    apart.foresee([Release(0)], apart=True)
    said = "on another fresh instance, operation 2 of the path is refused, OutOfPages, and was accepted"
    assert attempt(apart, Release(0)) == Raised("", said)
    in_a_row.foresee([Release(7), Read(0, 0, 1)], apart=False)
    assert attempt(in_a_row, Release(7)) == Raised("", said)
    assert attempt(target.clone(), Release(0)) == Raised("", said)


def test_a_factory_that_gives_the_same_instance_again_is_found_out(start: Start) -> None:
    assert "DuplicateRequest" in Search(TINY, start("hostile:same").factory).run().broken()


def test_what_is_not_shown_is_not_checked_but_its_effect_is_found(start: Start) -> None:
    choice = start("hostile:Blind")
    assert choice.lines()[2] == "not observed: counts, the free list"
    found = Search(SMALL, choice.factory).run()
    assert "OutOfPages" in found.broken()
    assert not {"PT-OWN", "PT-FREE", "PT-LEAK"} & set(found.broken())


def test_a_size_that_the_factory_does_not_take_is_a_finding_and_not_the_end(start: Start) -> None:
    choice = start("hostile:Picky")
    found = Search(Scope(2, 3, 1, 1), choice.factory).run()
    assert found.broken()["PT-TOTAL"].target == "ValueError: pages of 2 rows, at most 4 of them"
    assert Search(TINY, choice.factory).run().complete


def test_a_pool_of_another_size_is_a_finding(start: Start) -> None:
    assert set(Search(TINY, start("hostile:large").factory).run().broken()) == {"PT-OWN", "PT-FREE", "PT-PAGES"}


def test_many_slow_replies_in_one_exchange_are_no_hang(start: Start) -> None:
    assert Search(Scope(2, 2, 1, 2), start("hostile:Slow", seconds=0.2).factory).run().complete


def test_a_copy_is_asked_on_a_fresh_instance_and_the_original_goes_on(start: Start) -> None:
    choice = start("adapter:make")
    target = choice.factory(4, 2)
    path: list[Operation] = [New(0), Append(0, (1, 2, 3))]
    for operation in path:
        target.apply(operation)
    copy = target.clone()
    copy.apply(Release(0))
    assert not copy.observe().requests
    target.apply(Append(0, (4,)))
    assert target.observe().requests[0].rows == (1, 2, 3, 4)
    assert target.clone().observe() == target.observe()


def test_what_was_foreseen_is_answered_as_if_it_had_not_been(start: Start) -> None:
    choice = start("adapter:make")
    target = choice.factory(2, 2)
    for operation in (New(0), Append(0, (1,))):
        target.apply(operation)
    tries: list[Operation] = [Append(0, (2,)), Append(0, ()), Fork(0, 1, 1), Release(7), Read(0, 0, 1), Read(0, 0, 2)]
    alone = [attempt(target.clone(), operation) for operation in tries]
    target.foresee(tries, apart=True)
    assert [attempt(target.clone(), operation) for operation in tries] == alone
    target.foresee(tries[3:], apart=False)
    assert [attempt(target, operation) for operation in tries[3:]] == alone[3:]
    assert target.observe() == target.clone().observe()


def test_a_random_search_runs_behind_the_pipe(start: Start) -> None:
    tally = search_at_random(start("adapter:make").factory, 20, 30)
    assert tally.failure is None
    assert tally.operations["Fork"] > 10


def test_a_budget_of_steps_ends_a_search(start: Start) -> None:
    with pytest.raises(StepsExhausted):
        Search(TINY, start("adapter:make").factory, budget=50).run()


def test_after_a_loss_the_next_question_goes_to_a_new_process(start: Start) -> None:
    choice = start("hostile:Dies")
    target = choice.factory(2, 2)
    target.apply(New(0))
    answer = attempt(target.clone(), Release(0))
    assert isinstance(answer, Raised)
    assert answer.lost
    target.apply(Append(0, (1,)))
    assert target.observe().requests[0].rows == (1,)


def test_a_target_that_does_not_start_again_keeps_its_finding(start: Start, folder: Path) -> None:
    found = Search(TINY, start("hostile:Fragile").factory).run()
    (folder / "left-behind").unlink()
    assert "it does not start again" in found.broken()["PT-TOTAL"].target


def test_a_difference_ends_a_lockstep_run_like_that_of_any_target(start: Start) -> None:
    run = Lockstep(start("hostile:Raises").factory(2, 2), initial(2, 2))
    assert not run.apply(New(0))
    assert "PT-TOTAL" in {difference.rule for difference in run.apply(Release(0))}


def test_the_child_ends_with_the_process_that_started_it(folder: Path) -> None:
    program = (
        "import time\n"
        "from verify.remote.choice import TargetOptions, chosen\n"
        f"with chosen(TargetOptions(target='adapter:make', path={str(folder)!r})) as choice:\n"
        "    print(choice.factory.__closure__[0].cell_contents._connection._child.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        os.kill(child, 0)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_bytes())


def test_what_a_child_started_ends_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    (tmp_path / "starts.sh").write_text(
        f'sleep 600 & echo $! >{note}\nread line; echo \'{{"kvproof":"target","version":1,"name":"x"}}\'; read line\n'
    )
    with chosen(TargetOptions(target=f"stdio:sh {tmp_path / 'starts.sh'}")):
        sleeper = int(note.read_text())
        os.kill(sleeper, 0)
    wait_until(
        lambda: not Path(f"/proc/{sleeper}/cmdline").exists() or not Path(f"/proc/{sleeper}/cmdline").read_bytes()
    )


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what the kernel does in its own time."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_cpu_time_is_that_of_a_whole_session() -> None:
    spin = (
        "import os, time\nif not os.fork():\n while time.process_time() < 0.5: pass\nelse: os.wait(); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", spin], start_new_session=True) as process:
        wait_until(lambda: cpu_seconds_of(process.pid) >= 0.3)
        process.kill()
