"""Where work runs: in this process, in processes of this machine, or on the workers of a Dask cluster.

Each is a concurrent.futures.Executor. `finished` works a list of items off on one of them and loses none when a worker is
killed: what the worker had is submitted again.
"""

import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from verify.sandbox import die_with

Kind = Literal["serial", "process", "dask"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_LOSSES = 3
"""So often an item is submitted again after the worker that had it was lost."""

SCHEDULER_SECONDS = 30
IN_FLIGHT_PER_WORKER = 2
"""Items to have submitted at a time: enough that no worker waits, few enough that an early end is early."""

LOOK_SECONDS = 5.0
"""How often to look whether a cluster has grown."""

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


class ExecutorMissing(Exception):  # noqa: N818
    """An executor cannot be had here: a package is not installed or no scheduler answers; the message says which."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which executor, with how many workers, and at which scheduler's address; without one, Dask starts its own workers.

    `opens` gives an executor of the caller's own instead; it is opened anew after the loss of a worker has broken it.
    """

    kind: Kind = "serial"
    workers: int = 1
    scheduler: str | None = None
    opens: Callable[[], AbstractContextManager[Executor]] | None = None

    @property
    def serial(self) -> bool:
        """Whether work is done in this process, one item at a time."""
        return self.kind == "serial" and self.opens is None

    def open(self) -> AbstractContextManager[Executor]:
        """The executor. Raises ExecutorMissing when it is entered."""
        return self.opens() if self.opens else open_executor(self.kind, self.workers, self.scheduler)

    def check(self) -> None:
        """Raises ExecutorMissing when Dask is asked for and is not there, or no scheduler answers."""
        if self.kind == "dask":
            distributed = dask()
            if self.scheduler is not None:
                with scheduler_client(distributed, self.scheduler):
                    pass


@dataclass(frozen=True, slots=True)
class Lost:
    """No result: each worker that had the item was lost; `detail` says how the last one went."""

    detail: str


class InPlace(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """The finished call. What interrupts it is raised here."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(ProcessPoolExecutor):
    """Forked processes, which all start with the first call.

    From then on only they read what is submitted. While this process could read it, too, writing more than a pipe holds would
    wait for ever once they are gone, and the end of the pool for it: before Python 3.11.5 nobody else sees to that (gh-94777).
    """

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """The call, when a process has run it."""
        future = super().submit(fn, *args, **kwargs)
        self._call_queue._reader.close()  # type: ignore[attr-defined]
        return future


class OnCluster(Executor):
    """The workers of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self._client = client
        # A result is a verdict of one run: never that of an equal call before it.
        self._executor = client.get_executor(pure=False)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """The call, when a worker has run it."""
        future: Future[R] = self._executor.submit(fn, *args, **kwargs)
        return future

    @property
    def workers(self) -> int:
        """Calls that the cluster, as it is now, runs at a time."""
        return sum(self._client.nthreads().values())


@contextmanager
def open_executor(kind: Kind, workers: int = 1, scheduler: str | None = None) -> Iterator[Executor]:
    """The executor; its own workers end with the block, at once when an exception leaves it. Raises ExecutorMissing.

    What is submitted must be a function of a module, and travel as its arguments and result do.
    """
    match kind:
        case "serial":
            yield InPlace()
        case "process":
            with processes(workers) as pool:
                yield pool
        case "dask":
            with dask_workers(workers, scheduler) as cluster:
                yield cluster


def finished(place: Place, function: Callable[[T], R], items: Iterable[T]) -> Generator[tuple[T, R | Lost], None, None]:
    """Each item with what the function makes of it, as they end; items are taken only when there is room for more.

    What the function raises is raised here. Raises ExecutorMissing. To be closed when it is left early: workers end with it.
    """
    coming = enumerate(items)
    again: deque[tuple[int, T]] = deque()
    losses: Counter[int] = Counter()
    while True:
        running: dict[Future[R], tuple[int, T]] = {}
        whole = True
        with place.open() as executor:
            while whole:
                # What was lost twice has the workers for itself: the others must not be lost with it.
                room = 1 if any(losses[number] > 1 for number, _ in again) else in_flight(executor, place)
                whole = _submit(executor, function, again, coming, running, room)
                if whole and not running:
                    return
                for future in wait(running, LOOK_SECONDS, FIRST_COMPLETED).done:
                    number, item = running.pop(future)
                    error = failure(future)
                    if error is None:
                        yield item, future.result()
                    elif place.kind == "dask" and cannot_import(error):
                        raise ExecutorMissing(
                            "the scheduler or a worker cannot import this checkout: start both with it on PYTHONPATH"
                        ) from error
                    elif not lost_worker(error):
                        raise error
                    else:
                        whole = whole and not isinstance(error, BrokenExecutor)
                        losses[number] += 1
                        if losses[number] > MOST_LOSSES:
                            yield item, Lost(str(error) or type(error).__name__)
                        else:
                            again.append((number, item))
        again.extendleft(running.values())


def in_flight(executor: Executor, place: Place) -> int:
    """Items to have submitted at a time; in this process one, or none would come before the last."""
    if place.serial:
        return 1
    workers = executor.workers if isinstance(executor, OnCluster) else place.workers
    return IN_FLIGHT_PER_WORKER * max(1, workers)


def failure(future: Future[R]) -> BaseException | None:
    """What the call raised, or that it was cancelled with its worker; None when it came to its end."""
    try:
        return future.exception()
    except CancelledError as error:
        return error


def lost_worker(error: BaseException) -> bool:
    """Whether it says that the worker is gone, rather than what the work itself raised."""
    return isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker"


def cannot_import(error: BaseException) -> bool:
    """Whether it says that what was submitted could not be read on the other side."""
    return isinstance(error, ModuleNotFoundError) or (isinstance(error, RuntimeError) and "deserializ" in str(error))


def _submit(
    executor: Executor,
    function: Callable[[T], R],
    again: deque[tuple[int, T]],
    coming: Iterator[tuple[int, T]],
    running: dict[Future[R], tuple[int, T]],
    most: int,
) -> bool:
    """Submit as many items as there is room for; False when the executor takes no more, the item then being kept."""
    while len(running) < most:
        one = again.popleft() if again else next(coming, None)
        if one is None:
            break
        try:
            running[executor.submit(function, one[1])] = one
        except BrokenExecutor:
            again.appendleft(one)
            return False
    return True


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Forked processes that leave Ctrl-C to this one and do not outlive it."""
    before = set(multiprocessing.active_children())
    pool = Processes(workers, multiprocessing.get_context("fork"), serve, (os.getpid(),))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.kill()
        raise
    finally:
        pool.shutdown()


def serve(parent: int) -> None:
    """Begin a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)


@contextmanager
def dask_workers(workers: int, scheduler: str | None) -> Iterator[Executor]:
    """The cluster at the scheduler's address, or so many processes of this machine that end with the block."""
    distributed = dask()
    with contextlib.ExitStack() as stack:
        address = scheduler
        if scheduler is None:
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            )
        yield OnCluster(stack.enter_context(scheduler_client(distributed, address)))


def dask() -> Any:
    """The package distributed. Raises ExecutorMissing."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise ExecutorMissing("--executor dask needs the package distributed: run `make setup`") from None


def scheduler_client(distributed: Any, address: Any) -> Any:
    """A client of the scheduler at the address, or of a cluster, to be closed. Raises ExecutorMissing."""
    try:
        return distributed.Client(address, timeout=SCHEDULER_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ExecutorMissing(f"no Dask scheduler answers at {address}: {error}") from None
