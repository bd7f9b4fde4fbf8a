"""A simulator that waits at time 0 and forks for each run; verify/chips/bench/fork_server.h has the other side.

Files are in a folder of its own on a file system in memory: `request`, `memory` and `reply`, `log` with all that the run printed,
`waves`, and `server` with what was printed before the first run. The server removes the folder when this process is killed.
"""

import contextlib
import os
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
QUESTION = struct.Struct("=III")
ANSWER = struct.Struct("=iIII")
GRACE_SECONDS = 30.0
"""What the server may take beyond the wall time of the run."""

LONGEST_LOG = 1 << 20


class ServerLostError(Exception):
    """The server ended, or does not answer; a new one has to be started."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use: seconds of CPU, far more seconds of wall time, and bytes of each file that it writes."""

    cpu_seconds: float
    wall_seconds: float
    file_bytes: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its wait status, whether its wall time was over, and the seconds of CPU that it used."""

    status: int
    out_of_time: bool
    cpu_seconds: float


class ForkServer:
    """One simulator process, in a session of its own, and its folder. It serves the process that started it."""

    def __init__(self, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kestrel-", dir=IN_MEMORY if _usable(IN_MEMORY) else None))
        self._owner = os.getpid()
        asked, self._ask = os.pipe()
        self._answers, answered = os.pipe()
        where = {"KESTREL_SERVE": f"{asked} {answered} {os.getpid()}"}
        try:
            with open(self.folder / "server", "wb") as log:
                self._process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env={**os.environ, **(environment or {}), **where},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(asked, answered),
                    start_new_session=True,
                )
        except BaseException:
            self._close_pipes()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            os.close(asked)
            os.close(answered)

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def run(self, files: Mapping[str, bytes], limits: Limits) -> Ended:
        """How the run ended that found these files. Raises ServerLostError."""
        wall = limits.wall_seconds
        try:
            for name, content in files.items():
                with open(self.folder / name, "wb", buffering=0) as file:
                    file.write(content)
            os.write(self._ask, QUESTION.pack(int(limits.cpu_seconds * 1000), int(wall * 1000), limits.file_bytes))
        except (BrokenPipeError, FileNotFoundError):
            raise ServerLostError(self._lost()) from None
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        if not poll.poll((wall + GRACE_SECONDS) * 1000):
            raise ServerLostError(f"no answer after {wall + GRACE_SECONDS:g} s")
        answer = os.read(self._answers, ANSWER.size)
        if len(answer) != ANSWER.size:
            raise ServerLostError(self._lost())
        status, out_of_time, microseconds, _ = ANSWER.unpack(answer)
        return Ended(status, bool(out_of_time), microseconds / 1e6)

    def reply(self) -> bytes:
        """What the run wrote; nothing when it did not come so far."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / "reply").read_bytes()
        return b""

    def log(self) -> str:
        """What was printed before the first run and by the last one, the beginning of it when it is long."""
        return "".join(_beginning(self.folder / name) for name in ("server", "log"))

    def close(self) -> None:
        """End the server and remove the folder; in another process than its own, only let go of it."""
        self._close_pipes()
        if self._owner != os.getpid():
            self._process.returncode = 0  # the other process waits for it
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)  # its run dies with it
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _close_pipes(self) -> None:
        os.close(self._ask)
        os.close(self._answers)

    def _lost(self) -> str:
        """How the server ended, with its last words."""
        deadline = time.monotonic() + 1.0
        while self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        words = _beginning(self.folder / "server").strip()
        return f"the simulator's process ended ({self._process.returncode}){': ' if words else ''}{words}"


def _usable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _beginning(path: Path) -> str:
    try:
        if not path.stat().st_size:
            return ""
        with open(path, "rb") as file:
            return file.read(LONGEST_LOG).decode(errors="replace")
    except FileNotFoundError:
        return ""
