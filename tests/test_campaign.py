"""Campaigns: a planted fault is one finding, nothing that kills a run changes what the file says, and wrong files are refused."""

import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from impl.command import CommandError, run
from impl.exit_codes import ExitCode
from tests import planted, planted_managers
from tests.test_chip_hazards import WITHOUT
from verify import cli
from verify.campaign import searches
from verify.campaign.executors import Place
from verify.campaign.plan import Order, units_of
from verify.campaign.run import Bounds, go_on
from verify.campaign.shapes import rank, shape
from verify.campaign.status import file_of, folder_of, save_witnesses
from verify.campaign.store import create, reading, writing
from verify.campaign.unit import Unit, scope_from_text
from verify.campaign.work import Task, work
from verify.conformance.targets import TARGETS, KnownTarget, Recipe
from verify.fuzz.witness import from_json as program_from_json
from verify.lockstep import replay
from verify.managers.lockstep import replay as replay_manager
from verify.remote.choice import TargetOptions
from verify.remote.new_target import TEMPLATES
from verify.sources import sources
from verify.target import Factory, Target
from verify.targets.shipped import ShippedCache
from verify.witness_files import load, load_of_manager

SMALL = ("2,1,2,2", "2,2,1,4", "2,1,1,3", "3,1,1,3")
ORDER = Order(("shipped",), ("explore",), None, tuple(map(scope_from_text, SMALL)), seeds=0)
BOUNDS = Bounds(cpu_seconds=60, memory=2048)
SERIAL, TWO = Place(), Place("process", 2)
LEAKING = """import os, time
from adapter import Adapter


class Leaking(Adapter):
    def __init__(self, pages, page_size):
        super().__init__(pages, page_size)
        try:
            os.close(os.open("first", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            while not os.path.exists("go") and os.environ.get("FIRST") is None:
                time.sleep(0.01)
        os.environ["FIRST"] = "this process"

    def append(self, request, tokens):
        answer = super().append(request, tokens)
        if answer is None and len(tokens) > 1:
            self.manager.free.pop() if self.manager.free else None
        return answer
"""
"""Loses a page of every append of several rows. Until there is a file `go`, only one process gets as far as to have a pool."""

