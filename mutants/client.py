"""The engine's end of the fork server: start it, order a run, and survive its loss."""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from mutants.mutant import Project
from mutants.wire import STOPPED, Order, Reach, Run, Setup, StageRun
from verify.sandbox import signal_name

HERE = Path(__file__).parent.parent
START_SECONDS = 120.0
GRACE_SECONDS = 30.0
# One hash seed, one thread, and fresh memory that always holds the same: a verdict depends on neither the start of a process, nor
# the number of cores, nor what a mutant finds that reads an array before it is written. What malloc keeps aside for each thread
# it hands out as it is, with addresses in it.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_PERTURB_": "165",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
}


class ServerError(Exception):
    """The fork server cannot start: the sources, the suite or the libraries are not in order."""


@dataclass(frozen=True, slots=True)
class Source:
    """A held module as the server read it: path below the project's root, text, and all that it may import, by name."""

    path: str
    source: str
    imports: frozenset[str] = frozenset()


class ForkServer:
    """A running fork server; use as a context manager, which ends it and every child of it.

    `mutable` are the modules that orders may mutate, `stages` those that they may run. `places` has the module of each stage that
    the suite names by one. A server that is lost, by a mutant that kills its parent for instance, costs the run that lost it; the
    next run starts a new one.
    """

    def __init__(self, project: Project, mutable: Iterable[str], stages: Iterable[str] = ()) -> None:
        self.project = project
        self._setup = Setup(project, tuple(sorted(set(mutable))), tuple(stages))
        self.sources: Mapping[str, Source] = {}
        self.versions: Mapping[str, str] = {}
        self.places: Mapping[str, str] = {}
        self._received = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_cpu = 0.0
        self._used_cpu = 0.0
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def cpu_seconds(self) -> float:
        """CPU that the server has used so far, lost ones and children that have ended included."""
        return self._ended_cpu + (max(self._used_cpu, _cpu_of(self._process.pid)) if self._process else 0.0)

    def close(self) -> None:
        """End the server; its children end with it."""
        if self._process is not None:
            self._ended_cpu, self._used_cpu = self.cpu_seconds(), 0.0
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
            self._process = None

    def run(self, order: Order) -> Run:
        """What becomes of one child: `lost` when the server went with it, `forged` when its report is none.

        Raises ServerError when a lost server cannot be started again.
        """
        if self._process is None:
            self._start()
        try:
            self._send(order.as_json())
            answer = self._receive(order.wall_seconds + GRACE_SECONDS)
        except (OSError, EOFError, ValueError) as error:
            self.close()
            return Run("lost", "", f"the fork server is gone: {error}", (), 0.0)
        try:
            self._used_cpu = float(answer["used"])
            return parse_run(answer)
        except (ValueError, TypeError, KeyError) as error:
            return Run("forged", "", f"its report is none: {error}", (), 0.0)

    def _start(self) -> None:
        self._received = b""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mutants.server", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=HERE,
            env=os.environ | ENVIRONMENT,
            start_new_session=True,
        )
        try:
            self._send(self._setup.as_json())
            greeting = self._receive(START_SECONDS)
        except (OSError, EOFError, ValueError) as error:
            self.close()
            raise ServerError(f"the fork server does not start: {error}") from error
        except KeyboardInterrupt:
            self.close()
            raise
        if "error" in greeting:
            self.close()
            raise ServerError(f"the fork server cannot read the project: {greeting['error']}")
        sources = {
            name: Source(module["path"], module["source"], frozenset(module["imports"]))
            for name, module in greeting["modules"].items()
        }
        if self.sources and sources != self.sources:
            self.close()
            raise ServerError("the sources have changed during the run")
        self.sources = sources
        self.versions = greeting["versions"]
        self.places = greeting["places"]

    def _send(self, message: dict[str, object]) -> None:
        assert self._process is not None and self._process.stdin is not None
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[self._process.stdin.write(data) or 0 :]

    def _receive(self, seconds: float) -> dict[str, Any]:
        """The next line; EOFError when the server is gone or silent for too long."""
        assert self._process is not None and self._process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._received:
                if not selector.select(deadline - time.monotonic()):
                    raise EOFError(f"no answer within {seconds:g} s")
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise EOFError(_how_it_ended(self._process))
                self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("its answer is no JSON object")
        return message


def _cpu_of(pid: int) -> float:
    """User and system seconds of the process and of its children that have ended and been reaped; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    return f"it ended by {signal_name(-code)}" if code < 0 else f"it ended with exit {code}"


def parse_run(answer: Mapping[str, Any]) -> Run:
    """The run that an answer describes; ValueError, TypeError or KeyError when a child has reported something else."""
    runs = [StageRun.of_json(note) for note in answer["notes"]]
    value = answer["value"] or {"stopped": "", "detail": ""}
    stopped, detail = value["stopped"], answer["detail"] or value["detail"]
    if stopped not in ("", *STOPPED) or not isinstance(detail, str):
        raise ValueError(f"it stopped for no known reason: {stopped!r}")
    # A stage that ended replaces its own announcement.
    stages = {run.stage: run for run in runs}
    reach = Reach.of_json(value["reach"]) if value.get("reach") else None
    told = None if value.get("told") is None else frozenset(map(int, value["told"]))
    return Run(answer["kind"], stopped, detail, tuple(stages.values()), float(answer["cpu_seconds"]), reach, told)
