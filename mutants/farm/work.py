"""What a worker does: judge a shard on a fork server that it keeps for its next shards.

A server dies with the thread that started it, so each thread keeps its own, and a worker that is killed leaves nothing
behind.
"""

import os
import platform
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

from mutants.client import ForkServer, ServerError
from mutants.farm.job import Finding, Job, Json, Shard, digest_of_sources
from mutants.mutant import Project
from mutants.verdicts import judge_run
from mutants.wire import Budget, Order

Here = tuple[int, int]
"""A process and a thread of it: what a process that forks workers has kept is not theirs."""

_servers: dict[Here, tuple[str, ForkServer]] = {}
_digests: dict[Here, str] = {}
_ended_cpu: defaultdict[int, float] = defaultdict(float)


def judge_shard(shard: Shard) -> Json:
    """The shard's findings as JSON, with this worker's name and all CPU seconds that it, its server and children have used.

    Raises ServerError when this worker cannot judge for the run: another Python, other sources, no server.
    """
    bench = shard.bench
    if bench.python != platform.python_version():
        raise ServerError(f"a worker runs Python {platform.python_version()}, the run {bench.python}")
    server = kept_server(bench.run, bench.project, bench.mutable, bench.budgets)
    if _digests[_here()] != bench.sources:
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


def kept_server(run: str, project: Project, mutable: Iterable[str], stages: Iterable[str]) -> ForkServer:
    """This thread's server for the run; one of an earlier run, which may have read what is no longer there, is ended first.

    Raises ServerError.
    """
    here = _here()
    if here not in _servers or _servers[here][0] != run:
        end_server()
        _servers[here] = run, ForkServer(project, mutable, stages)
        # A server that is started again demands the same sources.
        _digests[here] = digest_of_sources(_servers[here][1].sources)
    return _servers[here][1]


def end_server() -> None:
    """End this thread's server, if it has one."""
    kept = _servers.pop(_here(), None)
    if kept is not None:
        kept[1].close()
        _ended_cpu[os.getpid()] += kept[1].cpu_seconds()


def cpu_so_far() -> float:
    """CPU seconds of this process, of its servers, and of their children that have ended."""
    own = [server for (process, _), (_, server) in _servers.items() if process == os.getpid()]
    return time.process_time() + _ended_cpu[os.getpid()] + sum(server.cpu_seconds() for server in own)


def _here() -> Here:
    return os.getpid(), threading.get_ident()
