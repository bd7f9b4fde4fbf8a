"""Who judges: one process, several, or a Dask cluster, each through an Executor of concurrent.futures.

A worker that is killed takes its shard with it; what is missing goes out again, so that a run ends with every verdict.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from typing import ParamSpec, TypeVar

from impl.command import CommandError
from impl.exit_codes import ExitCode
from mutants.client import ServerError
from mutants.farm.job import Finding, Json, Shard
from mutants.farm.work import be_a_worker, judge_shard
from verify.sandbox import describe

P = ParamSpec("P")
T = TypeVar("T")

DASK_SECONDS = 20
"""So long may a scheduler take to answer."""

FRUITLESS_ROUNDS = 3
"""So often in a row may every shard that is out be lost before the run gives up."""

Deliver = Callable[[list[Finding]], None]
"""Told the findings of a shard as it comes in."""


class WorkersLostError(Exception):
    """Workers were lost again and again, and some shards with them."""


@dataclass(frozen=True, slots=True)
class Crew:
    """How many judge at once, and an executor for them; it is opened anew after the loss of a worker has broken it.

    `one_by_one` says that each job goes out alone and in its order, so that each verdict is seen at once.
    """

    workers: int
    open: Callable[[], AbstractContextManager[Executor]]
    one_by_one: bool = False


class SerialExecutor(Executor):
    """Runs each call at once, in the calling thread; an interrupt passes."""

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def local_processes(workers: int) -> Iterator[Executor]:
    """An executor over processes of this machine; they end with this process, whatever ends it."""
    others = set(active_children())
    executor = ProcessPoolExecutor(workers, get_context("spawn"), initializer=be_a_worker, initargs=(os.getpid(),))
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.kill()
            process.join()


@contextmanager
def dask_workers(workers: int, scheduler: str | None) -> Iterator[Executor]:
    """An executor over the Dask scheduler of this address; without one, over worker processes on this machine."""
    from distributed import Client, LocalCluster

    if scheduler is None:
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client.get_executor(pure=False)
        return
    with Client(scheduler, timeout=DASK_SECONDS) as client:
        yield client.get_executor(pure=False)


SERIAL = Crew(1, SerialExecutor, one_by_one=True)


def crew(executor: str, workers: int, scheduler: str | None = None) -> Crew:
    """The crew of that name: serial, process or dask. A CommandError says what Dask lacks, before anything runs."""
    match executor:
        case "serial":
            return SERIAL
        case "process":
            return Crew(workers, lambda: local_processes(workers))
    try:
        from distributed import Client
    except ImportError:
        needed = "--executor dask needs Dask: pip install dask==2026.8.0 distributed==2026.8.0"
        raise CommandError(needed, ExitCode.UNKNOWN) from None
    if scheduler is not None:
        try:
            Client(scheduler, timeout=DASK_SECONDS).close()
        except (OSError, ValueError) as error:
            raise CommandError(f"no Dask scheduler at {scheduler}: {error}") from None
    return Crew(workers, lambda: dask_workers(workers, scheduler))


def judge_all(shards: Sequence[Shard], crew: Crew, deliver: Deliver) -> dict[str, float]:
    """Have every shard judged and its findings delivered; the CPU seconds that each worker has used so far, by its name.

    Raises ServerError when a worker cannot judge, and WorkersLostError when one round after the other brings nothing.
    """
    left = dict(enumerate(shards))
    used: dict[str, float] = {}
    losses: list[BaseException] = []
    fruitless = 0
    while left:
        before = len(left)
        with crew.open() as executor:
            for number, done in _judged(left, executor, losses):
                deliver([Finding.of_json(found) for found in done["findings"]])
                used[done["worker"]] = max(done["cpu_seconds"], used.get(done["worker"], 0.0))
                del left[number]
        fruitless = fruitless + 1 if len(left) == before else 0
        if left and fruitless == FRUITLESS_ROUNDS:
            said = f"{len(left)} shards were lost with their workers, {FRUITLESS_ROUNDS} times in a row"
            raise WorkersLostError(f"{said}; the last: {describe(losses[-1])}")
    return used


def _judged(shards: dict[int, Shard], executor: Executor, losses: list[BaseException]) -> Iterator[tuple[int, Json]]:
    """The number and result of each shard as it ends; what ends with its worker is left out, and why is told to `losses`."""
    pending: dict[Future[Json], int] = {}
    for number, shard in list(shards.items()):
        try:
            pending[executor.submit(judge_shard, shard)] = number
        except RuntimeError as error:  # BrokenExecutor among them: it has lost a worker already
            losses.append(error)
            break
        yield from _ended(pending, 0.0, losses)
    while pending:
        yield from _ended(pending, None, losses)


def _ended(
    pending: dict[Future[Json], int], seconds: float | None, losses: list[BaseException]
) -> Iterator[tuple[int, Json]]:
    """Take those that have ended out of the pending ones; wait for the first as long as this (None: for ever)."""
    for future in wait(pending, seconds, FIRST_COMPLETED).done:
        number = pending.pop(future)
        try:
            done = future.result()
        except ServerError:
            raise
        except (Exception, CancelledError) as error:  # each executor has errors of its own for a worker that is gone
            losses.append(error)
            continue
        yield number, done
