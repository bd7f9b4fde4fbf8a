"""Compiles the page table in C, healthy or with one planted fault."""

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("page_table.c")
INSTALL = "apt-get install -y --no-install-recommends gcc libc6-dev"
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def build(folder: Path, fault: str | None = None) -> Path:
    """The program below `folder`; the test fails, and names the command that installs a compiler, when there is none."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.fail(f"no C compiler; install one with: {INSTALL}", pytrace=False)
    program = folder / (fault or "healthy").lower()
    flags = ["-std=c11", "-D_GNU_SOURCE", *WARNINGS, *([f"-D{fault}", "-O0"] if fault else ["-O2"])]
    done = subprocess.run([compiler, *flags, "-o", str(program), str(SOURCE)], capture_output=True, text=True)
    if done.returncode:
        pytest.fail(
            f"{SOURCE.name} does not compile; libc6-dev may be missing: {INSTALL}\n{done.stderr}", pytrace=False
        )
    return program
