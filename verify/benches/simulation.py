"""Results of cocotb benches: builds a design once per content, runs bench modules on it, reads what they reported."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from verify.benches.simulator_process import Order
from verify.chips import tools
from verify.chips.builds import BuildFailedError, built

ROOT = Path(__file__).resolve().parents[2]

Simulator = Literal["icarus", "verilator"]
SIMULATORS: tuple[Simulator, ...] = ("icarus", "verilator")

BUILD_ARGS: Mapping[Simulator, tuple[str, ...]] = {
    "icarus": ("-g2005",),
    # A lint of its own says what is not clean. Registers start with noise, so that a missing reset is seen.
    "verilator": (
        *("-Wno-fatal", "-Wno-lint", "--x-initial", "unique", "--x-assign", "unique"),
        # Only ports are looked at; with all that cocotb makes public the compiler has twice the work.
        *("--no-public-flat-rw", "--public-depth", "1"),
        # The makefile of the wheel cannot use its own precompiled headers, which come with split files.
        *("--output-split", "0"),
    ),
}
PLUSARGS: Mapping[Simulator, tuple[str, ...]] = {"icarus": (), "verilator": ("+verilator+rand+reset+2",)}

ASSERTION = "ASSERTION"
"""How a line of an assertion in rtl/ begins, after which the simulation ends."""
ENDED_EARLY = "the simulation ended prematurely"

LONGEST_S = 300
LAST_WORDS = 4000


class NoResultsError(Exception):
    """A simulator ended, or had to be ended, without results; the message ends with its last words."""


@dataclass(frozen=True, slots=True)
class Case:
    """What one cocotb test of a bench module reported; `failure` is empty when it passed."""

    module: str
    name: str
    failure: str


@dataclass(frozen=True, slots=True)
class Design:
    """Verilog to build: the top module, its files, parameters and macros; `generated` is the text of one more file."""

    top: str
    sources: tuple[Path, ...]
    parameters: Mapping[str, int] = field(default_factory=dict)
    generated: str = ""
    defines: Mapping[str, int] = field(default_factory=dict)


def run(
    simulator: Simulator, design: Design, modules: Sequence[str], plusargs: Sequence[str] = (), only: str = ""
) -> list[Case]:
    """Every case of the bench modules (dotted names), run in one process of the simulator, on a build that is kept.

    `only` is a pattern of the full names of the tests to run. Raises ToolMissingError, BuildFailedError, NoResultsError.
    """
    build = build_of(simulator, design)
    with tempfile.TemporaryDirectory(prefix="benches-") as scratch:
        results = Path(scratch) / "results.xml"
        order = _order(simulator, design, build)
        order |= {"test_modules": list(modules), "test_dir": scratch, "results": str(results)}
        order["plusargs"] += plusargs
        order["only"] = only
        _, said = _child(order)
        if not results.is_file():
            raise NoResultsError(f"{simulator} ended without results:\n{said[-LAST_WORDS:]}")
        return _with_last_words(cases(results), said)


def cases(results: Path) -> list[Case]:
    """The cases of a JUnit file as cocotb writes it."""
    found = []
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        wrong = next((part for part in case if part.tag in ("failure", "error", "skipped")), None)
        failure = "" if wrong is None else (wrong.get("message") or wrong.text or wrong.tag)
        found.append(Case(case.get("classname", ""), case.get("name", ""), failure.strip()))
    return found


def _with_last_words(found: list[Case], said: str) -> list[Case]:
    """The cases, where the first that an assertion of the RTL ended says which; cocotb blames every later one as well."""
    assertion = next((line for line in said.splitlines() if line.startswith(ASSERTION)), None)
    ended = [case for case in found if ENDED_EARLY in case.failure]
    if not ended:
        return found
    failures = {ended[0]: f"the simulation ended: {assertion or said[-LAST_WORDS:]}"}
    failures |= dict.fromkeys(ended[1:], "did not run, the simulation had ended")
    return [replace(case, failure=failures.get(case, case.failure)) for case in found]


def verdict(bench: str, found: Sequence[Case]) -> str:
    """What is wrong with the cases of that bench module, one paragraph each; nothing when some ran and all passed."""
    ours = [case for case in found if case.module == bench]
    if not ours:
        return f"no test of {bench} ran"
    return "\n\n".join(f"{case.name}: {case.failure}" for case in ours if case.failure)


def build_of(simulator: Simulator, design: Design) -> Path:
    """The folder of the built design, made now if it is not there. Raises ToolMissingError, BuildFailedError."""

    def make(folder: Path) -> None:
        files = list(design.sources)
        if design.generated:
            files.append(folder / f"{design.top}.v")
            files[-1].write_text(design.generated, encoding="utf-8")
        order = _order(simulator, design, folder)
        order["sources"] = [str(path) for path in files if path.suffix == ".v"]
        code, said = _child(order)
        if code:
            raise BuildFailedError(f"{simulator} did not build {design.top}:\n{said[-LAST_WORDS:]}")

    parts = [sys.executable, version("cocotb"), _tool_version(simulator), *BUILD_ARGS[simulator], design.generated]
    parts += [f"{name}={value}" for name, value in sorted({**design.parameters, **design.defines}.items())]
    return built(f"benches-{simulator}-{design.top}", parts, design.sources, make)


def _order(simulator: Simulator, design: Design, build: Path) -> Order:
    return {
        "simulator": simulator,
        "top": design.top,
        "build_dir": str(build),
        "sources": [],
        "includes": sorted({str(path.parent) for path in design.sources}),
        "parameters": dict(design.parameters),
        "defines": dict(design.defines),
        "build_args": list(BUILD_ARGS[simulator]),
        "test_modules": [],
        "test_dir": str(build),
        "plusargs": list(PLUSARGS[simulator]),
        "results": "",
        "only": "",
    }


def _child(order: Order) -> tuple[int, str]:
    """How the process of that order ended, and what it printed. Raises NoResultsError when it takes too long."""
    command = [sys.executable, "-m", "verify.benches.simulator_process"]
    # cocotb's runner exits on a failed test when it thinks that pytest calls it; an outer make's flags are not for ours.
    hidden = ("PYTEST_CURRENT_TEST", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    # Nothing looks at a port before all are driven, so writes need not wait for cocotb to put them in order.
    environment["COCOTB_TRUST_INERTIAL_WRITES"] = "1"
    if order["simulator"] == "verilator":
        environment.update(tools.verilator().environment)
        # Its makefile calls "python", which not every machine has.
        environment["PATH"] = os.pathsep.join([environment.get("PATH", ""), str(Path(sys.executable).parent)])
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(json.dumps(order), timeout=LONGEST_S)
    except BaseException as error:
        # The simulator is a child of the child.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise NoResultsError(f"{order['simulator']} did not end within {LONGEST_S} s") from None
        raise
    return process.returncode, said


def _tool_version(simulator: Simulator) -> str:
    if simulator == "icarus":
        return tools.icarus().version
    tools.make_and_perl()
    return f"{tools.verilator().version} {tools.compiler().version}"
