"""The target that a run is about: the cache that ships, a Python adapter, or a command in any language.

`--target module:factory` runs the adapter in a child under the user's own interpreter, `--target stdio:COMMAND` the command;
both speak docs/target-protocol.md. The same options stand on every command of `python -m verify` and on pytest.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from impl.command import CommandError
from impl.exit_codes import ExitCode
from verify.remote.children import BrokenTargetError, Children
from verify.remote.connection import Launch, Limits
from verify.remote.spelling import SHIPPED, Spelling, python_calls, stdio_calls
from verify.remote.target import RemoteTarget
from verify.remote.wire_format import hello_from_line
from verify.target import Capabilities, Factory, Target

ROOT = Path(__file__).resolve().parents[2]
CHILD = ROOT / "verify" / "child.py"
STDIO = "stdio:"
ADAPTER = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
MOST_SECONDS, MOST_MEMORY = 2.0, 4096
LARGEST_MEMORY = 1 << 30
WALL_FOR_CPU = 60
"""Seconds of wall time a second of CPU time allowed: far beyond what a loaded machine takes."""


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """The options as they were given; None where they were not."""

    target: str | None = None
    python: str | None = None
    path: str | None = None
    seconds: float | None = None
    memory: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """An option of click and of pytest: its flag, its field, the type of its value, what is said of it."""

    flag: str
    field: str
    metavar: str
    kind: Callable[[str], Any]
    help: str


def positive(text: str) -> float:
    """A number above zero, and not infinite."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(f"{text} is no number above zero")
    return number


def positive_integer(text: str) -> int:
    """A whole number above zero."""
    if int(text) < 1:
        raise ValueError(f"{text} is less than 1")
    return int(text)


def mebibytes(text: str) -> int:
    """A whole number above zero of MiB, few enough that the kernel can count their bytes."""
    if positive_integer(text) > LARGEST_MEMORY:
        raise ValueError(f"{text} is more than {LARGEST_MEMORY}")
    return int(text)


OPTIONS = (
    Option("--target", "target", "TARGET", str, "module:factory or stdio:COMMAND.  [default: the cache that ships]"),
    Option("--target-python", "python", "PATH", str, "Interpreter of module:factory.  [default: this one]"),
    Option("--target-path", "path", "DIR", str, "Folder that the target runs in.  [default: the current one]"),
    Option("--target-seconds", "seconds", "SECONDS", positive, f"CPU time of one reply.  [default: {MOST_SECONDS:g}]"),
    Option("--target-memory", "memory", "MIB", mebibytes, f"Address space of the target.  [default: {MOST_MEMORY}]"),
    Option("--target-steps", "steps", "N", positive_integer, "Most operations to try of it.  [default: no bound]"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The target of a run. `steps` bounds the operations that a search may try; `far` says that it is not our own cache."""

    factory: Factory
    capabilities: Capabilities
    spelling: Spelling
    steps: int | None = None
    far: bool = False

    def lines(self) -> list[str]:
        """What the target is, and what of it is not checked; nothing of our own cache, which offers and shows everything."""
        if not self.far:
            return []
        return [
            f"target: {self.capabilities.name}",
            f"not offered: {', '.join(self.capabilities.not_offered()) or 'nothing'}",
            f"not observed: {', '.join(self.capabilities.not_observed) or 'nothing'}",
        ]


def ours() -> Choice:
    """The cache that ships. Its storage loads numpy, which a run on another target does without."""
    from verify.targets.shipped import CAPABILITIES, ShippedCache

    return Choice(ShippedCache, CAPABILITIES, SHIPPED)


class WrongOptionsError(Exception):
    """The options do not name a target."""


def launch_of(options: TargetOptions) -> tuple[Launch, Spelling]:
    """How to start the target and how it is spelled; WrongOptionsError, BrokenTargetError for what is not there."""
    target = options.target
    if target is None:
        raise WrongOptionsError("the options of a target need --target")
    folder = Path(options.path or ".").absolute()
    if not folder.is_dir():
        raise WrongOptionsError(f"--target-path {options.path} is no folder")
    environment = environment_of_target()
    again = ["--target", target, "--target-path", str(folder)]
    if target.startswith(STDIO):
        if options.python is not None:
            raise WrongOptionsError("--target-python is of module:factory, not of stdio:COMMAND")
        command = target.removeprefix(STDIO)
        words = split(command)
        spelling = Spelling(f" {shlex.join(again)}", stdio_calls(str(folder), command))
        return Launch(words, str(folder), environment), spelling
    if not ADAPTER.fullmatch(target):
        raise WrongOptionsError(f"--target {target} is neither module:factory nor stdio:COMMAND")
    python = options.python or sys.executable
    found = shutil.which(python)
    if found is None:
        raise BrokenTargetError(f"there is no interpreter {python}")
    again += ["--target-python", python] if options.python else []
    module, _, factory = target.partition(":")
    spelling = Spelling(f" {shlex.join(again)}", python_calls(python, str(folder), module, factory))
    words = (os.path.abspath(found), str(CHILD), target, "--path", str(folder))
    return Launch(words, str(folder), environment), spelling


def split(command: str) -> tuple[str, ...]:
    """The words of the command, as a shell reads them."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise WrongOptionsError(f"--target {STDIO}{command}: {error}") from None
    if not words:
        raise WrongOptionsError(f"--target {STDIO} names no command")
    return words


def environment_of_target() -> dict[str, str]:
    """Ours, without this checkout on Python's path: a target imports nothing of kvproof."""
    environment = dict(os.environ)
    path = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    path = [entry for entry in path if Path(entry).resolve() != ROOT]
    environment.pop("PYTHONPATH", None)
    return environment | ({"PYTHONPATH": os.pathsep.join(path)} if path else {})


@contextmanager
def chosen(options: TargetOptions, workers: int = 1) -> Iterator[Choice]:
    """The target, ready to be asked by this process and so many workers; its processes end with the block.

    WrongOptionsError, BrokenTargetError.
    """
    if options == TargetOptions():
        yield ours()
        return
    launch, spelling = launch_of(options)
    seconds, memory = options.seconds or MOST_SECONDS, options.memory or MOST_MEMORY
    limits = Limits(seconds, seconds * WALL_FOR_CPU, memory << 20)
    try:
        children = Children(launch, limits, hello_from_line, spares=workers if workers > 1 else 0)
    except BrokenTargetError as error:
        raise BrokenTargetError(f"{options.target}: {error}") from None

    def factory(pages: int, page_size: int) -> Target:
        return RemoteTarget(children, pages, page_size)

    try:
        yield Choice(factory, children.hello.capabilities, spelling, options.steps, far=True)
    finally:
        children.close()


@contextmanager
def command_target(options: TargetOptions, workers: int = 1) -> Iterator[Choice]:
    """`chosen` for a command line: wrong options are a usage error, a broken target ends with exit code 4."""
    try:
        with chosen(options, workers) as choice:
            yield choice
    except WrongOptionsError as error:
        raise click.UsageError(str(error)) from None
    except BrokenTargetError as error:
        raise CommandError(f"the target is broken: {error}", ExitCode.BROKEN) from None


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a click command the options of a target, which it takes as one argument, `target`."""

    @wraps(command)
    def with_target(*args: Any, **values: Any) -> Any:
        given = {option.field: values.pop(f"target_{option.field}") for option in OPTIONS}
        return command(*args, target=TargetOptions(**given), **values)

    for option in reversed(OPTIONS):
        add = click.option(
            option.flag, f"target_{option.field}", metavar=option.metavar, type=option.kind, help=option.help
        )
        add(with_target)
    return with_target
