"""CPU of a command and all that it started, and what such figures add up to."""

import contextlib
import os
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from impl.command import CommandError
from verify.sandbox import die_with

LAST_LINES = 8
"""Lines of a failed command that are repeated."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: exit code, CPU seconds of the processes that it and its children waited for, all that it printed."""

    code: int
    cpu_seconds: float
    said: str


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: so many mutants in so many CPU seconds, those that any run has (`fixed`) taken off, and how many had each
    outcome."""

    mutants: int
    cpu_seconds: float
    fixed: float = 0.0
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @property
    def milliseconds(self) -> float:
        """CPU a mutant."""
        return max(0.0, self.cpu_seconds - self.fixed) * 1e3 / self.mutants


@dataclass(frozen=True, slots=True)
class Spread:
    """CPU milliseconds a mutant: the mean over all of them, and what the batches say one by one."""

    mean: float
    least: float
    median: float
    most: float
    mutants: int
    batches: int


def spread(batches: Sequence[Batch]) -> Spread:
    """What the batches come to."""
    each = [batch.milliseconds for batch in batches]
    mutants = sum(batch.mutants for batch in batches)
    mean = sum(one * batch.mutants for one, batch in zip(each, batches, strict=True)) / mutants
    return Spread(mean, min(each), statistics.median(each), max(each), mutants, len(batches))


def run_measured(command: Sequence[str | Path], folder: Path, variables: Mapping[str, str] | None = None) -> Ended:
    """Run the command in the folder to its end; it ends with this process, and with an interrupt."""
    parent = os.getpid()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env={**os.environ, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: die_with(parent),
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return Ended(process.returncode, used.ru_utime + used.ru_stime, text)


def demand(ended: Ended, what: str, codes: Sequence[int] = (0,)) -> Ended:
    """The ended command; a CommandError with its last words when it did not end with one of those codes."""
    if ended.code in codes:
        return ended
    words = [line for line in ended.said.replace("\r", "\n").splitlines() if line.strip()][-LAST_LINES:]
    raise CommandError(f"{what} ended with exit code {ended.code}: {' | '.join(words) or 'it said nothing'}")
