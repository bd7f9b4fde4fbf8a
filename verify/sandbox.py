"""Process limits: run a function in a forked child that may spin, allocate without end, crash or hang.

Machine load never decides how a child ends: its own CPU time and its own address space are limited, and wall time is
only a far backstop. The child has a session of its own, so that whatever it starts ends with it, and it dies with its
parent. What it hands back travels as JSON lines, never as pickle: nothing that a hostile child writes is executed.
Linux only.
"""

import ctypes
import json
import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn

Kind = Literal["returned", "raised", "runaway.cpu", "runaway.memory", "runaway.wall", "died"]
Note = Callable[[object], None]
"""Hands one JSON-able value to the parent at once: it arrives even when the child does not live to return."""

LONGEST_REPLY = 64 << 20
LONGEST_DETAIL = 500
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
RAN_OUT_OF_CPU = frozenset({signal.SIGPROF, signal.SIGXCPU})
# Encoded beforehand: a child that is out of memory must not have to allocate in order to say so.
OUT_OF_MEMORY = b'{"ended": "runaway.memory", "detail": "MemoryError under the address space limit"}\n'


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use: seconds of CPU, bytes of address space beyond what it inherits, seconds of wall time."""

    cpu_seconds: float
    memory_bytes: int
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended.

    `value` is what the function returned, after a JSON round trip. `detail` says what it raised, or how it died.
    `cpu_seconds` is the child's user and system time as the kernel counted it. `notes` came before the end, in order.
    """

    kind: Kind
    value: object
    detail: str
    cpu_seconds: float
    notes: tuple[object, ...] = ()


def run_limited(function: Callable[[], object], limits: Limits) -> Ended:
    """How `function` ends in a child under these limits; it must return something that JSON can carry."""
    return run_noted(lambda note: function(), limits)


def run_noted(function: Callable[[Note], object], limits: Limits) -> Ended:
    """`run_limited` for a function that also hands over notes as it goes."""
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _be_the_child(function, limits, writer, parent)
    os.close(writer)
    return _await(child, reader, limits)


def limit_cpu(seconds: float) -> None:
    """From now on this process may use so many seconds of CPU; the kernel then ends it, whatever it catches."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def die_with(parent: int) -> None:
    """This process gets SIGKILL when its parent, the process `parent`, ends; at once when that has happened already."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def describe(error: BaseException) -> str:
    """The exception in one line, with the place that raised it; safe for exceptions that cannot print themselves."""
    try:
        message = str(error)
    except Exception:
        message = "(its text cannot be had)"
    frames = traceback.extract_tb(error.__traceback__, limit=-1)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {message[:LONGEST_DETAIL]}{place}"


def signal_name(number: int) -> str:
    """SIGKILL for 9, and so on; signal 40 for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _be_the_child(function: Callable[[Note], object], limits: Limits, writer: int, parent: int) -> NoReturn:
    """Everything the child does. It never returns to the caller's frames: they are the parent's."""
    try:
        _confine(limits, parent, writer)
        value = function(lambda note: _write(writer, {"note": note}))
        _write(writer, {"ended": "returned", "value": value})
    except MemoryError:
        os.write(writer, OUT_OF_MEMORY)
    except BaseException as error:
        _write(writer, {"ended": "raised", "detail": describe(error)})
    finally:
        os._exit(0)


def _confine(limits: Limits, parent: int, writer: int) -> None:
    os.setsid()
    die_with(parent)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGXCPU):
        signal.signal(name, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        if standard != writer:
            os.dup2(nothing, standard)
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    mapped = int(os.read(statm, 100).split()[0]) * resource.getpagesize()
    os.close(statm)
    resource.setrlimit(resource.RLIMIT_AS, (mapped + limits.memory_bytes,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The timer has microseconds but a child can disarm it; this limit has whole seconds and no child can lift it.
    whole = int(limits.cpu_seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    limit_cpu(limits.cpu_seconds)


def _write(writer: int, message: dict[str, object]) -> None:
    data = memoryview(json.dumps(message).encode() + b"\n")
    while data:
        data = data[os.write(writer, data) :]


def _await(child: int, reader: int, limits: Limits) -> Ended:
    """Collect the reply until the child ends or its wall time is over, then end whatever is left of its session."""
    ended = os.pidfd_open(child)
    received = bytearray()
    try:
        in_time = _receive(ended, reader, received, time.monotonic() + limits.wall_seconds)
    finally:
        # The child is not yet reaped, so its id, and that of its process group, cannot have been given to another.
        for kill in (os.kill, os.killpg):
            try:
                kill(child, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        _, status, usage = os.wait4(child, 0)
        os.close(ended)
        os.close(reader)
    cpu = usage.ru_utime + usage.ru_stime
    if not in_time:
        return Ended("runaway.wall", None, f"still there after {limits.wall_seconds:g} s", cpu, _notes(received))
    return _judge(bytes(received), status, cpu, limits)


def _receive(ended: int, reader: int, received: bytearray, deadline: float) -> bool:
    """Whether the child ended before the deadline; fills `received`.

    The end of the pipe is not awaited: a process that the child started may hold it open.
    """
    os.set_blocking(reader, False)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(reader, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        ready = {descriptor for descriptor, _ in poll.poll(left * 1000)}
        if reader in ready and not _drain(reader, received):
            poll.unregister(reader)
        if ended in ready:
            _drain(reader, received)
            return True
        if len(received) > LONGEST_REPLY:
            return True
    return False


def _drain(reader: int, received: bytearray) -> bool:
    """Take what is in the pipe; False at its end."""
    while len(received) <= LONGEST_REPLY:
        try:
            chunk = os.read(reader, 1 << 16)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        received += chunk
    return True


def _judge(received: bytes, status: int, cpu: float, limits: Limits) -> Ended:
    """What the reply and the exit status say together; anything that a well-behaved child never sends is `died`."""
    notes = _notes(received)
    if len(received) > LONGEST_REPLY:
        return Ended("died", None, f"its reply was longer than {LONGEST_REPLY} bytes", cpu, notes)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number in RAN_OUT_OF_CPU or (number == signal.SIGKILL and cpu >= limits.cpu_seconds):
            return Ended("runaway.cpu", None, f"ended by {signal_name(number)} after {cpu:.2f} s of CPU", cpu, notes)
        return Ended("died", None, signal_name(number), cpu, notes)
    if os.WEXITSTATUS(status):
        return Ended("died", None, f"exit {os.WEXITSTATUS(status)}", cpu, notes)
    messages = _messages(received)
    if messages is None:
        return Ended("died", None, "its reply is garbled", cpu, notes)
    match messages[-1:]:
        case [{"ended": "returned", "value": value}]:
            return Ended("returned", value, "", cpu, notes)
        case [{"ended": "raised" | "runaway.memory" as kind, "detail": str(detail)}]:
            return Ended(kind, None, detail, cpu, notes)
    return Ended("died", None, "exit 0 without a reply", cpu, notes)


def _messages(received: bytes) -> list[dict[str, object]] | None:
    """The messages of a reply, None when a line of it is none."""
    messages = [_message(line) for line in received.splitlines()]
    whole = [message for message in messages if message is not None]
    return whole if len(whole) == len(messages) else None


def _notes(received: bytes | bytearray) -> tuple[object, ...]:
    """The notes that arrived whole; a child that was ended in the middle of a line leaves the lines before it."""
    messages = (_message(line) for line in bytes(received).splitlines())
    return tuple(message["note"] for message in messages if message is not None and "note" in message)


def _message(line: bytes) -> dict[str, object] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
