"""Running the stand-alone script of a difference in the target's own interpreter, under limits.

A script is what a maintainer would run: it exits with 1 when what it found differs from what is right, with 0 when they
agree. Only the first makes a difference a finding.
"""

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from verify.sandbox import die_with, signal_name

DIFFERS, AGREES = 1, 0
"""The exit codes of a script."""

CPU_SECONDS, WALL_SECONDS, MEMORY_BYTES = 120, 600.0, 8 << 30
"""What a script may use: importing a large framework is most of it."""

LONGEST_WORDS = 4000

RAISED = 70
RUN = f"""
import runpy, sys, traceback
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
except Exception:
    traceback.print_exc()
    sys.exit({RAISED})
"""
"""Runs a script so that an exception, which ends Python with 1 as well, is told from a difference that was found."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a script ended: its exit code, None when it was stopped or killed, the words for that, and what it printed."""

    code: int | None
    ended: str
    says: str

    @property
    def shows(self) -> bool:
        """Whether the script shows the difference."""
        return self.code == DIFFERS


def run_script(python: Path, script: Path, variables: Mapping[str, str]) -> Ran:
    """Run the script by that interpreter, in an empty folder: nothing of this checkout is on its path."""
    parent = os.getpid()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def confine() -> None:
        die_with(parent)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    with tempfile.TemporaryDirectory(prefix="script") as folder, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            (str(python), "-c", RUN, str(script.resolve())),
            cwd=folder,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=confine,
        )
        try:
            process.wait(WALL_SECONDS)
            late = False
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0, os.SEEK_END)
        said.seek(max(0, said.tell() - LONGEST_WORDS))
        words = said.read().decode(errors="replace").strip()
    code = process.returncode
    if late:
        return Ran(None, f"no end within {WALL_SECONDS:.0f} s", words)
    if code < 0:
        return Ran(None, f"killed by {signal_name(-code)}", words)
    return Ran(code, "it raised" if code == RAISED else f"exit code {code}", words)
