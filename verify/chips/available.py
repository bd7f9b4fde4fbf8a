"""Tests that need a simulator: without it they are skipped and say why, or fail where --require-rtl demands them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from impl.chip import Chip
from verify.chips import tools
from verify.chips.choice import open_chip

OPTION = "--require-rtl"

Open = Callable[[str, int], Chip]
"""The chip of this name with so many lanes, open as long as the tests of a module run."""


def add_option(group: pytest.OptionGroup) -> None:
    """Give pytest --require-rtl."""
    group.addoption(OPTION, action="store_true", help="tests of the RTL fail, not skip, without a simulator")


def not_here(config: pytest.Config, error: tools.ToolMissing) -> None:
    """Skip the test that runs, or have it fail where nothing may be left out."""
    why = f"the RTL was not run: {error}"
    if config.getoption(OPTION, default=False):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="session")
def icarus(pytestconfig: pytest.Config) -> tools.Icarus:
    """Icarus and what its fork server is compiled with, for a test that needs them."""
    try:
        tools.compiler()
        return tools.icarus()
    except tools.ToolMissing as error:
        not_here(pytestconfig, error)
        raise


@pytest.fixture(scope="session")
def verilator(pytestconfig: pytest.Config) -> tools.Verilator:
    """Verilator and the compiler, make and perl that it needs, for a test that needs them."""
    try:
        tools.compiler()
        tools.make_and_perl()
        return tools.verilator()
    except tools.ToolMissing as error:
        not_here(pytestconfig, error)
        raise


@pytest.fixture(scope="module")
def opened() -> Iterator[Open]:
    """Chips by name and lanes, each opened once for all tests of a module."""
    with ExitStack() as running:
        kept: dict[tuple[str, int], Chip] = {}

        def chip(name: str, lanes: int) -> Chip:
            if (name, lanes) not in kept:
                kept[name, lanes] = running.enter_context(open_chip(name, lanes))
            return kept[name, lanes]

        yield chip
