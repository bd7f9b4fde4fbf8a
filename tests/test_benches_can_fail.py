"""Each bench fails for a fault of its module, each monitor rejects a hand-broken trace, and a bench without tests fails.

All faults are in one build of Icarus, where a run switches on one of them. The RTL's own assertions are left out of it: it
is the benches that have to see the fault.
"""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spec.isa import BUSY, DONE, ERROR, MOST_OUTSTANDING, RESET, START
from verify.benches.designs import design, dotted
from verify.benches.host_port import HostPortMonitor, StatusError
from verify.benches.memory_port import Edge, MemoryPortMonitor, ProtocolError, Request
from verify.benches.scoreboard import MismatchError, Scoreboard
from verify.benches.simulation import Case, Design, run, verdict
from verify.chips.planted_rtl import SELECT, RtlFault, plant

FAULTS: tuple[tuple[RtlFault, tuple[str, ...]], ...] = (
    (
        RtlFault("sums are cut off, not rounded", "ks_rq", "41'd1 << (sh_i - 6'd1)", "41'd0", "CHIP-INT"),
        ("ks_rq", "ks_cx", "decode_step"),
    ),
    (RtlFault("bytes end at 126", "ks_rq", "8'h7F", "8'h7E", "CHIP-INT"), ("ks_rq",)),
    (RtlFault("an index of 256 wraps", "ks_sm", "shifted > 40'd255", "1'b0", "CHIP-INT"), ("ks_sm",)),
    (RtlFault("a quotient bit too few", "ks_qdiv", "rem >= sub", "rem > sub", "CHIP-INT"), ("ks_qdiv", "ks_av")),
    (
        RtlFault(
            "the last of equal logits wins",
            "ks_pack",
            "$signed(data_i) > $signed(best_q)",
            "$signed(data_i) >= $signed(best_q)",
            "CHIP-INT",
        ),
        ("ks_pack",),
    ),
    (
        RtlFault("seven entries are full", "ks_queue", "occupancy_q == 4'd8", "occupancy_q == 4'd7", "CHIP-CYCLE"),
        ("ks_queue",),
    ),
    (
        RtlFault("ready is ignored", "ks_dma", "req_valid_o & req_ready_i", "req_valid_o", "CHIP-CYCLE"),
        ("ks_dma", "memory_port"),
    ),
    (
        RtlFault(
            "fifteen reads are the most", "ks_dma", "outstanding_q != 5'd16", "outstanding_q != 5'd15", "CHIP-CYCLE"
        ),
        ("ks_dma", "memory_port", "cycles"),
    ),
    (
        RtlFault("writes wait for no read", "ks_dma", "outstanding_q == 5'd0", "1'b1", "CHIP-QUIET"),
        ("memory_port", "cycles"),
    ),
    (
        RtlFault(
            "the row before the owed one waits",
            "ks_hazard",
            "{1'b0, cx_row_i}",
            "{1'b0, cx_row_i} + 11'd1",
            "CHIP-CHASE",
        ),
        ("ks_hazard", "hazards"),
    ),
    (
        RtlFault("a load overtakes an op", "ks_seq", "~queue_full_i & ~load_hold_i", "~queue_full_i", "CHIP-LOAD"),
        ("ks_seq", "hazards", "cycles"),
    ),
    (
        RtlFault("a store overtakes an op", "ks_seq", "~queue_full_i & ~store_hold_i", "~queue_full_i", "CHIP-STORE"),
        ("ks_seq", "hazards", "cycles"),
    ),
    (
        RtlFault("an op overtakes moves", "ks_seq", "~cx_active_i & ~result_hold_i", "~cx_active_i", "CHIP-RESULT"),
        ("ks_seq", "hazards", "cycles"),
    ),
    (
        RtlFault("a STREG overtakes an op", "ks_seq", "~cx_active_i & ~queue_full_i", "~queue_full_i", "CHIP-IDLE"),
        ("ks_seq", "hazards", "cycles"),
    ),
    (
        RtlFault("the last row is out of range", "ks_check", "row_end > 33'd1024", "row_end > 33'd1023", "spec"),
        ("ks_check",),
    ),
    (RtlFault("a busy chip takes writes", "ks_host", "h_we_i & ~busy_q", "h_we_i", "ports"), ("host_port",)),
    (
        RtlFault("the page at hand is fetched again", "ks_walk", "i + {15'd0, left}", "i", "CHIP-GATHER"),
        ("ks_walk", "memory_port", "gather"),
    ),
    (
        RtlFault("an entry is late by a cycle", "ks_walk", "arrive | next_valid_q", "next_valid_q", "CHIP-GATHER"),
        ("ks_walk", "gather"),
    ),
    (
        RtlFault(
            "bit 30 of an entry is ignored",
            "ks_walk",
            "entry_q[30:16] != 15'd0",
            "entry_q[29:16] != 14'd0",
            "CHIP-ERROR",
        ),
        ("ks_walk", "gather"),
    ),
    (
        RtlFault("a fault names the oldest descriptor", "ks_queue", "pc_q[cur_q]", "pc_q[head_q]", "CHIP-ERROR"),
        ("ks_queue",),
    ),
    (
        RtlFault("the watchdog is silent", "ks_watchdog", "(&quiet_q) & ~progress", "1'b0", "CHIP-WATCH"),
        ("ks_watchdog", "soft_reset"),
    ),
    (
        RtlFault("an issue is no progress", "ks_watchdog", "issue_i | accept_i", "accept_i", "CHIP-WATCH"),
        ("ks_watchdog",),
    ),
    (
        RtlFault("a flush takes the request back", "ks_dma", "(flush_i | stale_q)", "stale_q", "CHIP-RESET"),
        ("ks_dma", "soft_reset"),
    ),
    (
        RtlFault("an answer to a forgotten read counts", "ks_dma", "~is_table & ~drain_o", "~is_table", "CHIP-RESET"),
        ("ks_dma",),
    ),
    (
        RtlFault(
            "a draining chip runs on",
            "ks_seq",
            "~drain_i & (error ? idle : ready)",
            "error ? idle : ready",
            "CHIP-RESET",
        ),
        ("ks_seq", "soft_reset"),
    ),
)
ENOUGH = (
    r"bench_(ks_\w+|host_port)\.|bench_(gather|soft_reset)\.an?_"
    r"|traffic=(always|alternate)$|bench_cycles\.\w*(waits|latency/latency=40$)|sixteen"
)
"""Of the benches of the whole chip, what sees these faults; the rest sees them again, on other memories."""
BENCHES = sorted({bench for _, benches in FAULTS for bench in benches})


