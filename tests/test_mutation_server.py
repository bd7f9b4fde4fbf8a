"""A child sees its mutant whichever way it looks, and nothing else ever sees it."""

import base64
import json
import marshal
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.client import ENVIRONMENT, ForkServer, ServerError, parse_run
from mutants.held import blind, hold, outside
from mutants.making import make
from mutants.mutant import Mutant, Project
from mutants.wire import Budget, Order, Run, Setup
from tests.toy_cache.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT, in_take

ROOT = Path(PROJECT.root)
STACK = "tests.toy_cache.stack"
LEDGER = "tests.toy_cache.ledger"
FEWER = Mutant("fewer", "", "", STACK, "capacity", "4", "3")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer(PROJECT, [STACK]) as running:
        yield running


def order(server: ForkServer, mutant: Mutant | None, *stages: str) -> Order:
    budgets = dict.fromkeys(stages, Budget(1000, 0.25))
    if mutant is None:
        return Order(stages, budgets, at_least=len(stages))
    made = make([mutant], server.sources, PROJECT)[mutant.id]
    return Order(stages, budgets, len(stages), (), mutant.module, base64.b64encode(marshal.dumps(made.code)).decode())


def outcomes(run: Run) -> list[tuple[str, str]]:
    return [(stage.stage, stage.outcome) for stage in run.stages]


def processes_below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children]


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_mutant_is_seen_by_name_by_module_by_default_argument_and_by_subclass(server: ForkServer) -> None:
    run = server.run(order(server, FEWER, "bindings"))
    assert sorted(run.broken()) == ["TOY-DEFAULT", "TOY-FROM-IMPORT", "TOY-MODULE", "TOY-SUBCLASS"]


def test_the_next_child_sees_the_original_again(server: ForkServer) -> None:
    server.run(order(server, FEWER, "bindings"))
    assert outcomes(server.run(order(server, None, "bindings", "witness"))) == [
        ("bindings", "pass"),
        ("witness", "pass"),
    ]


def test_a_mutant_never_touches_the_disk(server: ForkServer) -> None:
    folder = ROOT / "tests" / "toy_cache"

    def everything() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = everything()
    server.run(order(server, FEWER, "bindings"))
    assert everything() == before


def test_a_mutant_runs_under_the_files_own_name(server: ForkServer) -> None:
    run = server.run(order(server, in_take("raises", "raise ValueError(__file__, __name__)"), "witness"))
    assert (run.stages[0].outcome, f"'{ROOT}/tests/toy_cache/stack.py', '{STACK}'" in run.stages[0].detail) == (
        "crash",
        True,
    )
    assert "(stack.py:17 in take)" in run.stages[0].detail


def test_only_checks_that_import_no_subject_are_imported_before_the_mutant() -> None:
    held = hold(PROJECT.root, (*PROJECT.subject, *PROJECT.checks), [PROJECT.suite])
    assert blind(held, [STACK]) == ["tests.toy_cache.ledger"]
    assert outside(held) == [
        "collections.abc",
        "collections.abc.Callable",
        "dataclasses",
        "dataclasses.dataclass",
        "os",
        "time",
    ]


def test_the_real_checks_that_see_the_subject_are_left_to_the_child() -> None:
    held = hold(str(ROOT), ("spec", "impl", "verify"), ["verify.suite", "verify.page_table_suite"])
    early = set(blind(held, ["impl.page_table"]))
    assert {"spec.page_table", "verify.refinement", "verify.suite", "impl.pool"} <= early
    assert not {"verify.page_table_suite", "verify.targets.shipped", "impl.page_table", "impl.kv_cache"} & early


def test_only_what_the_stages_of_a_run_may_import_is_read() -> None:
    project = Project(root=str(ROOT))
    with (
        ForkServer(project, ["impl.page_table"], ["exhaustive"]) as few,
        ForkServer(project, [STACK], ["source"]) as others,
    ):
        assert few.places == {"exhaustive": "verify.page_table_suite"}
        assert {"verify.page_table_suite", "impl.page_table", "verify.canonical"} <= few.sources.keys()
        assert not {"verify.machines", "verify.source.suite", "impl.compiler"} & few.sources.keys()
        assert "hypothesis" not in few.versions
        assert "verify.source.suite" in others.sources
        assert "verify.page_table_suite" not in others.sources


