"""Finding simulators: a missing one says what to run, and tests that need it are skipped or fail, as they are told."""

import os
import subprocess
from pathlib import Path
from typing import cast

import pytest

from tests.a_checkout import ROOT
from tests.toy_chip.toy import KINDS, MEMORY, copies, toy
from verify.chips import available, tools
from verify.chips.choice import CHIPS, open_chip
from verify.chips.tools import INSTALL, ToolMissing


def script(folder: Path, name: str, text: str) -> Path:
    """An executable of that name in the folder."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder / name


@pytest.mark.parametrize("kind", KINDS)
def test_without_tools_a_run_says_what_to_install(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with toy(kind) as chip, pytest.raises(ToolMissing) as raised:
        chip.run([copies(1)], MEMORY)
    missing = {"icarus": "iverilog", "verilator": "g++"}[kind]
    assert str(raised.value) == f"{missing} is not on PATH: run `{INSTALL}` as root"


def test_without_any_verilator_the_message_names_the_set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolMissing, match=r"no Verilator of at least 5\.036 is on PATH.*run `\.ci/setup`"):
        tools.verilator()


@pytest.mark.parametrize(("version", "taken"), [("5.006", False), ("5.035", False), ("5.036", True), ("6.001", True)])
def test_a_verilator_on_the_path_counts_when_it_is_new_enough(
    version: str, taken: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = f'case "$1" in --version) echo "Verilator {version} 2026-01-01 rev x";; --getenv) echo /its/root;; esac'
    command = script(tmp_path / "bin", "verilator", answers)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")
    found = tools.verilator()
    assert (found.command == command, str(found.root) == "/its/root") == (taken, taken)
    assert found.environment["PATH"].startswith(f"{found.root / 'bin'}{os.pathsep}")


class Options:
    """A pytest configuration with one option."""

    def __init__(self, required: bool) -> None:
        self.required = required

    def getoption(self, name: str, default: object = None) -> object:
        return self.required if name == available.OPTION else default


@pytest.mark.parametrize(("required", "outcome"), [(False, pytest.skip.Exception), (True, pytest.fail.Exception)])
def test_a_test_without_its_simulator_is_skipped_or_fails(required: bool, outcome: type[BaseException]) -> None:
    with pytest.raises(outcome, match="the RTL was not run: iverilog is missing"):
        available.not_here(cast(pytest.Config, Options(required)), ToolMissing("iverilog is missing"))


def set_up(folder: Path, *present: str) -> tuple[int, str, str]:
    """Exit status and words of .ci/simulators with only these commands, and what apt-get was asked to install."""
    for name in ("sh", "dirname", "id", "env"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    for name in present:
        script(folder, name, "exit 0")
    asked = folder / "asked"
    script(folder, "apt-get", f'echo "$*" >>{asked}')
    script(folder, "id", "echo 0")
    environment = {"PATH": str(folder)}
    done = subprocess.run([ROOT / ".ci" / "simulators"], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, asked.read_text() if asked.exists() else ""


def test_the_set_up_installs_what_is_missing(tmp_path: Path) -> None:
    code, _, asked = set_up(tmp_path, "vvp", "iverilog", "make")
    assert code == 0
    assert asked.splitlines()[-1].endswith("install -y --no-install-recommends g++ perl")


def test_the_set_up_does_nothing_when_all_is_there(tmp_path: Path) -> None:
    assert set_up(tmp_path, "vvp", "iverilog", "make", "g++", "perl") == (0, "", "")


def test_every_chip_has_a_name(tmp_path: Path) -> None:
    for name in CHIPS:
        with open_chip(name, 32, 100) as chip:
            assert (chip.lanes, chip.words) == (32, 100)
    said = "no chip is called 'none'; there are spec, model, icarus, verilator"
    with pytest.raises(ValueError, match=said), open_chip("none", 16):
        pass