def bench(name: str) -> str:
    """The bench module of that short name."""
    return dotted(f"bench_{name}")


@pytest.fixture(scope="module")
def faulty(icarus: object, tmp_path_factory: pytest.TempPathFactory) -> Design:
    """The benches' design over sources that have all faults and no assertions."""
    folder = plant([fault for fault, _ in FAULTS], tmp_path_factory.mktemp("rtl")).parent
    return dataclasses.replace(design(folder), defines={"SYNTHESIS": 1})


@pytest.mark.parametrize(
    "number", range(1, len(FAULTS) + 1), ids=[fault.title.replace(" ", "-") for fault, _ in FAULTS]
)
def test_a_fault_fails_the_benches_of_its_module(faulty: Design, number: int) -> None:
    fault, names = FAULTS[number - 1]
    cases = run("icarus", faulty, [bench(name) for name in names], [f"+{SELECT}={number}"], ENOUGH)
    passed = [name for name in names if not verdict(bench(name), cases)]
    assert not passed, f"{fault.title}: {passed} passed"


def test_without_a_fault_the_same_benches_pass(faulty: Design) -> None:
    cases = run("icarus", faulty, [bench(name) for name in BENCHES], only=ENOUGH)
    assert [verdict(bench(name), cases) for name in BENCHES] == [""] * len(BENCHES)


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