Plant = Callable[[Factory], None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Has a faulty page table take the place of the one that ships, in this process and those forked from it."""

    def put(factory: Factory) -> None:
        monkeypatch.setitem(searches.PAGE_TABLES, "shipped", factory)

    return put


def begun(path: Path, order: Order = ORDER) -> Path:
    """The file of a campaign that was begun."""
    create(path, {"order": order.to_json(), "sources": sources()}, units_of(order))
    return path


def gone_on(path: Path, place: Place = SERIAL, bounds: Bounds = BOUNDS) -> Path:
    """The file, after a run."""
    with writing(path) as store:
        go_on(store, place, bounds)
    return path


def content(path: Path) -> list[Any]:
    """All that the tables have, without times and in an order that does not depend on them."""
    with closing(sqlite3.connect(path)) as connection:
        units = connection.execute("SELECT number, target, kind, place, seed, work, state, note, tried FROM unit")
        findings = connection.execute(
            "SELECT target, rules, shape, repeats, witness, group_concat(unit, ' ') FROM (SELECT * FROM finding JOIN sighting "
            "ON finding = id ORDER BY finding, unit) GROUP BY id"
        )
        return [sorted(units), sorted(findings)]


def command(path: Path, *arguments: str) -> Result:
    """`python -m verify campaign` on a small plan; errors are raised."""
    words = [
        "campaign",
        str(path),
        "--target",
        "shipped",
        "--kind",
        "explore",
        "--profile",
        "none",
        "--scope",
        SMALL[0],
    ]
    return CliRunner().invoke(cli.main, [*words, "--executor", "serial", *arguments], standalone_mode=False)


def test_a_planted_fault_is_one_finding_with_its_shortest_witness_that_replays(plant: Plant, tmp_path: Path) -> None:
    plant(planted.Leaking)
    path = begun(tmp_path / "a.db", replace(ORDER, kinds=("explore", "random"), seeds=2))
    gone_on(path, TWO)
    with reading(path) as store:
        (found,) = store.findings()
        save_witnesses(path, store)
    assert (found.units, found.repeats) == (6, True)
    assert found.shape == "new a; append a; release a"
    witness = load(file_of(path, found))
    # One row on the smallest pool: neither rows nor pages can be left out.
    assert [len(getattr(operation, "tokens", ())) for operation in witness.operations] == [0, 1, 0]
    assert (witness.pages, witness.page_size) == (2, 1)
    again = replay(witness.operations, witness.pages, witness.page_size, planted.Leaking)
    assert {difference.rule for difference in again.differences} == set(witness.rules) == set(found.rules)


def test_a_fault_of_the_prefix_cache_met_in_several_ways_is_one_line_with_the_shortest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "PREFIX_CACHE", planted_managers.StaysPublished)
    units = [unit for unit in units_of(Order(("prefix",), ("explore",), seeds=0)) if "window" in unit.place]
    path = tmp_path / "a.db"
    create(path, {"order": ORDER.to_json(), "sources": sources()}, units)
    gone_on(path)
    with reading(path) as store:
        found = store.findings()
    assert {one.rules for one in found} == {("PRE-PUBLISH",)}
    assert len({one.shape for one in found}) == len(found) > 1
    ended = CliRunner().invoke(cli.main, ["campaign", "--status", str(path)], standalone_mode=False)
    (line,) = [line.split() for line in ended.output.splitlines() if line.split()[:2] == ["prefix", "PRE-PUBLISH"]]
    assert line[2:5] == [str(len(found)), str(len(units)), "3"]
    manager = load_of_manager(file_of(path, found[0]))
    again = replay_manager(manager.operations, manager.configuration.traits, planted_managers.StaysPublished)
    assert [difference.rule for difference in again.differences] == ["PRE-PUBLISH"]


def test_a_fault_of_the_cycle_model_is_a_program_of_a_few_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    _, module, name, without = WITHOUT[0]
    monkeypatch.setattr(module, name, without)
    result = work(Task(Unit(1, "chip", "fuzz", "", 0, {}), sources(), 60, 2048))
    (found,) = result.found
    assert shape(found["witness"]) == "load; dotl"
    assert program_from_json(found["witness"]).rules == tuple(found["witness"]["rules"])


def test_the_shapes_of_other_ids_and_sizes_are_one_and_those_of_other_operations_are_not() -> None:
    def witness(*operations: dict[str, Any], pages: int = 2) -> dict[str, Any]:
        return {"pages": pages, "rules": ["PT-LEAK"], "operations": list(operations)}

    new, fork = {"op": "new", "request": 4, "sinks": 0}, {"op": "fork", "request": 4, "to": 0, "at": 1}
    one = witness(new, {"op": "append", "request": 4, "tokens": [1, 2]}, fork)
    other = witness(
        {**new, "request": 0},
        {"op": "append", "request": 0, "tokens": [9]},
        {**fork, "request": 0, "to": 5, "at": 0},
        pages=3,
    )
    assert shape(one) == shape(other) == "new a; append a; fork a b"
    assert shape(witness(new, {**fork, "to": 4})) == "new a; fork a a"
    assert rank(other, True) < rank(one, True) < rank(witness(new), False)


def test_a_campaign_that_is_killed_goes_on_to_the_same_content(plant: Plant, tmp_path: Path) -> None:
    plant(planted.Leaking)
    whole = gone_on(begun(tmp_path / "whole.db"))
    path = begun(tmp_path / "killed.db")

    def until_killed() -> None:
        def kill(unit: Unit) -> None:
            if unit.number == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        with writing(path) as store:
            go_on(store, SERIAL, BOUNDS, kill)

    process = multiprocessing.get_context("fork").Process(target=until_killed)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with reading(path) as store:
        assert [unit.number for unit in store.open_units()] == [3, 4]
    assert content(path) != content(whole)
    assert content(gone_on(path, TWO)) == content(whole)


def test_dask_workers_one_of_them_killed_come_to_the_content_of_a_serial_run(tmp_path: Path) -> None:
    distributed: Any = pytest.importorskip("distributed")
    shutil.copy(TEMPLATES / "adapter.py.txt", tmp_path / "adapter.py")
    (tmp_path / "leaking.py").write_text(LEAKING)
    order = replace(ORDER, targets=("leaking:Leaking",), options=TargetOptions(path=str(tmp_path)))
    path = begun(tmp_path / "dask.db", order)
    (tmp_path / "first").unlink(missing_ok=True)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        writing(path) as store,
    ):
        killed: list[int] = []

        def kill(unit: Unit) -> None:
            if not killed:
                known = cluster.scheduler.workers
                busy = [nanny for nanny in cluster.workers.values() if known[nanny.worker_address].processing]
                killed.append(busy[0].pid)
                os.kill(killed[0], signal.SIGKILL)
                (tmp_path / "go").touch()

        assert go_on(store, Place("dask", 2, cluster.scheduler_address), BOUNDS, kill) == 0
    serial = gone_on(begun(tmp_path / "serial.db", order))
    assert content(path) == content(serial)
    assert content(serial)[1]


def test_a_unit_that_hangs_is_unknown_and_is_searched_again_on_request(plant: Plant, tmp_path: Path) -> None:
    plant(planted.Hanging)
    path = tmp_path / "a.db"
    ended = command(path, "--unit-seconds", "1")
    assert ended.return_value == ExitCode.UNKNOWN
    assert "unknown: shipped, explore, 2 pages of 1, 2 requests, length 2: runaway.cpu" in ended.output
    plant(ShippedCache)
    assert command(path).return_value == ExitCode.UNKNOWN
    assert command(path, "--retry").return_value == ExitCode.PASS


def test_the_command_ends_as_the_campaign_stands_and_says_how_to_see_a_finding_again(
    plant: Plant, tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    assert command(path).return_value == ExitCode.PASS
    plant(planted.Leaking)
    assert command(path, "--new").return_value == ExitCode.FAIL
    shutil.rmtree(folder_of(path))
    ended = CliRunner().invoke(cli.main, ["campaign", "--status", str(path)], standalone_mode=False)
    assert ended.return_value == ExitCode.FAIL
    (witness,) = folder_of(path).iterdir()
    assert f"PT-LEAK, PT-PAGES again: python -m verify replay {witness}" in ended.output
    again = CliRunner().invoke(cli.main, ["replay", str(witness)], standalone_mode=False)
    assert again.return_value == ExitCode.PASS  # on the cache that ships: the fault was only planted here


def test_an_interrupted_run_ends_with_130_and_leaves_what_it_kept(plant: Plant, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    words = ["campaign", str(path), "--target", "shipped", "--kind", "explore", "--profile", "none"]
    words += [word for scope in SMALL for word in ("--scope", scope)]

    def slow(pages: int, page_size: int) -> Target:
        if pages == 3:
            os.kill(os.getppid(), signal.SIGINT)  # the unit is searched in a child of the run
            time.sleep(60)
        return ShippedCache(pages, page_size)

    plant(slow)
    process = multiprocessing.get_context("fork").Process(target=run, args=(cli.main, [*words, "--executor", "serial"]))
    process.start()
    process.join()
    assert process.exitcode == ExitCode.INTERRUPTED
    with reading(path) as store:
        assert [unit.number for unit in store.open_units()] == [4]


def test_no_unit_is_begun_when_the_time_is_over(tmp_path: Path) -> None:
    path = gone_on(begun(tmp_path / "a.db"), bounds=replace(BOUNDS, minutes=1e-9))
    with reading(path) as store:
        assert len(list(store.open_units())) == len(SMALL)


def refusal(path: Path, *arguments: str) -> str:
    """What the command says of a file that it does not take; the file stays as it is."""
    before = path.read_bytes()
    ended = command(path, *arguments)
    assert isinstance(ended.exception, CommandError), ended.output
    assert ended.exception.code is ExitCode.BROKEN
    assert path.read_bytes() == before
    return str(ended.exception)


def test_a_file_that_is_no_campaign_is_refused_and_never_overwritten(tmp_path: Path) -> None:
    foreign, text, empty = tmp_path / "foreign.db", tmp_path / "text.db", tmp_path / "empty.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE unit (number INTEGER)")
    text.write_text("no database, and long enough to be looked at " * 10)
    empty.touch()
    for path in (foreign, text, empty):
        assert "is no file of a campaign" in refusal(path)
        assert "is no file of a campaign" in refusal(path, "--new")


def test_a_full_disk_is_one_clear_error_and_keeps_whole_units(tmp_path: Path) -> None:
    path = begun(tmp_path / "a.db")
    result = work(Task(next(iter(units_of(ORDER))), sources(), 60, 2048))
    with (
        pytest.raises(CommandError, match="cannot be read or written: database or disk is full"),
        writing(path) as store,
    ):
        store._connection.execute("PRAGMA max_page_count = 1")  # SQLite takes what there is
        for unit in units_of(ORDER):
            store.keep(unit, replace(result, note="long " * 10_000), "now")
    with reading(path) as store:
        assert len(list(store.open_units())) == len(SMALL)


def test_a_campaign_of_another_plan_or_of_other_sources_or_in_use_is_refused(tmp_path: Path) -> None:
    path = begun(tmp_path / "a.db", replace(ORDER, scopes=ORDER.scopes[:1], seeds=10))
    assert "seed 0, not 7. Repeat its options, or start over with --new" in refusal(path, "--seed", "7")
    with writing(path):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE plan SET value = ? WHERE name = 'sources'", (json.dumps("0" * 64),))
    assert "is of other sources" in refusal(path)
    with writing(path), pytest.raises(CommandError, match="is in use"), writing(path):
        pass


def test_a_broken_target_and_a_worker_of_other_sources_are_no_results(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def make(pages, page_size):\n    raise RuntimeError('no device')\n")
    options = TargetOptions(target="wrong:make", path=str(tmp_path))
    with pytest.raises(CommandError, match="the target is broken: wrong:make"):
        units_of(replace(ORDER, targets=("wrong:make",), options=options))
    path = begun(tmp_path / "a.db")
    unit = Unit(1, "wrong:make", "random", "", 0, {"options": {"target": "wrong:make", "path": str(tmp_path)}})
    assert work(Task(unit, sources(), 10, 1024)).state == "broken"
    assert work(Task(unit, "0" * 64, 10, 1024)).state == "other sources"
    with reading(path) as store:
        assert len(list(store.open_units())) == len(SMALL)


def test_without_what_it_runs_on_a_campaign_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CommandError, match="needs the package distributed") as raised:
        gone_on(begun(tmp_path / "a.db"), Place("dask"))
    assert raised.value.code is ExitCode.UNKNOWN


def test_a_serving_system_is_searched_in_each_of_its_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = "tests.toy_serving"
    target = KnownTarget(
        "toy",
        "Toy",
        "1.0",
        Recipe(Path("pins.txt"), "1", 0),
        f"{toy}.adapter:leaky",
        "",
        "",
        interpreter=Path(sys.executable),
    )
    monkeypatch.setitem(TARGETS, "toy", target)
    monkeypatch.setattr(searches, "OPERATIONS", 300)
    units = units_of(replace(ORDER, targets=("toy",), kinds=("random",), seeds=1))
    assert [unit.place for unit in units] == ["page 1", "page 2"]
    result = work(Task(units[0], sources(), 60, 2048))
    assert result.state == "done"
    # It loses a page of each request that has three.
    assert [shape(found["witness"]) for found in result.found] == ["admit a; release a"]


def test_every_kind_of_target_is_searched_by_its_units(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EXAMPLES", "STEPS", "WALKS", "CASES"):
        monkeypatch.setattr(searches, name, 2)
    units = [unit for unit in units_of(Order(seeds=1)) if unit.kind != "explore"]
    assert {(unit.target, unit.kind) for unit in units} == {
        ("shipped", "random"),
        ("prefix", "random"),
        ("chip", "fuzz"),
    }
    results = [work(Task(unit, sources(), 60, 2048)) for unit in units]
    assert all(result.state == "done" and result.tried for result in results)
