"""pytest for the contracts: which the profile checks, in two processes, and their table at the end."""

import shutil
from collections.abc import Iterator
from multiprocessing.pool import AsyncResult

import pytest

from verify.contracts.backend import register_backend
from verify.contracts.registry import CANARY, Contract, of_profile
from verify.contracts.runner import Result, checking
from verify.contracts.table import render

RESULTS: pytest.StashKey[dict[str, Result]] = pytest.StashKey()
PROCESSES = 2


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is checked yet; the properties run on the backend that was asked for."""
    config.stash[RESULTS] = {}
    register_backend(config.getoption("--backend"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `contract` the contracts of the profile."""
    if "contract" in metafunc.fixturenames:
        contracts = of_profile(metafunc.config.getoption("--profile"))
        metafunc.parametrize("contract", contracts, ids=[contract.name for contract in contracts])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the verdict of each contract."""
    results = config.stash[RESULTS]
    text = render(
        of_profile(config.getoption("--profile")), results, width=max(120, shutil.get_terminal_size().columns)
    )
    if text:
        terminalreporter.section("contracts: CrossHair, all paths")
        terminalreporter.write_line(text)


@pytest.fixture(scope="module")
def pending(request: pytest.FixtureRequest) -> Iterator[dict[str, "AsyncResult[Result]"]]:
    """The contracts of the selected tests, and always the canary, while they are being checked."""
    selected = [item.callspec.params.get("contract") for item in request.session.items if hasattr(item, "callspec")]
    contracts = [contract for contract in selected if isinstance(contract, Contract)]
    workers = min(PROCESSES, request.config.getoption("--workers"))
    with checking(dict.fromkeys([CANARY, *contracts]), workers) as results:
        yield results


@pytest.fixture
def canary(request: pytest.FixtureRequest, pending: dict[str, "AsyncResult[Result]"]) -> Result:
    """What came of the known falsehood."""
    return request.config.stash[RESULTS].setdefault(CANARY.name, pending[CANARY.name].get())


@pytest.fixture
def result(request: pytest.FixtureRequest, contract: Contract, pending: dict[str, "AsyncResult[Result]"]) -> Result:
    """What came of the contract."""
    return request.config.stash[RESULTS].setdefault(contract.name, pending[contract.name].get())
