"""`python -m verify targets`: sets up the third-party managers that `python -m verify conformance` checks."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from impl.command import EPILOG, CommandError, console
from impl.exit_codes import ExitCode
from impl.progress import bar_or_lines
from verify.conformance.environments import SetUp, SetUpError, Stage, installed, left, set_up, size, stages
from verify.conformance.targets import ENVIRONMENTS, ROOT, TARGETS, KnownTarget

LONGEST_WORDS = 70


@click.command("targets", epilog=EPILOG)
@click.argument("names", metavar="[TARGET]...", nargs=-1, type=click.Choice(list(TARGETS)))
@click.option("--list", "only_list", is_flag=True, help="Say what is set up and what is not, and do nothing.")
@click.option(
    "--allow-cuda", is_flag=True, help="Take a build for an accelerator, several GB, when pip finds no other."
)
@click.option(
    "--python", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Interpreter.  [default: this one]"
)
def set_up_targets(names: tuple[str, ...], only_list: bool, allow_cuda: bool, python: Path | None) -> int:
    """Set up the third-party managers that `conformance` checks, each in an environment of its own under .venvs/.

    \b
    Examples:
      python -m verify targets               all of them
      python -m verify targets tvm           this one
      python -m verify targets --list        what is there

    Packages come from where pip is told to look, in the versions that verify/targets/*.txt pin, for the CPU only. What is
    done is kept: an interrupted run goes on where it was, and a second run does nothing. Without a network, a package or the
    room on disk it ends with 3.
    """
    out = console()
    targets = [TARGETS[name] for name in dict.fromkeys(names or TARGETS)]
    for target in targets:
        out.print(Text(f"{target.name}: {target.title} {target.version}, {state_of(target)}"), soft_wrap=True)
    if only_list:
        return ExitCode.PASS if all(map(installed, targets)) else ExitCode.UNKNOWN
    with one_at_a_time(out):
        for target in targets:
            if not installed(target):
                make(out, target, allow_cuda, python)
    return ExitCode.PASS


def state_of(target: KnownTarget) -> str:
    """What is there of the target's environment, and what it takes."""
    if installed(target):
        return "set up, nothing to do"
    todo, total = len(list(left(target))), len(list(stages(target)))
    begun = f", {total - todo} of {total} stages are done" if todo < total else ""
    return f"to be set up in {shown(target.environment)}: about {size(target.recipe.disk)} of disk{begun}"


def make(out: Console, target: KnownTarget, allow_cuda: bool, python: Path | None) -> None:
    """Set the target up, with a line a stage and, on a terminal, what pip is doing."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    started = time.monotonic()
    with bar_or_lines(*columns, out=out) as bar:
        task = bar.add_task(target.name, total=len(list(stages(target))))

        def say(line: str) -> None:
            short = line if len(line) <= LONGEST_WORDS else f"{line[: LONGEST_WORDS - 3]}..."
            bar.update(task, description=Text(short, style="dim").markup)

        def begin(stage: Stage, number: int, total: int) -> None:
            bar.update(task, completed=number - 1)
            out.print(Text(f"{target.name}, {number} of {total}: {stage.words}"), soft_wrap=True)

        work = SetUp(target, say, allow_accelerator=allow_cuda)
        if python is not None:
            work.python = python.absolute()
        try:
            set_up(work, begin)
        except SetUpError as error:
            raise CommandError(str(error), ExitCode.UNKNOWN) from None
    out.print(
        f"{target.name}: ready after {time.monotonic() - started:.0f} s, {size(disk_of(target.environment))} of disk"
    )


def disk_of(folder: Path) -> int:
    """The bytes of the files in the folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_symlink() and path.is_file())


def shown(path: Path) -> str:
    """The path as a person in the checkout writes it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


@contextmanager
def one_at_a_time(out: Console) -> Iterator[None]:
    """Keep other set-ups of this checkout out; the lock ends with this process."""
    ENVIRONMENTS.mkdir(exist_ok=True)
    with (ENVIRONMENTS / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            out.print("waiting for another set-up of this checkout")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
