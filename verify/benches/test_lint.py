"""The RTL is clean where it is strict: Verilator with all warnings for both widths, Icarus as Verilog-2005."""

import os
import subprocess
from pathlib import Path

import pytest

from spec.isa import LANES
from verify.benches.benches_top import CHIP
from verify.benches.designs import RTL
from verify.chips import tools

SOURCES = sorted(RTL.glob("*.v"))


def said(command: list[str | Path], environment: dict[str, str] | None = None) -> str:
    """Everything that the command printed; an exit code that is not 0 is told, too."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
    code = f"exit {done.returncode}" if done.returncode else ""
    return f"{done.stdout}{done.stderr}{code}".strip()


@pytest.mark.parametrize("lanes", LANES)
def test_verilator_has_nothing_to_say(verilator: tools.Verilator, lanes: int) -> None:
    arguments = ["--lint-only", "-Wall", "--top-module", CHIP, f"-GLANES={lanes}", f"-I{RTL}"]
    text = said([verilator.command, *arguments, *SOURCES], verilator.environment)
    assert [line for line in text.splitlines() if not line.startswith("- ")] == []


def test_icarus_takes_it_as_verilog_2005_and_has_nothing_to_say(icarus: tools.Icarus, tmp_path: Path) -> None:
    arguments = ["-g2005", "-Wall", "-s", CHIP, f"-I{RTL}", "-o", str(tmp_path / "kestrel.vvp")]
    assert said([icarus.iverilog, *arguments, *SOURCES]) == ""


def test_a_module_has_the_name_of_its_file_and_few_lines() -> None:
    for path in SOURCES:
        lines = path.read_text(encoding="utf-8").splitlines()
        modules = [line.split()[1] for line in lines if line.startswith("module ")]
        assert modules == [path.stem]
        assert len(lines) <= 250, f"{path.name} has {len(lines)} lines"


def test_the_list_of_files_is_the_folder() -> None:
    listed = [line for line in (RTL / "files.f").read_text(encoding="utf-8").split() if line.endswith(".v")]
    assert sorted(Path(line).name for line in listed) == [path.name for path in SOURCES]
