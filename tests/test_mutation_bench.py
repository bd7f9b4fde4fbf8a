"""The bench of the mutation engine measures what it says, with scripts in the place of the tools."""

import ast
import json
import os
import sqlite3
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from impl.command import CommandError
from impl.exit_codes import ExitCode
from mutants.bench import cosmic_ray_runs, environments, mutmut_runs, own
from mutants.bench.bench_cli import bench, show
from mutants.bench.comparison import COSMIC_RAY, MUTMUT, OWN, WARM, Comparison, Measured, Sizes, times_of
from mutants.bench.measured import Batch, demand, run_measured, spread
from mutants.bench.named import made_by, named_mistakes
from mutants.bench.tree import ROOT, SUITE, files, write_suite
from mutants.splice import splice

PAGE_TABLE, POOL = ((ROOT / file).read_text(encoding="utf-8") for file in files())

FAKE_MUTMUT = f"""#!{sys.executable}
import json, os, pathlib, sys
for file, line in (("impl/page_table.py", "def x_f__mutmut_1(): return 0"), ("impl/pool.py", "")):
    place = pathlib.Path("mutants", file)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(line)
    codes = {{f"impl.f__mutmut_{{n}}": 1 if n else 0 for n in range(9)}} if line else {{}}
    pathlib.Path(f"mutants/{{file}}.meta").write_text(json.dumps({{"exit_code_by_key": codes}}))
names = sys.argv[4:]
with open("calls", "a") as calls:
    print(*names, file=calls)
if names == ["no-mutant*"]:
    sys.exit(1)
for _ in range(len(names) * 200_000):
    pass
"""

FAKE_COSMIC_RAY = f"""#!{sys.executable}
import sqlite3, sys
base = sqlite3.connect(sys.argv[3])
if sys.argv[1] == "init":
    base.execute("CREATE TABLE work_items (job_id)")
    base.execute("CREATE TABLE mutation_specs (job_id, module_path, operator_name, operator_args, occurrence)")
    base.execute("CREATE TABLE work_results (job_id, worker_outcome, test_outcome)")
    for n in range(20):
        base.execute("INSERT INTO work_items VALUES (?)", (str(n),))
        base.execute("INSERT INTO mutation_specs VALUES (?, 'impl/pool.py', 'o', '', ?)", (str(n), n))
else:
    for (job,) in base.execute("SELECT job_id FROM work_items").fetchall():
        for _ in range(200_000):
            pass
        base.execute("INSERT INTO work_results VALUES (?, 'NORMAL', ?)", (job, "SURVIVED" if job == "3" else "KILLED"))
base.commit()
"""