def test_a_subject_that_is_imported_early_stops_the_server(tmp_path: Path) -> None:
    (tmp_path / "early_subject.py").write_text("")
    (tmp_path / "sly_check.py").write_text("import importlib\nimportlib.import_module('early_' + 'subject')\n")
    project = replace(PROJECT, root=str(tmp_path), subject=("early_subject",), checks=("sly_check",), suite="sly_check")
    with pytest.raises(ServerError, match="imported before any mutant: early_subject"):
        ForkServer(project, ["early_subject"])


@pytest.mark.parametrize(
    ("source", "why"),
    [("def f(:\n", "SyntaxError"), ("raise ValueError('no')\n", "ValueError: no")],
)
def test_a_project_that_cannot_be_read_says_why(tmp_path: Path, source: str, why: str) -> None:
    (tmp_path / "odd_check.py").write_text(source)
    (tmp_path / "odd_subject.py").write_text("")
    project = replace(PROJECT, root=str(tmp_path), subject=("odd_subject",), checks=("odd_check",), suite="odd_check")
    with pytest.raises(ServerError, match=why):
        ForkServer(project, ["odd_subject"])


def test_a_server_that_a_mutant_kills_costs_that_run_alone() -> None:
    killer = in_take("kills", "import os; os.kill(os.getppid(), 9)")
    with ForkServer(PROJECT, [STACK]) as server:
        run = server.run(order(server, killer, "witness"))
        assert (run.ended, run.detail) == ("lost", "the fork server is gone: it ended by SIGKILL")
        assert outcomes(server.run(order(server, None, "witness"))) == [("witness", "pass")]


def while_imported(server: ForkServer, module: str, expression: str, mark: str = "") -> str:
    """What the expression comes to in a child that imports the module with it; other code by another mark."""
    text = f"{server.sources[module].source}\nimport os, sys\nMARK = {mark!r}\nraise ValueError({expression})\n"
    code = base64.b64encode(marshal.dumps(compile(text, f"{module}.py", "exec"))).decode()
    run = server.run(Order(("witness",), {"witness": Budget(None, 1.0)}, 1, (), module, code))
    assert run.stopped in ("invalid.import", "invalid.collect"), run
    return run.detail.removeprefix("ValueError: ").rpartition(" (")[0]


PARENT = "os.getppid()"


def test_from_the_second_mutant_in_a_row_on_what_cannot_see_its_module_is_imported_before_it() -> None:
    before = processes_below(os.getpid())
    with ForkServer(PROJECT, [STACK, LEDGER]) as server:
        (pid,) = set(processes_below(os.getpid())) - set(before)
        ledger_is_there = f"({PARENT}, {LEDGER!r} in sys.modules)"
        assert while_imported(server, STACK, ledger_is_there) == f"({pid}, False)"
        assert while_imported(server, STACK, ledger_is_there) == f"({pid}, False)", (
            "the same once more is no second one"
        )
        beside, there = while_imported(server, STACK, ledger_is_there, "another").strip("()").split(", ")
        assert (there, [int(beside)]) == ("True", processes_below(pid))
        assert while_imported(server, STACK, ledger_is_there) == f"({beside}, True)"
        assert while_imported(server, LEDGER, PARENT) == str(pid)
        assert processes_below(pid) == []
        assert while_imported(server, STACK, PARENT) == str(pid)
        assert outcomes(server.run(order(server, None, "witness"))) == [("witness", "pass")]
        assert while_imported(server, STACK, PARENT, "another") == str(pid)


def test_a_child_of_the_process_beside_has_no_pipe_more_than_one_of_the_server() -> None:
    with ForkServer(PROJECT, [STACK]) as server:
        open_files = [while_imported(server, STACK, "len(os.listdir('/proc/self/fd'))", mark) for mark in "abc"]
        assert len(set(open_files)) == 1


def test_beside_each_mutant_ends_as_it_does_alone() -> None:
    mutants = [mutant for mutant in (*MUTANTS, NO_OP, BROKEN, FEWER) if mutant.id != "stale"]
    stages = ("bindings", "witness", "exhaustive", "unit")

    def ends(run: Run) -> object:
        return run.ended, run.stopped, [replace(stage, cpu_seconds=0.0) for stage in run.stages]

    with ForkServer(PROJECT, [STACK]) as beside, ForkServer(PROJECT, [STACK]) as alone:
        for mutant in mutants:
            alone.run(order(alone, None, "witness"))
            assert ends(beside.run(order(beside, mutant, *stages))) == ends(alone.run(order(alone, mutant, *stages)))


