"""pytest for the contracts: which the profile checks, in two processes."""

from collections.abc import Iterator
from multiprocessing.pool import AsyncResult

import pytest

from verify.contracts.backend import register_backend
from verify.contracts.proofs import earlier, keep
from verify.contracts.registry import CANARY, Contract, of_profile
from verify.contracts.runner import Result, checking

PROCESSES = 2


def pytest_configure(config: pytest.Config) -> None:
    """The properties run on the backend that was asked for."""
    register_backend(config.getoption("--backend"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `contract` the contracts of the profile."""
    if "contract" in metafunc.fixturenames:
        contracts = of_profile(metafunc.config.getoption("--profile"))
        metafunc.parametrize("contract", contracts, ids=[contract.name for contract in contracts])


@pytest.fixture(scope="module")
def pending(request: pytest.FixtureRequest) -> Iterator[dict[str, "AsyncResult[Result]"]]:
    """The contracts of the selected tests, and always the canary, while they are being checked."""
    selected = [item.callspec.params.get("contract") for item in request.session.items if hasattr(item, "callspec")]
    contracts = {contract.name: contract for contract in (CANARY, *selected) if isinstance(contract, Contract)}
    contracts = {name: contract for name, contract in contracts.items() if _known(contract, request.config) is None}
    workers = min(PROCESSES, request.config.getoption("--workers"))
    with checking({name: (contract, None) for name, contract in contracts.items()}, workers) as results:
        yield results


@pytest.fixture
def canary(contract_results: dict[str, Result], pending: dict[str, "AsyncResult[Result]"]) -> Result:
    """What came of the known falsehood."""
    return contract_results.setdefault(CANARY.name, pending[CANARY.name].get())


@pytest.fixture
def result(
    pytestconfig: pytest.Config,
    contract: Contract,
    contract_results: dict[str, Result],
    pending: dict[str, "AsyncResult[Result]"],
) -> Result:
    """What came of the contract: its proof of an earlier run where that holds, and a new one is kept for later runs."""
    found = contract_results.get(contract.name) or _known(contract, pytestconfig)
    if found is None:
        found = pending[contract.name].get()
        keep(found, contract)
    return contract_results.setdefault(contract.name, found)


def _known(contract: Contract, config: pytest.Config) -> Result | None:
    """The proof of an earlier run; the deep profile proves everything anew."""
    return None if contract is CANARY or config.getoption("--profile") == "deep" else earlier(contract)
