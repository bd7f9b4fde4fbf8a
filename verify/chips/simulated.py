"""What the two simulators have in common: a chip's RTL behind a fork server, every run in a process that starts at time 0.

A run that dies, spins or shows x is an error with what the simulator printed; assertions of the RTL, lines that begin with
ASSERTION, are one too. The next run starts the server again when that is lost. Linux only.
"""

import os
import shutil
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from impl.chip import ChipDied, ChipError, MemoryWords, Profile, Result, Start
from spec.isa import EXT_WORDS
from verify.chips import exchange
from verify.chips.builds import BUILDS, ROOT
from verify.chips.fork_server import Ended, ForkServer, Limits, ServerLostError
from verify.sandbox import signal_name

BENCH = Path(__file__).resolve().parent / "bench"
BENCH_MODULES = tuple(BENCH / f"kestrel_bench{part}.v" for part in ("", "_files", "_memory", "_monitor"))
"""The bench in any simulator."""

RTL = ROOT / "rtl" / "files.f"
CYCLE_LIMIT = 1_000_000
CPU_SECONDS = 30.0
"""For each start, where nothing else is said: more than a start takes that reaches the cycle limit."""

WALL_SECONDS, WALL_A_CPU_SECOND = 30.0, 10.0
FILE_BYTES, WAVES_BYTES = 64 << 20, (4 << 30) - 1
ASSERTION = "ASSERTION"
LONGEST_WORDS = 2000
OUT_OF_CPU = frozenset({signal.SIGPROF, signal.SIGXCPU})


@dataclass(frozen=True, slots=True)
class Sources:
    """The RTL of a chip: a file that lists its files, relative to it, and what is defined for them.

    Files that they include are found beside them.
    """

    listing: Path = RTL
    defines: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The listed files."""
        lines = (line.partition("//")[0].partition("#")[0].strip() for line in self.listing.read_text().splitlines())
        return tuple(self.listing.parent / line for line in lines if line)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where they lie."""
        return tuple(dict.fromkeys(file.parent for file in self.files))

    @property
    def headers(self) -> tuple[Path, ...]:
        """What they may include."""
        return tuple(sorted(header for folder in self.folders for header in folder.glob("*.*vh")))


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started."""

    command: tuple[str | Path, ...]
    environment: Mapping[str, str]


class SimulatedChip(ABC):
    """A chip in a simulator, a context manager. It may be used in forked processes, each of which has its own server.

    `rtl` lists the files, `defines` go into the build and `plusargs`, such as +FAULT=3, to the simulation; `cycle_limit` and
    `cpu_seconds` are for each start. RTL without `counters` gives results without them. The first run builds what is
    not built yet, and raises ToolMissing and BuildFailedError.
    """

    waves_suffix: ClassVar[str]
    """The format in which it writes waves."""

    def __init__(
        self,
        lanes: int,
        words: int = EXT_WORDS,
        *,
        rtl: Path = RTL,
        defines: Sequence[str] = (),
        plusargs: Sequence[str] = (),
        counters: bool = True,
        cycle_limit: int = CYCLE_LIMIT,
        cpu_seconds: float = CPU_SECONDS,
        builds: Path = BUILDS,
    ) -> None:
        exchange.check_size(lanes, words)
        self.sources = Sources(rtl, tuple(defines))
        self.plusargs = tuple(plusargs)
        self.counters = counters
        self.cycle_limit = cycle_limit
        self.cpu_seconds = cpu_seconds
        self.builds = builds
        self._lanes = lanes
        self._words = words
        self._server: ForkServer | None = None
        self._owner = os.getpid()

    @property
    def lanes(self) -> int:
        return self._lanes

    @property
    def words(self) -> int:
        return self._words

    @property
    def server_pid(self) -> int | None:
        """The process that forks for each run, when there is one."""
        return self._server.pid if self._server else None

    @abstractmethod
    def launch(self, waves: bool) -> Launch:
        """How to start a server, from a build that is made when it is missing; with `waves` it can write them."""

    def run(
        self,
        starts: Sequence[Start],
        memory: MemoryWords,
        profile: Profile = Profile(),  # noqa: B008
        waves: Path | None = None,
    ) -> list[Result]:
        """A result for each start; with `waves` the file gets the waves of this run, however it ends."""
        exchange.check(starts, memory, self.words, profile)
        request = exchange.request(starts, profile, self.cycle_limit, waves is not None)
        files = {"request": request, "memory": exchange.contents(memory)}
        cpu = self.cpu_seconds * max(1, len(starts))
        wall = WALL_SECONDS + WALL_A_CPU_SECOND * cpu
        if waves is None:
            return self._results(self._current(), files, Limits(cpu, wall, FILE_BYTES), starts, memory)
        server = self._started(waves=True)
        try:
            return self._results(server, files, Limits(cpu, wall, WAVES_BYTES), starts, memory)
        finally:
            for written in server.folder.glob("waves*"):  # Icarus names the format, too
                shutil.move(written, waves)
            server.close()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _current(self) -> ForkServer:
        """The server of this process."""
        if self._owner != os.getpid():
            self.close()
            self._owner = os.getpid()
        if self._server is None:
            self._server = self._started(waves=False)
        return self._server

    def _started(self, waves: bool) -> ForkServer:
        launch = self.launch(waves)
        return ForkServer(launch.command, launch.environment)

    def _results(
        self,
        server: ForkServer,
        files: Mapping[str, bytes],
        limits: Limits,
        starts: Sequence[Start],
        memory: MemoryWords,
    ) -> list[Result]:
        try:
            ended = server.run(files, limits)
            log = server.log()
            check_end(ended, limits)
            found = exchange.results(server.reply(), starts, memory, self.counters)
        except ServerLostError as error:
            self._forget(server)
            raise exchange.SimulatorDied(str(error)) from None
        except ChipError as error:
            raise type(error)(f"{error}{last_words(log)}") from None
        except BaseException:
            self._forget(server)  # an interrupt may have left an answer that nobody took
            raise
        if any(line.startswith(ASSERTION) for line in log.splitlines()):
            raise ChipDied(f"an assertion failed{last_words(log)}")
        return found

    def _forget(self, server: ForkServer) -> None:
        if server is self._server:
            self.close()


def check_end(ended: Ended, limits: Limits) -> None:
    """SimulatorTimeout for a run that used up its time, SimulatorDied for one that ended otherwise than by an exit with 0."""
    if ended.out_of_time:
        raise exchange.SimulatorTimeout(f"the simulator was still there after {limits.wall_seconds:g} s")
    if os.WIFSIGNALED(ended.status):
        number = os.WTERMSIG(ended.status)
        if number in OUT_OF_CPU or (number == signal.SIGKILL and ended.cpu_seconds >= limits.cpu_seconds):
            raise exchange.SimulatorTimeout(f"the simulator used {ended.cpu_seconds:.2f} s of CPU and did not end")
        raise exchange.SimulatorDied(f"the simulator was ended by {signal_name(number)}")
    if os.WEXITSTATUS(ended.status):
        raise exchange.SimulatorDied(f"the simulator ended with exit status {os.WEXITSTATUS(ended.status)}")


def last_words(log: str) -> str:
    """What the simulator printed: failed assertions first, then the end of the rest."""
    lines = log.strip().splitlines()
    failed = [line for line in lines if line.startswith(ASSERTION)]
    rest = "\n".join(line for line in lines if not line.startswith(ASSERTION))[-LONGEST_WORDS:]
    return "".join(f"\n{text}" for text in ("\n".join(failed)[:LONGEST_WORDS], rest) if text)
