"""pytest for the product: the profile, what each search covered, and the closing summary."""

import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import impl
import spec
from verify.bounds import FAR_SCOPES, PROFILES, Profile
from verify.chips import available
from verify.chips.available import icarus, opened, verilator  # noqa: F401, fixtures
from verify.contracts.backend import BACKENDS
from verify.contracts.registry import of_profile
from verify.contracts.runner import Result
from verify.contracts.table import render
from verify.hypothesis_profile import load_profile
from verify.remote.children import BrokenTargetError
from verify.remote.choice import OPTIONS, Choice, TargetOptions, WrongOptionsError, chosen, positive_integer
from verify.situations import possible
from verify.summary import Summary, render_summary

ROOT = Path(__file__).resolve().parent.parent
FIRST = ("test_replay.py", "test_contracts.py")
SUMMARY: pytest.StashKey[Summary] = pytest.StashKey()
CONTRACTS: pytest.StashKey[dict[str, Result]] = pytest.StashKey()
CHOICE: pytest.StashKey[Choice] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """--profile says how far the searches look, --workers over how many processes, --target what is checked."""
    group = parser.getgroup("kvproof")
    group.addoption("--profile", choices=sorted(PROFILES), default="ci", help="how far the searches look (ci)")
    group.addoption(
        "--workers",
        type=positive_integer,
        default=os.cpu_count() or 1,
        help="processes of an exhaustive search (all cores)",
    )
    group.addoption(
        "--backend", choices=BACKENDS, default=BACKENDS[0], help="what finds examples for the contracts' properties"
    )
    available.add_option(group)
    for option in OPTIONS:
        group.addoption(option.flag, type=option.kind, metavar=option.metavar, help=option.help)


def pytest_configure(config: pytest.Config) -> None:
    """Stop when the packages come from another tree: a check of something else would look like a check of this one."""
    for package in (spec, impl):
        if Path(package.__file__ or "").resolve().parent.parent != ROOT:
            raise pytest.UsageError(
                f"{package.__name__} comes from {package.__file__}, not from {ROOT}: run pytest from there"
            )
    load_profile()
    config.addinivalue_line(
        "markers", "any_target: runs on whatever --target names; the others are of the cache that ships"
    )
    given = TargetOptions(**{option.field: config.getoption(option.flag) for option in OPTIONS})
    running = ExitStack()
    try:
        choice = running.enter_context(chosen(given, config.getoption("--workers")))
    except (WrongOptionsError, BrokenTargetError) as error:
        raise pytest.UsageError(str(error)) from None
    config.add_cleanup(running.close)
    config.stash[CHOICE] = choice
    profile, able = PROFILES[config.getoption("--profile")], possible(choice.capabilities)
    config.stash[SUMMARY] = Summary(profile, tuple(choice.lines()), able)
    config.stash[CONTRACTS] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `scope` and `induction_scope` the scopes of the profile."""
    profile = PROFILES[metafunc.config.getoption("--profile")]
    reachable = FAR_SCOPES[profile.name] if metafunc.config.stash[CHOICE].far else profile.scopes
    for name, scopes in (("scope", reachable), ("induction_scope", profile.induction)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, scopes, ids=str)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Replay saved witnesses first: what failed before is the likeliest to fail, and takes microseconds. Contracts come next.

    They take longest, and what a solver finds in which time depends on what its process has done before.

    With --target, leave out what is of the cache that ships.
    """
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))
    if config.stash[CHOICE].far:
        left_out = [item for item in items if item.get_closest_marker("any_target") is None]
        config.hook.pytest_deselected(items=left_out)
        config.stash[SUMMARY].deselected = len(left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With -n, hand what this process covered to the one that started it and shows the summary."""
    handed = getattr(session.config, "workeroutput", None)
    if handed is not None:
        handed["covered"] = pickle.dumps((session.config.stash[SUMMARY], session.config.stash[CONTRACTS]))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take in what a process of -n covered; one that was lost hands nothing over, and fails the run."""
    if "covered" in getattr(node, "workeroutput", {}):
        summary, contracts = pickle.loads(node.workeroutput["covered"])
        node.config.stash[SUMMARY].add(summary)
        node.config.stash[CONTRACTS].update(contracts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the verdict of each contract, and say what was searched, what was reached, and what was not checked."""
    width = max(120, shutil.get_terminal_size().columns)
    results = config.stash[CONTRACTS]
    verdicts = render(of_profile(config.getoption("--profile")), results, width)
    covered = render_summary(config.stash[SUMMARY], width)
    for title, text in (("contracts: CrossHair, all paths", verdicts), ("what was checked", covered)):
        if text:
            terminalreporter.section(title)
            terminalreporter.write_line(text)


@pytest.fixture(scope="session")
def profile(pytestconfig: pytest.Config) -> Profile:
    """The profile of this run."""
    return PROFILES[pytestconfig.getoption("--profile")]


@pytest.fixture(scope="session")
def summary(pytestconfig: pytest.Config) -> Summary:
    """Where a search says what it covered."""
    return pytestconfig.stash[SUMMARY]


@pytest.fixture(scope="session")
def contract_results(pytestconfig: pytest.Config) -> dict[str, Result]:
    """Where the contracts' verdicts go, by name."""
    return pytestconfig.stash[CONTRACTS]


@pytest.fixture(scope="session")
def choice(pytestconfig: pytest.Config) -> Choice:
    """What is checked."""
    return pytestconfig.stash[CHOICE]


@pytest.fixture(scope="session")
def workers(pytestconfig: pytest.Config) -> int:
    """Processes for an exhaustive search."""
    return int(pytestconfig.getoption("--workers"))


@pytest.fixture
def progress_line(request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Shows one line of progress while a long search runs, on a terminal only."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        yield lambda text: None
        return
    yield lambda text: reporter.rewrite(text, erase=True)
    reporter.rewrite("", erase=True)
