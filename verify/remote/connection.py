"""One child process that speaks JSON lines, under limits: it may die, hang, print garbage or allocate without end.

Machine load never decides how it ends. What it may use between two replies is CPU time, counted by the kernel over its whole
session; wall time is only a far backstop, for a child that waits for ever. It has a session of its own, so that whatever it
starts ends with it, and it dies with the process that started it. Linux only.
"""

import contextlib
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verify.sandbox import die_with, signal_name

LONGEST_LINE = 16 << 20
LONGEST_WORDS = 4096
"""Bytes of what a child says on standard error that are kept, the last ones."""

TICK_SECONDS = 0.05
"""How long to wait for a reply before the child's CPU time is looked at."""

END_SECONDS = 10.0
"""How long a child that closed its output is given to end."""

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use between two replies, seconds of CPU and far more seconds of wall time, and bytes of address space."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int


START_CPU_SECONDS, START_WALL_SECONDS = 120.0, 300.0
"""The times until the first reply: an adapter may import a large framework."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a child: the command, the folder it runs in, and its environment."""

    command: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]


class LostError(Exception):
    """The child can be asked no more; `answered` are the replies that came before."""

    def __init__(self, message: str, answered: Sequence[bytes] = ()) -> None:
        super().__init__(message)
        self.answered = tuple(answered)


class DiedError(LostError):
    """The child ended."""


class HungError(LostError):
    """The child used up its CPU time, or waited for ever, without a reply."""


class GarbledError(LostError):
    """The child sent more than it was asked for."""