def test_what_the_process_beside_uses_is_the_servers() -> None:
    with ForkServer(PROJECT, [STACK]) as server:
        used = [
            server.run(
                order(server, in_take("works", f"page = {number} * sum(range(2_000_000))"), "witness")
            ).cpu_seconds
            for number in range(4)
        ]
        assert min(used) > 0.01
        assert server.cpu_seconds() > sum(used)
    assert server.cpu_seconds() > sum(used)


def test_a_process_beside_that_a_mutant_kills_costs_that_run_alone() -> None:
    with ForkServer(PROJECT, [STACK]) as server:
        for killer in ("os.kill(os.getppid(), 9)", "os.kill(os.getppid(), signal.SIGKILL)"):
            run = server.run(order(server, in_take("kills", f"import os, signal; {killer}"), "witness"))
            assert (run.ended, run.detail) == ("lost", "the fork server is gone: it ended by SIGKILL")
            assert outcomes(server.run(order(server, NO_OP, "witness"))) == [("witness", "pass")]


def test_closing_the_server_ends_the_process_beside() -> None:
    before = processes_below(os.getpid())
    with ForkServer(PROJECT, [STACK]) as server:
        (pid,) = set(processes_below(os.getpid())) - set(before)
        for mutant in (NO_OP, BROKEN):
            server.run(order(server, mutant, "witness"))
        (beside,) = processes_below(pid)
    deadline = time.monotonic() + 20
    while alive(beside) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(beside)


def test_closing_the_server_leaves_no_process() -> None:
    before = processes_below(os.getpid())
    server = ForkServer(PROJECT, [STACK])
    (pid,) = set(processes_below(os.getpid())) - set(before)
    server.close()
    assert not alive(pid)


def test_an_engine_that_is_killed_leaves_no_process() -> None:
    engine = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "mutants",
            "--catalogue",
            "tests.toy_cache.catalogue",
            "--only",
            "spins",
            "--json",
            "/dev/null",
        ],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    below: list[int] = []
    while len(below) < 2 and time.monotonic() < deadline:
        below = processes_below(engine.pid)
        below += [child for server in below for child in processes_below(server)]
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    while any(map(alive, below)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(below) == 2
    assert not any(map(alive, below))


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"notes": [17], "value": None, "detail": "", "kind": "returned", "cpu_seconds": 0},
        {"notes": [{"stage": "s"}], "value": None, "detail": "", "kind": "returned", "cpu_seconds": 0},
        {
            "notes": [{"stage": "s", "outcome": "pass", "odd": 1}],
            "value": None,
            "detail": "",
            "kind": "died",
            "cpu_seconds": 0,
        },
        {
            "notes": [{"stage": "s", "outcome": "pass", "steps": "x"}],
            "value": 0,
            "detail": "",
            "kind": "died",
            "cpu_seconds": 0,
        },
        {"notes": [], "value": ["x"], "detail": "", "kind": "returned", "cpu_seconds": 0},
        {"notes": [], "value": {"stopped": "killed", "detail": ""}, "detail": "", "kind": "returned", "cpu_seconds": 0},
        {"notes": [], "value": None, "detail": 7, "kind": "returned", "cpu_seconds": 0},
    ],
)
def test_an_answer_of_another_shape_is_no_run(answer: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        parse_run(answer)


def test_an_order_survives_its_journey() -> None:
    sent = Order(("witness",), {"witness": Budget(None, 0.5)}, 1, (frozenset({"A", "B"}),), "m", "x = 1")
    assert Order.of_json(json.loads(json.dumps(sent.as_json()))) == sent


def test_what_the_server_is_told_arrives_whole() -> None:
    setup = Setup(replace(PROJECT, family_stages={"aside": ("unit", "witness")}), (STACK,), ("unit",))
    assert Setup.of_json(json.loads(json.dumps(setup.as_json()))) == setup


def test_memory_that_nobody_has_written_holds_the_same_in_every_child() -> None:
    script = """
import numpy as np

kept = [bytearray(size) for size in (24, 40, 100, 600, 5000, 70000) for _ in range(3)] + [np.arange(5000) for _ in range(9)]
del kept
print([np.empty(size, np.int8).tolist() for size in (8, 32, 48, 64, 100, 256, 600, 1024, 4000, 40000)])
"""

    def seen(environment: dict[str, str]) -> int:
        """What is there, in so many processes."""
        command = [sys.executable, "-c", script]
        return len(
            {subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout for _ in range(4)}
        )

    fixed = dict(os.environ) | ENVIRONMENT
    assert seen(fixed) == 1
    for name in ("MALLOC_PERTURB_", "GLIBC_TUNABLES"):
        assert seen({other: value for other, value in fixed.items() if other != name}) > 1
