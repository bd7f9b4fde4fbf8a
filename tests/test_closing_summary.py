"""The closing summary of `pytest verify/` is whole when its files are spread over processes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from verify.bounds import PROFILES
from verify.contracts.registry import CANARY
from verify.summary import LISTS, Summary

ROOT = Path(__file__).resolve().parent.parent
FILES = ("test_replay.py", "test_exhaustive.py", "contracts/test_contracts.py")


def test_what_every_process_covered_stands_in_one_summary() -> None:
    chosen = "saved_witnesses or reachable_state or keeps_the_invariants or context_is_the_oracles"
    files = [f"verify/{name}" for name in FILES]
    command = [sys.executable, "-m", "pytest", "-n", "2", "--profile", "dev", "-v", "-k", chosen, *files]
    environment = {**os.environ, "COLUMNS": "200", "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert set(re.findall(r"^\[(gw\d)\] .* PASSED ", done.stdout, re.MULTILINE)) == {"gw0", "gw1"}
    cells = [[cell.strip() for cell in line.split("│")] for line in done.stdout.splitlines() if line.startswith("│")]
    rows = {row[1]: row[2:] for row in cells}
    profile = PROFILES["dev"]
    for scope in profile.scopes:
        assert rows[str(scope)][:2] == [f"{scope.states:,}", f"{scope.transitions:,}"]
        assert rows[str(scope)][-2] == "complete"
    for scope in profile.induction:
        assert rows[str(scope)][:2] == [f"{scope.states:,}", f"{scope.transitions:,}"]
    assert rows["window.context_is_the_oracles"][1] == "confirmed"
    assert rows[CANARY.name][1] == "refuted, as it must be"
    assert "profile dev; 5 saved witnesses replayed" in done.stdout
    assert "(not selected)" not in done.stdout


def test_every_process_leaves_out_the_same_tests() -> None:
    whole, part = Summary(PROFILES["dev"], deselected=0), Summary(PROFILES["dev"], deselected=7, witnesses=2)
    whole.add(part)
    whole.add(part)
    assert (whole.deselected, whole.witnesses) == (7, 4)


def test_every_list_of_another_process_is_taken_in() -> None:
    whole, part = Summary(PROFILES["dev"]), Summary(PROFILES["dev"])
    for place, name in enumerate(LISTS):
        getattr(part, name).append(place)
    whole.add(part)
    whole.add(part)
    assert [getattr(whole, name) for name in LISTS] == [[place, place] for place in range(len(LISTS))]
    assert "program_tallies" in LISTS
