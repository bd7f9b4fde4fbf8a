"""Verdicts do not depend on who judges: one process, several, a Dask cluster, or what is left of them after a kill."""

import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from multiprocessing import active_children
from typing import Any

import click
import pytest
from rich.console import Console

from impl.command import CommandError
from impl.exit_codes import ExitCode
from mutants.client import ServerError
from mutants.engine import Plan, Record, carry_out
from mutants.farm.farm import Farm
from mutants.farm.job import Bench, Job, Shard, estimates, shards_of
from mutants.farm.judging import SERIAL, judge_all
from mutants.farm.options import farm_of, place_of
from mutants.farm.scale import scale
from mutants.farm.work import end_server, kept_server
from mutants.gate import decide
from mutants.mutant import Mutant
from mutants.verdicts import Status, Verdict
from tests.toy_cache.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT, in_take
from verify.campaign.executors import InPlace, Kind, Place, dask_workers

STACK = "tests.toy_cache.stack"
COPY = MUTANTS[1]
ENDS = (
    *MUTANTS,
    in_take("survives", "page = self.free.pop()", "TOY-TAKE"),
    in_take("crashes", "raise ValueError"),
    in_take("leaves", "import os; os._exit(7)"),
    replace(in_take("loops", "while True: page = 0"), declares_runaway=True),
    *(in_take(f"page {page}", f"page = {page}") for page in range(1, 12)),
)
"""A mutant for every way to end."""


def verdicts(record: Record) -> dict[str, Verdict]:
    assert record.problems == []
    assert len(record.results) == len(record.plan.mutants)
    return {result.mutant.id: result.verdict for result in record.results}


def carried_out(
    place: Place,
    seed: int | None = None,
    mutants: Sequence[Mutant] = ENDS,
    announce: Callable[[str], None] = lambda label: None,
) -> Record:
    record = Record(Plan(PROJECT, tuple(mutants), NO_OP, BROKEN, seed=seed))
    carry_out(record, announce, Farm(place))
    return record


class Killer:
    """An announcement that kills a worker as soon as the first verdict has come in, once."""

    def __init__(self, workers: Callable[[], Iterable[int]]) -> None:
        self.workers = workers
        self.killed: int | None = None

    def __call__(self, label: str) -> None:
        if self.killed is None and label.startswith("mutant page"):
            self.killed = next(iter(self.workers()))
            os.kill(self.killed, signal.SIGKILL)


@pytest.fixture(scope="module")
def serial() -> dict[str, Verdict]:
    found = verdicts(carried_out(SERIAL))
    kinds = {verdict.status for verdict in found.values()}
    assert kinds == {
        Status.KILLED_ASSERTION,
        Status.KILLED_CRASH,
        Status.KILLED_RUNAWAY,
        Status.SURVIVED,
        Status.RUNAWAY_CPU,
        Status.INVALID_APPLY,
        Status.DUPLICATE,
    }
    return found


def test_two_processes_come_to_the_serial_verdicts_though_one_is_killed(serial: dict[str, Verdict]) -> None:
    killer = Killer(lambda: [process.pid for process in active_children() if process.pid])
    assert verdicts(carried_out(Place("process", 2), seed=3, announce=killer)) == serial
    assert killer.killed
    assert active_children() == []


def test_two_dask_workers_come_to_the_serial_verdicts_though_one_is_killed(serial: dict[str, Verdict]) -> None:
    pids: list[int] = []

    @contextmanager
    def opened() -> Iterator[Executor]:
        with dask_workers(2, None) as executor:
            pids[:] = executor._client.run(os.getpid).values()  # type: ignore[attr-defined]
            yield executor

    killer = Killer(lambda: pids)
    assert verdicts(carried_out(Place("dask", 2, opens=opened), seed=4, announce=killer)) == serial
    assert killer.killed in pids


