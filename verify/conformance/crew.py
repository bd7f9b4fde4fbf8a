"""A few forked processes that work off jobs: all at once gone when the run is interrupted, and none outlives its parent."""

import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

from verify.sandbox import die_with

FORK = get_context("fork")


class LostWorkerError(Exception):
    """A worker ended, or raised what nobody expected; the text says what."""


@dataclass(frozen=True, slots=True)
class Job:
    """A function of a module and its arguments, which travel to a worker as its result does back; `name` is for people."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of a job: itself when it is one that the caller expects, else its traceback."""

    error: Exception | None
    text: str


class Crew:
    """So many workers, as a context manager. `expected` are the exceptions of a job that are raised again as they are."""

    def __init__(self, workers: int, expected: tuple[type[Exception], ...] = ()) -> None:
        self.expected = expected
        self._workers: list[tuple[BaseProcess, Connection]] = []
        for _ in range(workers):
            ours, theirs = FORK.Pipe()
            process = FORK.Process(target=serve, args=(theirs, expected, os.getpid()), daemon=True)
            process.start()
            theirs.close()
            self._workers.append((process, ours))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process, pipe in self._workers:
            process.kill()
            process.join()
            pipe.close()

    def results(self, jobs: deque[Job]) -> Iterator[tuple[Job, Any]]:
        """Each job with its result, as they end; jobs may be added meanwhile. What a job raised is raised here."""
        idle = [pipe for _, pipe in self._workers]
        busy: dict[Connection, Job] = {}
        while jobs or busy:
            while jobs and idle:
                pipe = idle.pop(0)
                busy[pipe] = jobs.popleft()
                pipe.send((busy[pipe].function, busy[pipe].arguments))
            ready = wait(list(busy))
            for pipe in [pipe for pipe in busy if pipe in ready]:
                job = busy.pop(pipe)
                try:
                    result = pipe.recv()
                except EOFError:
                    raise LostWorkerError(f"{job.name}: the worker ended") from None
                if isinstance(result, Raised):
                    raise result.error or LostWorkerError(f"{job.name}: {result.text}")
                idle.append(pipe)
                yield job, result


def serve(jobs: Connection, expected: tuple[type[Exception], ...], parent: int) -> None:
    """Work off jobs until the other side hangs up; Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    while True:
        try:
            function, arguments = jobs.recv()
        except EOFError:
            return
        try:
            result = function(*arguments)
        except expected as error:
            result = Raised(error, "")
        except Exception as error:
            result = Raised(None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        jobs.send(result)