class Connection:
    """A child and the pipes to it. A process that was forked meanwhile can go on with it, but not both."""

    def __init__(self, launch: Launch, limits: Limits) -> None:
        """Start the child; OSError when the command cannot be run."""
        parent = os.getpid()
        _, most = resource.getrlimit(resource.RLIMIT_AS)  # ours, which a child may lower but not raise
        memory = limits.memory_bytes if most == resource.RLIM_INFINITY else min(limits.memory_bytes, most)

        def confine() -> None:
            die_with(parent)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        self._child = subprocess.Popen(
            launch.command,
            cwd=launch.folder,
            env=dict(launch.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=confine,
        )
        self._parent = parent
        self.limits = Limits(START_CPU_SECONDS, START_WALL_SECONDS, limits.memory_bytes)
        self._settled = limits
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._input = self._child.stdin.fileno()
        self._output = self._child.stdout.fileno()
        self._errors = self._child.stderr.fileno()
        for descriptor in (self._input, self._output, self._errors):
            os.set_blocking(descriptor, False)
        self._words = b""
        self._rest = bytearray()
        self._unsent = bytearray()
        self._awaited = 0
        self._replies: list[bytes] = []
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._poll.register(self._errors, select.POLLIN)

    def exchange(self, requests: Sequence[bytes]) -> list[bytes]:
        """Send all requests at once, each a line, and return a reply each, in order. LostError."""
        self.send(requests)
        return self.receive(len(requests))

    def send(self, requests: Sequence[bytes]) -> None:
        """Send requests, each a line, whose replies `receive` returns later; what the pipe does not take waits until then."""
        self._unsent += b"".join(requests)
        self._awaited += len(requests)
        self._write()

    def receive(self, count: int) -> list[bytes]:
        """The replies to the first `count` requests that were sent and not answered yet, in order. LostError.

        Writing and reading take turns, so that neither side waits for the other with a full pipe.
        """
        patience = Patience(self._child.pid, self.limits)
        writing = bool(self._unsent)
        if writing:
            self._poll.register(self._input, select.POLLOUT)
        try:
            while len(self._replies) < count:
                ready = {descriptor for descriptor, _ in self._poll.poll(TICK_SECONDS * 1000)}
                if self._input in ready and writing:
                    self._write()
                    if not self._unsent:
                        self._poll.unregister(self._input)
                        writing = False
                if self._errors in ready:
                    self._listen()
                came = self._output in ready and self._take(self._replies)
                if came:
                    patience.renew()
                elif why := patience.over():
                    raise HungError(f"{why}{self._last_words()}", self._replies)
        finally:
            if writing:
                self._poll.unregister(self._input)
        replies, self._replies = self._replies[:count], self._replies[count:]
        self._awaited -= count
        if len(self._replies) > self._awaited or (self._rest and not self._awaited):
            said = [*self._replies[self._awaited :], bytes(self._rest)][0][:100].decode(errors="replace")
            raise GarbledError(f"it sent more than it was asked for: {said}", replies)
        self.limits = self._settled
        return replies

    def close(self) -> None:
        """End the child, whatever it started, and the pipes. A child that the parent of this process started is left to it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        if self._parent == os.getpid():
            self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _write(self) -> None:
        """Write what the pipe takes; of a child that has gone, `receive` finds the end."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._input, self._unsent)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()

    def _take(self, replies: list[bytes]) -> bool:
        """Take what has come; whether a whole line was among it. DiedError at the end of the pipe."""
        try:
            chunk = os.read(self._output, 1 << 20)
        except BlockingIOError:
            return False
        if not chunk:
            raise self._died(replies)
        if b"\n" not in chunk:
            self._rest += chunk
            if len(self._rest) > LONGEST_LINE:
                raise GarbledError(f"it sent a line of more than {LONGEST_LINE} bytes", replies)
            return False
        first, *others = chunk.split(b"\n")
        replies += [bytes(self._rest) + first, *others[:-1]]
        self._rest = bytearray(others[-1])
        return True

    def _listen(self) -> bool:
        """Keep the end of what the child says on standard error; False when there is nothing more."""
        try:
            chunk = os.read(self._errors, 1 << 16)
        except BlockingIOError:
            return False
        if not chunk:
            self._poll.unregister(self._errors)
            return False
        self._words = (self._words + chunk)[-LONGEST_WORDS:]
        return True

    def _died(self, replies: list[bytes]) -> DiedError:
        """How the child ended, as far as this process can know."""
        ended = "its process ended"
        if self._parent == os.getpid():
            try:
                status = self._child.wait(timeout=END_SECONDS)
            except subprocess.TimeoutExpired:
                ended = "it closed its standard output"
            else:
                ended += f" by {signal_name(-status)}" if status < 0 else f" with exit status {status}"
        return DiedError(f"{ended}{self._last_words()}", replies)

    def _last_words(self) -> str:
        """The last line on standard error, for a message."""
        with contextlib.suppress(KeyError):  # standard error ended before
            while self._listen():
                continue
        lines = self._words.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"; its last words: {last[-300:]}" if last else ""


class Patience:
    """How long a child may go on without a reply: CPU time of its session, far more wall time, both from the last reply on."""

    def __init__(self, session: int, limits: Limits) -> None:
        self._session = session
        self._limits = limits
        self.renew()

    def renew(self) -> None:
        """A reply came."""
        self._since = time.monotonic()
        self._next = self._since + TICK_SECONDS
        self._used: float | None = None

    def over(self) -> str:
        """Why the child is to be given up; empty while it is not."""
        now = time.monotonic()
        if now < self._next:
            return ""
        self._next = now + TICK_SECONDS
        used = cpu_seconds_of(self._session)
        if self._used is None:
            self._used = used
        if used - self._used >= self._limits.cpu_seconds:
            return f"no reply in {self._limits.cpu_seconds:g} s of CPU time"
        if now - self._since >= self._limits.wall_seconds:
            return f"no reply in {self._limits.wall_seconds:g} s, most of them spent waiting"
        return ""


def cpu_seconds_of(session: int) -> float:
    """User and system time of the session's live processes and of those that they have waited for."""
    ticks = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name, in brackets, may hold anything; from the state on the fields are numbers.
                fields = file.read().rpartition(b") ")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS_A_SECOND
