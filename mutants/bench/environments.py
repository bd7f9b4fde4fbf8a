"""An environment of its own for each tool, made once from pinned versions and taken up again where it was interrupted."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from impl.command import CommandError, write_atomically
from impl.exit_codes import ExitCode
from mutants.bench.measured import run_measured

PLACE = Path(".venvs", "mutation-bench")
MADE = "made-from"
"""The file that says what a whole environment was made from; it is written last."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is installed: its name, its pinned package, and its command in the environment."""

    name: str
    pin: str
    command: str


MUTMUT = Tool("mutmut", "mutmut==3.8.1", "mutmut")
COSMIC_RAY = Tool("cosmic-ray", "cosmic-ray==8.7.0", "cosmic-ray")


def packages(tool: Tool) -> tuple[str, ...]:
    """What is installed: the tool, and what the suite needs, of the versions that run here."""
    return (tool.pin, *(f"{name}=={version(name)}" for name in ("numpy", "pytest", "click")))


def environment(tool: Tool, say: Callable[[str], None], place: Path = PLACE) -> Path:
    """The folder of the tool's commands, made when it is not there. Raises CommandError, exit code 3, when it cannot be made."""
    folder = (place / tool.name).absolute()
    wanted = f"{folder}\n{sys.version}\n{' '.join(packages(tool))}\n"
    commands = folder / "bin"
    if not _is_made(folder, wanted) or not (commands / tool.command).exists():
        say(f"installing {tool.pin} into {place / tool.name}")
        _make(tool, folder)
        write_atomically(folder / MADE, wanted)
    return commands


def _is_made(folder: Path, wanted: str) -> bool:
    try:
        return (folder / MADE).read_text(encoding="utf-8") == wanted
    except OSError:
        return False


def _make(tool: Tool, folder: Path) -> None:
    """Make the environment; packages that an interrupted try has left are kept, one made from anything else is not."""
    if (folder / MADE).exists():
        shutil.rmtree(folder)
    pip = ("-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", *packages(tool))
    steps = ((sys.executable, "-I", "-m", "venv", str(folder)), (str(folder / "bin" / "python"), *pip))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for step in steps:
            ended = run_measured(step, folder, {"PIP_USER": "0"})
            if ended.code != 0:
                words = [line for line in ended.said.splitlines() if line.strip()]
                raise CommandError(f"{tool.pin} cannot be installed: {' '.join(words[-1:])}", ExitCode.UNKNOWN)
    except OSError as error:
        raise CommandError(f"{folder} cannot be made: {error.strerror or error}", ExitCode.UNKNOWN) from error
