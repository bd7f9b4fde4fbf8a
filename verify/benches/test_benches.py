"""The cocotb benches in both simulators: one test a bench module, which fails with what its cocotb tests reported."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from verify.benches.designs import RTL, UNITS, WHOLE, benches, design, dotted
from verify.benches.simulation import SIMULATORS, Case, Simulator, run, verdict

RUNS = [(simulator, group) for simulator in reversed(SIMULATORS) for group in (WHOLE, UNITS)]
"""A process each; what is built longest goes first."""
SELECTED = [
    (simulator, group, bench) for simulator in SIMULATORS for group in (UNITS, WHOLE) for bench in benches(group)
]
AT_ONCE = 2

Reports = Callable[[Simulator, str], list[Case]]


def named(selected: tuple[Simulator, str, str]) -> str:
    """icarus-ks_rq."""
    return f"{selected[0]}-{selected[2].removeprefix('bench_')}"


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest) -> Iterator[Reports]:
    """The cases of one process of a simulator; all processes that the selected tests need run beside each other."""
    marked = [item.callspec.params.get("selected") for item in request.session.items if hasattr(item, "callspec")]
    needed = {selected[:2] for selected in marked if selected in SELECTED}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {
            (simulator, group): pool.submit(run, simulator, design(), [dotted(bench) for bench in benches(group)])
            for simulator, group in RUNS
            if (simulator, group) in needed
        }
        yield lambda simulator, group: futures[simulator, group].result()
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("selected", SELECTED, ids=named)
def test_the_bench_passes(selected: tuple[Simulator, str, str], request: pytest.FixtureRequest) -> None:
    simulator, group, bench = selected
    request.getfixturevalue(simulator)
    reports: Reports = request.getfixturevalue("reports")
    wrong = verdict(dotted(bench), reports(simulator, group))
    if wrong:
        pytest.fail(f"{bench} in {simulator}\n\n{wrong}", pytrace=False)


def test_every_module_of_the_rtl_has_a_bench_of_its_name() -> None:
    assert [f"bench_{path.stem}" for path in sorted(RTL.glob("ks_*.v"))] == benches(UNITS)
