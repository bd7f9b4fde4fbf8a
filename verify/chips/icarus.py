"""The chip's RTL in Icarus Verilog, which knows x: what the chip shows or asks while it is unknown is an error.

Two builds: the fork server as a module of the simulator, the same for all chips, and the chip with its bench.
"""

from pathlib import Path

from verify.chips import tools
from verify.chips.builds import built, compiled
from verify.chips.simulated import BENCH, BENCH_MODULES, Launch, SimulatedChip

MODULE = "kestrel"
PROGRAM = "chip.vvp"
TASK_SOURCES = (BENCH / "fork_server.h", BENCH / "fork_server.cpp", BENCH / "icarus_task.cpp")
BENCH_SOURCES = (BENCH / "icarus_top.v", *BENCH_MODULES)
TASK_FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC")
VERILOG, SYSTEM_VERILOG = "-g2005", "-g2012"
FLAGS = ("-DKESTREL_FORKS", "-DKESTREL_WAVES", "-s", "icarus_top")


class IcarusChip(SimulatedChip):
    """A chip in Icarus; waves are in FST."""

    waves_suffix = ".fst"

    def launch(self, waves: bool) -> Launch:
        icarus = tools.icarus()
        task = self._task(icarus)
        program = self._program(icarus) / PROGRAM
        return Launch((icarus.vvp, "-n", "-M", task, "-m", MODULE, program, "-fst", *self.plusargs), {})

    def _task(self, icarus: tools.Icarus) -> Path:
        compiler = tools.compiler()
        flags = (*TASK_FLAGS, *(f"-I{folder}" for folder in icarus.includes))

        def make(folder: Path) -> None:
            sources = [source for source in TASK_SOURCES if source.suffix == ".cpp"]
            compiled([compiler.command, *flags, "-o", folder / f"{MODULE}.vpi", *sources], folder)

        return built("icarus-task", (compiler.version, icarus.version, *flags), TASK_SOURCES, make, self.builds)

    def _program(self, icarus: tools.Icarus) -> Path:
        sources = self.sources
        defines = [f"-D{define}" for define in sources.defines]
        sizes = (f"-Picarus_top.LANES={self.lanes}", f"-Picarus_top.EXT_WORDS={self.words}")
        language = SYSTEM_VERILOG if any(file.suffix == ".sv" for file in sources.files) else VERILOG
        flags = (language, *FLAGS, *sizes, *defines)
        files = (*BENCH_SOURCES, *sources.files)

        def make(folder: Path) -> None:
            includes = [f"-I{directory}" for directory in sources.folders]
            compiled([icarus.iverilog, *flags, *includes, "-o", folder / PROGRAM, *files], folder)

        return built("icarus", (icarus.version, *flags), (*files, *sources.headers), make, self.builds)
