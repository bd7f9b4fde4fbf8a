"""Hypothesis in these tests: the same examples every time, no database, no deadline that a loaded machine could miss.

And what several files of tests are given.
"""

import shutil
import signal
from pathlib import Path

import pytest

from verify.chips.available import icarus, verilator  # noqa: F401, fixtures
from verify.hypothesis_profile import load_profile

load_profile()

# A shell that runs tests in the background has them ignore interrupts, and so would every command that they start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def hostile_managers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a little manager and the hostile ones around it, the module `hostile`."""
    path = tmp_path_factory.mktemp("managers")
    shutil.copy(Path(__file__).with_name("hostile_managers.py.txt"), path / "hostile.py")
    return path
