"""What a worker does: judge a shard on a fork server that it keeps for its next shards.

A server dies with the thread that started it, so each thread keeps its own, and a worker that is killed leaves nothing
behind.
"""

import os
import platform
import signal
import socket
import threading
import time
from collections.abc import Iterable, Mapping

from mutants.client import ForkServer, ServerError
from mutants.farm.job import Finding, Job, Json, Shard, digest_of_sources
from mutants.mutant import Project
from mutants.verdicts import judge_run
from mutants.wire import Budget, Order
from verify.sandbox import die_with

_servers: dict[int, tuple[str, ForkServer]] = {}
_digests: dict[int, str] = {}
_ended_cpu: list[float] = []


def judge_shard(shard: Shard) -> Json:
    """The shard's findings as JSON, with this worker's name and all CPU seconds that it, its server and children have used.

    Raises ServerError when this worker cannot judge for the run: another Python, other sources, no server.
    """
    bench = shard.bench
    if bench.python != platform.python_version():
        raise ServerError(f"a worker runs Python {platform.python_version()}, the run {bench.python}")
    server = kept_server(bench.run, bench.project, bench.mutable)
    if _digests[threading.get_ident()] != bench.sources:
        raise ServerError(f"a worker on {socket.gethostname()} reads other sources than the run")
    found = [judge_job(job, server, bench.budgets).as_json() for job in shard.jobs]
    return {"findings": found, "worker": f"{socket.gethostname()}:{os.getpid()}", "cpu_seconds": cpu_so_far()}


def judge_job(job: Job, server: ForkServer, budgets: Mapping[str, Budget]) -> Finding:
    """The verdict on one mutant; a crash or a runaway is run a second time, alone."""
    mutant = job.mutant
    limits = {stage: budgets[stage] for stage in job.stages}
    order = Order(job.stages, limits, job.at_least, mutant.expected, mutant.module, job.code)
    run = server.run(order)
    return Finding(mutant.id, judge_run(mutant, run, lambda: server.run(order)), run)


def kept_server(run: str, project: Project, mutable: Iterable[str]) -> ForkServer:
    """This thread's server for the run; one of an earlier run, which may have read what is no longer there, is ended first.

    Raises ServerError.
    """
    here = threading.get_ident()
    if here not in _servers or _servers[here][0] != run:
        end_server()
        _servers[here] = run, ForkServer(project, mutable)
        # A server that is started again demands the same sources.
        _digests[here] = digest_of_sources(_servers[here][1].sources)
    return _servers[here][1]


def end_server() -> None:
    """End this thread's server, if it has one."""
    kept = _servers.pop(threading.get_ident(), None)
    if kept is not None:
        kept[1].close()
        _ended_cpu.append(kept[1].cpu_seconds())


def cpu_so_far() -> float:
    """CPU seconds of this process, of its servers, and of their children that have ended."""
    return time.process_time() + sum(_ended_cpu) + sum(server.cpu_seconds() for _, server in _servers.values())


def be_a_worker(parent: int) -> None:
    """In a new worker process: end with the run, and leave an interrupt to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