def script(folder: Path, name: str, text: str) -> Path:
    """A program of that name and text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_cpu_of_grandchildren_is_counted(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {burn!r}])"
    assert run_measured((sys.executable, "-S", "-c", nested), tmp_path).cpu_seconds >= 0.2


def test_a_failed_command_is_told_with_its_last_words(tmp_path: Path) -> None:
    ended = run_measured((sys.executable, "-S", "-c", "print('no such thing'); raise SystemExit(7)"), tmp_path)
    with pytest.raises(CommandError, match="the tool ended with exit code 7: no such thing"):
        demand(ended, "the tool")


def test_the_mean_is_over_all_mutants_and_what_any_run_has_is_taken_off() -> None:
    found = spread([Batch(10, 2.0, 1.0), Batch(30, 7.0, 1.0), Batch(20, 2.0)])
    assert (found.least, found.median, found.most) == (100.0, 100.0, 200.0)
    assert found.mean == pytest.approx(9000 / 60)


def test_mutmut_is_measured_by_batches_beside_a_run_of_one(tmp_path: Path) -> None:
    command = script(tmp_path, "mutmut", FAKE_MUTMUT)
    names, _ = mutmut_runs.prepare(command, tmp_path)
    batches = list(mutmut_runs.batches(command, tmp_path, names, 9, 3, 0))
    assert len(names) == 9
    assert [batch.mutants for batch in batches] == [2, 2, 2]
    assert [sum(batch.outcomes.values()) for batch in batches] == [3, 3, 3]
    assert sum(batch.outcomes["survived"] for batch in batches) == 1
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()[1:]]
    assert [len(call) for call in calls] == [1, 3, 1, 3, 1, 3]
    assert {name for call in calls for name in call} == set(names)
    assert all(file in (tmp_path / "setup.cfg").read_text() for file in (*files(), SUITE))


def test_cosmic_ray_runs_just_the_sample(tmp_path: Path) -> None:
    command = script(tmp_path, "cosmic-ray", FAKE_COSMIC_RAY)
    jobs, _ = cosmic_ray_runs.prepare(command, tmp_path)
    batches = list(cosmic_ray_runs.batches(command, tmp_path, jobs, 20, 2, 0))
    assert [batch.mutants for batch in batches] == [10, 10]
    assert sum((Counter(batch.outcomes) for batch in batches), Counter()) == {"killed": 19, "survived": 1}
    assert all(batch.milliseconds > 0 for batch in batches)
    with sqlite3.connect(tmp_path / cosmic_ray_runs.SESSION) as base:
        assert base.execute("SELECT count(*) FROM work_items").fetchone() == (20,)


def test_a_named_mistake_is_known_by_its_tree_or_its_bytecode() -> None:
    mistakes = {mutant.id: mutant for mutant in named_mistakes()}
    assert list(mistakes) == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "19a", "19b"]
    found = {"impl.page_table": PAGE_TABLE, "impl.pool": POOL}
    assert made_by((name, ast.parse(source)) for name, source in found.items()) == ()
    copied = splice(POOL, "", mistakes["5"]).source
    assert made_by([("impl.pool", ast.parse(copied))]) == ("5",)
    assert made_by([("impl.page_table", ast.parse(copied))]) == ()
    folded = PAGE_TABLE.replace("lo % self.page_size", "lo % (self.page_size + (2 - 1))")
    assert made_by([("impl.page_table", ast.parse(folded))]) == ("7",)
    near = PAGE_TABLE.replace("lo % self.page_size", "lo % (1 + self.page_size)")
    assert near != PAGE_TABLE
    assert made_by([("impl.page_table", ast.parse(near))]) == ()


def test_a_function_as_mutmut_writes_it_is_known(tmp_path: Path) -> None:
    text = splice(PAGE_TABLE, "", next(m for m in named_mistakes() if m.id == "3")).source
    for file in files():
        (tmp_path / "mutants" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mutants" / file).write_text("", encoding="utf-8")
    changed = text.replace("def fork(", "def xǁPageTableǁfork__mutmut_3(")
    (tmp_path / "mutants" / files()[0]).write_text(changed, encoding="utf-8")
    assert made_by(mutmut_runs.mutated_trees(tmp_path)) == ("3",)


def test_the_generic_operators_make_some_named_mistakes() -> None:
    assert {"1", "3", "6"} <= set(made_by(own.mutated_trees()))


def test_the_suite_has_the_budget_of_the_engine(tmp_path: Path) -> None:
    write_suite(tmp_path, 7)
    assert "exhaustive_stage(140)" in (tmp_path / SUITE).read_text()


def test_an_environment_is_made_once_and_after_an_interruption_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def make(tool: environments.Tool, folder: Path) -> None:
        made.append(folder)
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        script(folder / "bin", tool.command, "")
        if len(made) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(environments, "_make", make)
    with pytest.raises(KeyboardInterrupt):
        environments.environment(environments.MUTMUT, lambda _: None, tmp_path)
    for _ in range(2):
        environments.environment(environments.MUTMUT, lambda _: None, tmp_path)
    assert len(made) == 2


def test_a_tool_that_cannot_be_installed_ends_with_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", script(tmp_path, "python", "#!/bin/sh\necho no room; exit 1\n"))
    done = CliRunner().invoke(bench, [])
    assert isinstance(done.exception, CommandError)
    assert done.exception.code == ExitCode.UNKNOWN
    assert "no room" in str(done.exception)


def test_the_figures_are_shown_beside_their_targets(capsys: pytest.CaptureFixture[str]) -> None:
    from impl.command import console

    def tool(name: str, ms: float) -> Measured:
        return Measured(name, 500, spread([Batch(100, ms / 10)]), 1.5, {"killed": 90, "survived": 10}, ("1", "3"))

    tools = (tool(OWN, 10.0), tool(WARM, 2.0), tool(MUTMUT, 80.0), tool(COSMIC_RAY, 600.0))
    rounds = times_of([Batch(10, 0.9), Batch(10, 0.6)], [Batch(10, 0.1), Batch(20, 0.2)])
    found = Comparison(tools, 33894, 0.7, Sizes(300, 60, 3, 0), {MUTMUT: rounds})
    os.environ["COLUMNS"] = "200"
    show(console(), found)
    said = capsys.readouterr().out
    assert "this engine, cold: 10.0 ms a mutant, target at most 15 ms" in said
    mutmut = "mutmut: 8.0 times the CPU of this engine, cold (6.0, 9.0 in the same round), target at least 5 times"
    assert mutmut in said
    assert "cosmic-ray: 60.0 times the CPU of this engine, cold, target at least 70 times" in said
    assert "made by mutmut: 2 of 14: 1, 3" in said
    assert json.loads(json.dumps(found.as_json()))["times_mutmut"] == pytest.approx(8.0)
