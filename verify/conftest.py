"""pytest for the product: the profile, what each search covered, and the closing summary."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import impl
import spec
from verify.bounds import PROFILES, Profile
from verify.hypothesis_profile import load_profile
from verify.summary import Summary, render_summary

ROOT = Path(__file__).resolve().parent.parent
SUMMARY: pytest.StashKey[Summary] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """--profile says how far the searches look, --workers over how many processes."""
    group = parser.getgroup("kvproof")
    group.addoption("--profile", choices=sorted(PROFILES), default="ci", help="how far the searches look (ci)")
    group.addoption(
        "--workers", type=positive, default=os.cpu_count() or 1, help="processes of an exhaustive search (all cores)"
    )


def positive(text: str) -> int:
    """A number of at least one."""
    number = int(text)
    if number < 1:
        raise ValueError(f"{number} is not at least 1")
    return number


def pytest_configure(config: pytest.Config) -> None:
    """Stop when the packages come from another tree: a check of something else would look like a check of this one."""
    for package in (spec, impl):
        if Path(package.__file__ or "").resolve().parent.parent != ROOT:
            raise pytest.UsageError(
                f"{package.__name__} comes from {package.__file__}, not from {ROOT}: run pytest from there"
            )
    load_profile()
    config.stash[SUMMARY] = Summary(PROFILES[config.getoption("--profile")])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `scope` and `induction_scope` the scopes of the profile."""
    profile = PROFILES[metafunc.config.getoption("--profile")]
    for name, scopes in (("scope", profile.scopes), ("induction_scope", profile.induction)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, scopes, ids=str)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Replay saved witnesses first: what failed before is the likeliest to fail, and takes microseconds."""
    items.sort(key=lambda item: item.path.name != "test_replay.py")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was searched, what was reached, and what was not checked."""
    text = render_summary(config.stash[SUMMARY], width=max(120, shutil.get_terminal_size().columns))
    if text:
        terminalreporter.section("what was checked")
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
