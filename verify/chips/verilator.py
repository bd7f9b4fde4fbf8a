"""The chip's RTL in Verilator, which is fast and knows 0 and 1 only: what a register is before anybody sets it can be chosen.

Builds: Verilator's own runtime, the same for all chips (it takes most of the time), what it needs besides to write waves, and the
chip with its bench, once more with waves when somebody wants them. The C++ compiler is called directly, on one file that includes
all others; more optimisation than -O1 takes longer than a run of the tests gains by it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from spec.isa import EXT_WORDS
from verify.chips import tools
from verify.chips.builds import BUILDS, built, compiled
from verify.chips.simulated import BENCH, BENCH_MODULES, CPU_SECONDS, CYCLE_LIMIT, RTL, Launch, SimulatedChip

Initial = Literal["zeros", "ones"] | int
"""What registers and memories hold before anybody sets them; a number is the seed of chance."""

MODEL = "Vkestrel_bench"
PROGRAM = "chip"
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
WAVES_RUNTIME = ("verilated_vcd_c.cpp",)
"""Beside RUNTIME, which is the same with waves and without."""
HOST_SOURCES = (BENCH / "fork_server.h", BENCH / "fork_server.cpp", BENCH / "verilator_main.cpp")
COMPILER_FLAGS = ("-std=c++20", "-O1", "-DVL_USER_FINISH")
# A planted fault that the linter sees must still run.
FLAGS = (
    "--cc",
    "--no-timing",
    "--x-initial",
    "unique",
    "--x-assign",
    "unique",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
)
TOP = ("--top-module", "kestrel_bench", "--prefix", MODEL)


class VerilatorChip(SimulatedChip):
    """A chip in Verilator; waves are in VCD and need a build of their own."""

    waves_suffix = ".vcd"

    def __init__(
        self,
        lanes: int,
        words: int = EXT_WORDS,
        *,
        initial: Initial = 1,
        rtl: Path = RTL,
        defines: Sequence[str] = (),
        plusargs: Sequence[str] = (),
        counters: bool = True,
        cycle_limit: int = CYCLE_LIMIT,
        cpu_seconds: float = CPU_SECONDS,
        builds: Path = BUILDS,
    ) -> None:
        super().__init__(
            lanes,
            words,
            rtl=rtl,
            defines=defines,
            plusargs=plusargs,
            counters=counters,
            cycle_limit=cycle_limit,
            cpu_seconds=cpu_seconds,
            builds=builds,
        )
        self.initial = initial

    def launch(self, waves: bool) -> Launch:
        verilator, compiler = tools.verilator(), tools.compiler()
        chip = self._chip(verilator, compiler, waves)
        return Launch((chip / PROGRAM, *arguments_of(self.initial), *self.plusargs), {})

    def _runtime(self, verilator: tools.Verilator, compiler: tools.Compiler, waves: bool) -> list[Path]:
        """The object files of Verilator's runtime."""
        found = self._compiled("verilator-runtime", RUNTIME, verilator, compiler, waves=False)
        if waves:
            found += self._compiled("verilator-runtime-waves", WAVES_RUNTIME, verilator, compiler, waves=True)
        return found

    def _compiled(
        self, name: str, files: Sequence[str], verilator: tools.Verilator, compiler: tools.Compiler, waves: bool
    ) -> list[Path]:
        flags = host_flags(verilator, waves)
        sources = [verilator.root / "include" / file for file in files]

        def make(folder: Path) -> None:
            for source in sources:
                compiled([compiler.command, *flags, "-c", "-o", folder / f"{source.stem}.o", source], folder)

        parts = (compiler.version, verilator.version, *COMPILER_FLAGS)
        return sorted(built(name, parts, sources, make, self.builds).glob("*.o"))

    def _chip(self, verilator: tools.Verilator, compiler: tools.Compiler, waves: bool) -> Path:
        sources = self.sources
        defines = [f"-D{define}" for define in (*sources.defines, *(["KESTREL_WAVES"] if waves else []))]
        flags = (*FLAGS, *TOP, f"-GLANES={self.lanes}", f"-GEXT_WORDS={self.words}", *defines)
        flags = (*flags, "--trace") if waves else flags
        files = (*BENCH_MODULES, *sources.files)

        def make(folder: Path) -> None:
            includes = [f"-I{directory}" for directory in sources.folders]
            model = folder / "model"
            arguments: list[str | Path] = [*flags, *includes, "--Mdir", model, *files]
            compiled([verilator.command, *arguments], folder, verilator.environment)
            everything = folder / "everything.cpp"
            host = [source for source in HOST_SOURCES if source.suffix == ".cpp"]
            everything.write_text("".join(f'#include "{source}"\n' for source in [*sorted(model.glob("*.cpp")), *host]))
            objects = self._runtime(verilator, compiler, waves)
            options = [*host_flags(verilator, waves), f"-I{model}", f"-I{BENCH}"]
            compiled([compiler.command, *options, "-o", folder / PROGRAM, everything, *objects, "-pthread"], folder)

        parts = (compiler.version, verilator.version, *COMPILER_FLAGS, *flags)
        return built("verilator", parts, (*files, *sources.headers, *HOST_SOURCES), make, self.builds)


def arguments_of(initial: Initial) -> tuple[str, str]:
    """What the program is told about registers before anybody sets them: zeros, ones or chance, and its seed."""
    match initial:
        case "zeros":
            return "0", "1"
        case "ones":
            return "1", "1"
        case seed:
            return "2", str(seed)


def host_flags(verilator: tools.Verilator, waves: bool) -> tuple[str, ...]:
    """What the C++ compiler is told, as Verilator's own build would."""
    include = verilator.root / "include"
    folders = (f"-I{include}", f"-I{include / 'vltstd'}")
    return (*COMPILER_FLAGS, "-DVERILATOR=1", f"-DVM_TRACE={int(waves)}", f"-DVM_TRACE_VCD={int(waves)}", *folders)