def test_any_executor_will_do(serial: dict[str, Verdict]) -> None:
    chosen = [mutant for mutant in ENDS if mutant.id in ("bottom", "copy", "crashes")]
    with ThreadPoolExecutor(2) as threads:
        found = verdicts(carried_out(Place(workers=2, opens=lambda: nullcontext(threads)), mutants=chosen))
    assert found == {mutant.id: serial[mutant.id] for mutant in chosen}


class LosesEverything(InPlace):
    """Every call ends with its worker."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self.lost)

    def lost(self) -> None:
        raise BrokenExecutor("gone")


def test_workers_that_are_lost_again_and_again_break_the_run() -> None:
    record = carried_out(Place(workers=2, opens=LosesEverything), mutants=MUTANTS[:2])
    (problem,) = record.problems
    assert problem.startswith("a shard of 1 mutants was lost with each worker that had it; the last: gone")
    assert decide(record).code is ExitCode.BROKEN


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sources": "others"}, "reads other sources than the run"),
        ({"python": "2.7.18"}, "the run 2.7.18"),
    ],
)
def test_a_worker_that_cannot_judge_for_the_run_says_so(changed: dict[str, str], why: str) -> None:
    bench = replace(Bench("run", PROJECT, (STACK,), {}, ""), **changed)  # type: ignore[arg-type]
    try:
        with pytest.raises(ServerError, match=why):
            judge_all([Shard(bench, ())], SERIAL, lambda findings: None)
    finally:
        end_server()


def test_shards_hold_every_job_once_and_cost_about_the_same() -> None:
    jobs = [Job(replace(COPY, id=str(number)), "", ()) for number in range(200)]
    costs = {job.mutant.id: 1.0 if number % 50 == 0 else 0.01 for number, job in enumerate(jobs)}
    shards = shards_of(jobs, costs, 2, Bench("run", PROJECT, (STACK,), {}, ""))
    assert sorted(job.mutant.id for shard in shards for job in shard.jobs) == sorted(job.mutant.id for job in jobs)
    sums = [sum(costs[job.mutant.id] for job in shard.jobs) for shard in shards]
    assert 12 <= len(shards) <= 48
    assert max(sums) == 1.0
    assert sums[:4] == [1.0] * 4


def test_a_mutant_that_has_never_run_costs_what_its_family_does() -> None:
    jobs = [Job(replace(COPY, id=name, family=name[0]), "", ()) for name in ("a1", "a2", "a3", "b1")]
    assert estimates(jobs, {"a1": 1.0, "a2": 2.0}, 9.0) == {"a1": 1.0, "a2": 2.0, "a3": 1.5, "b1": 9.0}


def test_dask_that_is_not_there_is_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CommandError, match="needs the package distributed: run `make setup`") as said:
        place_of("dask", 2, None)
    assert said.value.code is ExitCode.UNKNOWN


def test_options_that_do_not_go_together_are_refused() -> None:
    wrong: list[tuple[Kind | None, int | None, str | None]] = [(None, 2, None), ("process", None, "tcp://127.0.0.1:1")]
    for executor, workers, scheduler in wrong:
        with pytest.raises(click.UsageError):
            farm_of("named", executor, workers, scheduler, None, False)


def test_both_ratios_of_a_pair_are_printed() -> None:
    out = io.StringIO()
    plan = Plan(PROJECT, MUTANTS, NO_OP, BROKEN)
    assert scale(plan, 1, "process", Console(file=out, width=180)) is ExitCode.PASS
    pair, wall, cpu, last = out.getvalue().splitlines()
    assert re.fullmatch(r"pair 1: .* on one worker, .* on two", pair)
    assert re.fullmatch(r"wall, 1 worker : 2: least ([\d.]+), median \1, most \1", wall)
    assert re.fullmatch(r"worker CPU, 2 workers : 1: least ([\d.]+), median \1, most \1", cpu)
    assert last == "5 mutants: identical verdicts"


def test_a_server_serves_the_shards_of_one_run_alone() -> None:
    try:
        first = kept_server("a run", PROJECT, [STACK], ())
        assert kept_server("a run", PROJECT, [STACK], ()) is first
        assert kept_server("another", PROJECT, [STACK], ()) is not first
    finally:
        end_server()
