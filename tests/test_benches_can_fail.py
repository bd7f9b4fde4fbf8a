"""Each bench fails for a fault of its module, each monitor rejects a hand-broken trace, and a bench without tests fails.

All faults are in one build of Icarus, where a run switches on one of them. The RTL's own assertions are left out of it: it
is the benches that have to see the fault.
"""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spec.isa import BUSY, DONE, ERROR, MOST_OUTSTANDING, RESET, START
from tests.bench_faults import FAULTS
from verify.benches.designs import design, dotted
from verify.benches.host_port import HostPortMonitor, StatusError
from verify.benches.memory_port import Edge, MemoryPortMonitor, ProtocolError, Request
from verify.benches.scoreboard import MismatchError, Scoreboard
from verify.benches.simulation import Case, Design, run, verdict
from verify.chips.planted_rtl import SELECT, plant

TESTS = sorted({test for _, tests in FAULTS for test in tests})


def bench(name: str) -> str:
    """The bench module of that short name, or its test."""
    return dotted(f"bench_{name}")


def outcomes(faulty: Design, tests: Sequence[str], plusargs: Sequence[str] = ()) -> dict[str, str]:
    """How each of these tests failed, or an empty text for one that passed."""
    benches = sorted({bench(test.partition(".")[0]) for test in tests})
    only = rf"\.bench_({'|'.join(map(re.escape, tests))})$"
    return {f"{case.module}.{case.name}": case.failure for case in run("icarus", faulty, benches, plusargs, only)}


@pytest.fixture(scope="module")
def faulty(icarus: object, tmp_path_factory: pytest.TempPathFactory) -> Design:
    """The benches' design over sources that have all faults and no assertions."""
    folder = plant([fault for fault, _ in FAULTS], tmp_path_factory.mktemp("rtl")).parent
    return dataclasses.replace(design(folder), defines={"SYNTHESIS": 1})


@pytest.mark.parametrize(
    "number", range(1, len(FAULTS) + 1), ids=[fault.title.replace(" ", "-") for fault, _ in FAULTS]
)
def test_a_fault_fails_the_benches_of_its_module(faulty: Design, number: int) -> None:
    fault, tests = FAULTS[number - 1]
    found = outcomes(faulty, tests, [f"+{SELECT}={number}"])
    assert sorted(found) == sorted(map(bench, tests))
    passed = [test for test, failure in found.items() if not failure]
    assert not passed, f"{fault.title}: {passed} passed"


def test_without_a_fault_the_same_tests_pass(faulty: Design) -> None:
    assert outcomes(faulty, TESTS) == dict.fromkeys(map(bench, TESTS), "")


def test_a_bench_of_which_no_test_ran_has_not_passed() -> None:
    cases = [Case(bench("ks_rq"), "rounds", ""), Case(bench("ks_sm"), "sums", "off by one")]
    assert verdict(bench("ks_rq"), cases) == ""
    assert verdict(bench("ks_sm"), cases) == "sums: off by one"
    assert verdict(bench("ks_mac"), cases) == f"no test of {bench('ks_mac')} ran"


def nothing() -> Any:
    """Stands for pins and time where a trace is checked that no simulator made."""
    return SimpleNamespace(samples=[], cycle=0)


READ, WRITE = Request(False, 8, 0), Request(True, 8, 5)
OTHER_READ, OTHER_WRITE = READ._replace(address=9), WRITE._replace(data=6)


def trace(*edges: tuple[Request | None, bool, bool]) -> list[Edge]:
    """Edges of request, acceptance and answer."""
    return [Edge(cycle, request, ok, 0 if answer else None) for cycle, (request, ok, answer) in enumerate(edges)]


@pytest.mark.parametrize(
    "edges",
    [
        pytest.param(trace((READ, False, False), (OTHER_READ, True, False)), id="address changes before ready"),
        pytest.param(trace((WRITE, False, False), (OTHER_WRITE, False, False)), id="data changes before ready"),
        pytest.param(trace((READ, False, False), (None, False, False)), id="a request is taken back"),
        pytest.param(trace((READ, False, False), (WRITE, False, False)), id="a read becomes a write"),
        pytest.param(trace((READ, True, False), (WRITE, False, False)), id="a write with a read outstanding"),
        pytest.param(trace((READ._replace(data=1), True, False)), id="a read with data"),
        pytest.param(trace(*[(READ, True, False)] * (MOST_OUTSTANDING + 1)), id="seventeen reads outstanding"),
    ],
)
def test_the_memory_monitor_rejects(edges: list[Edge]) -> None:
    monitor = MemoryPortMonitor(nothing(), nothing())
    for edge in edges[:-1]:
        monitor.check(edge)
    with pytest.raises(ProtocolError):
        monitor.check(edges[-1])


def test_the_memory_monitor_takes_what_is_allowed() -> None:
    monitor = MemoryPortMonitor(nothing(), nothing())
    reads = [(READ, True, False)] * MOST_OUTSTANDING
    answers = [(None, False, True)] * MOST_OUTSTANDING
    for edge in trace((WRITE, False, False), (WRITE, True, False), *reads, *answers, (WRITE, True, False)):
        monitor.check(edge)
    assert (monitor.most_outstanding, monitor.outstanding, monitor.held) == (MOST_OUTSTANDING, 0, 1)


@pytest.mark.parametrize(
    "statuses",
    [
        pytest.param([BUSY | DONE], id="busy and done"),
        pytest.param([0, ERROR], id="an error that is not done"),
        pytest.param([0, DONE | ERROR], id="an error without a code"),
        pytest.param([0, DONE | 4 << 8], id="a code without an error"),
        pytest.param([0, BUSY], id="busy without a start"),
        pytest.param([BUSY, 0], id="an end that is not done"),
        pytest.param([DONE, 0], id="done goes without a start"),
        pytest.param([0x10], id="a bit that is none"),
    ],
)
def test_the_host_monitor_rejects(statuses: list[int]) -> None:
    monitor = HostPortMonitor(nothing(), nothing())
    for cycle, status in enumerate(statuses[:-1]):
        monitor.check(cycle, status)
    with pytest.raises(StatusError):
        monitor.check(len(statuses), statuses[-1])


def test_the_host_monitor_knows_a_soft_reset() -> None:
    monitor = HostPortMonitor(nothing(), nothing())
    monitor.check(0, BUSY)
    monitor.wrote(0, RESET | START)
    monitor.check(1, 0)
    monitor.wrote(1, START)
    monitor.check(2, BUSY)
    monitor.wrote(2, RESET)
    with pytest.raises(StatusError):
        monitor.check(3, BUSY)


def test_the_host_monitor_takes_runs() -> None:
    monitor = HostPortMonitor(nothing(), nothing())
    for cycle, status in enumerate([BUSY, BUSY, DONE, DONE]):
        monitor.check(cycle, status)
    assert monitor.busy_cycles == 2


def test_a_scoreboard_rejects_what_differs_what_is_too_much_and_what_is_missing() -> None:
    scoreboard: Scoreboard[int] = Scoreboard("number")
    scoreboard.expect([1, 2])
    scoreboard.see(1)
    with pytest.raises(MismatchError):
        scoreboard.finish()
    with pytest.raises(MismatchError):
        scoreboard.see(3)
    with pytest.raises(MismatchError):
        scoreboard.see(4)


def test_the_design_is_built_anew_for_another_source(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
        for source in design().sources:
            (folder / source.name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    assert design(before).generated == design(after).generated
    (after / "ks_rq.v").write_text((after / "ks_rq.v").read_text(encoding="utf-8").replace("acc_i", "sum_i"))
    assert design(before).generated != design(after).generated
