"""Running pip where its words are wanted only when it fails, and looking at what it would install before it does."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from verify.sandbox import die_with

LAST_LINES = 12
"""Lines of a failed command that are repeated; the log has all of them."""

PATIENCE_SECONDS = 10.0
"""How long an interrupted command may take to undo what it had begun."""

ACCELERATORS = ("nvidia-", "cuda-", "rocm-", "triton", "pytorch-triton")
"""How packages begin that only a build for an accelerator asks for."""

Say = Callable[[str], None]
"""Takes what a command is doing, in a line."""

Run = Callable[[Sequence[str], Mapping[str, str], Path, Say], str]
"""Runs a command with more variables, its words also in a log; gives its standard output, or raises CommandFailedError."""


class CommandFailedError(Exception):
    """A command ended with a failure; the text is its last words."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A package that pip would install: its version, the file it chose, and its bytes where that is on this disk."""

    name: str
    version: str
    file: str
    size: int | None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def accelerated(self) -> bool:
        """Whether it is made for an accelerator, by its name or by the local part of its version."""
        _, _, local = self.version.partition("+")
        return self.name.lower().startswith(ACCELERATORS) or local.startswith(("cu", "rocm", "xpu"))


def run_command(command: Sequence[str], variables: Mapping[str, str], log: Path, say: Say) -> str:
    """`Run` by a process of its own session, which ends with this one and with an interrupt."""
    parent = os.getpid()
    said: list[str] = []
    with log.open("a", encoding="utf-8", errors="replace") as written:
        written.write(f"$ {shlex.join(command)}\n")
        process = subprocess.Popen(
            command,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=lambda: die_with(parent),
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                written.write(line)
                said.append(line)
                if line.strip():
                    say(line.strip())
            code = process.wait()
        except BaseException:
            end(process)
            raise
        finally:
            process.stdout.close()
    if code != 0:
        words = [line.rstrip() for line in said if line.strip()]
        raise CommandFailedError("\n".join(words[-LAST_LINES:]) or f"exit code {code}")
    return "".join(said)


def end(process: subprocess.Popen[str]) -> None:
    """Interrupt the command and all that it started, and wait for it; whoever does not listen is killed."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def pip(python: Path, *arguments: str) -> tuple[str, ...]:
    """The pip command of that interpreter, untouched by what the user's own configuration says of users and checks."""
    return (str(python), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments)


def resolve(run: Run, python: Path, package: str, report: Path, log: Path, say: Say) -> list[Resolved]:
    """What pip would install for the package, with all that it asks for; nothing is installed. CommandFailedError.

    The report goes to a file, since pip mixes warnings into what it prints.
    """
    arguments = ("install", "--dry-run", "--ignore-installed", "--report", str(report), package)
    run(pip(python, *arguments), {"PIP_USER": "0"}, log, say)
    return [resolved(item) for item in json.loads(report.read_text(encoding="utf-8"))["install"]]


def resolved(item: Mapping[str, Any]) -> Resolved:
    """One entry of pip's report."""
    address = urlsplit(item["download_info"]["url"])
    path = unquote(address.path)
    size = None
    if address.scheme == "file":
        with contextlib.suppress(OSError):
            size = os.path.getsize(path)
    return Resolved(item["metadata"]["name"], item["metadata"]["version"], path.rpartition("/")[2], size)
