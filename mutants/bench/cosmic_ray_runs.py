"""cosmic-ray's figures: a few of its mutants in batches, each batch a session from which all others were taken out."""

import ast
import json
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from mutants.bench.measured import Batch, demand, run_measured
from mutants.bench.named import Mutated, named_mistakes
from mutants.bench.tree import SUITE, files

SESSION = "session.sqlite"
EVERY_CHANGE = Path(__file__).with_name("every_change.py")
TIMEOUT_SECONDS = 300.0
"""Far away: the suite has a budget of steps, so that only a call that never ends meets it."""

CONFIGURATION = """[cosmic-ray]
module-path = {files}
timeout = {timeout}
excluded-modules = []
test-command = {command}

[cosmic-ray.distributor]
name = "local"
"""


def prepare(cosmic_ray: Path, place: Path) -> tuple[list[str], float]:
    """Its mutants by the ids of their jobs, and the CPU seconds of listing them."""
    python = cosmic_ray.with_name("python")
    command = f"{python} -m pytest -x -q -p no:cacheprovider {SUITE}"
    text = CONFIGURATION.format(files=json.dumps(list(files())), timeout=TIMEOUT_SECONDS, command=json.dumps(command))
    (place / "cosmic-ray.toml").write_text(text, encoding="utf-8")
    ended = demand(run_measured((cosmic_ray, "init", "cosmic-ray.toml", SESSION), place), "cosmic-ray init")
    # The ids are new each time; the rest is not.
    order = "SELECT job_id FROM mutation_specs ORDER BY module_path, operator_name, operator_args, occurrence"
    with closing(sqlite3.connect(place / SESSION)) as base:
        return [row[0] for row in base.execute(order)], ended.cpu_seconds


def batches(cosmic_ray: Path, place: Path, jobs: list[str], sample: int, rounds: int, seed: int) -> Iterator[Batch]:
    """A sample in so many batches, each run when it is asked for, what a run of no mutant takes taken off."""
    drawn = random.Random(seed).sample(jobs, min(max(sample, rounds), len(jobs)))
    for number in range(rounds):
        part = drawn[number::rounds]
        empty, _ = _run(cosmic_ray, place, [])
        seconds, found = _run(cosmic_ray, place, part)
        yield Batch(len(part), seconds, empty, Counter(found))


def mutated_trees(cosmic_ray: Path, place: Path) -> Iterator[Mutated]:
    """Each of its mutants in a function of some named mistake: the module, and the module's tree with it."""
    functions = sorted({mutant.function.rpartition(".")[2] for mutant in named_mistakes()})
    command: tuple[str | Path, ...] = (cosmic_ray.with_name("python"), "-I", EVERY_CHANGE, SESSION, *functions)
    for line in demand(run_measured(command, place), "listing cosmic-ray's mutants").said.splitlines():
        file, source = json.loads(line)
        # Some of its operators write what is no Python.
        with suppress(SyntaxError):
            yield file.removesuffix(".py").replace("/", "."), ast.parse(source)


def _run(cosmic_ray: Path, place: Path, jobs: list[str]) -> tuple[float, list[str]]:
    """CPU seconds of a session of these jobs, and their outcomes."""
    session = place / "batch.sqlite"
    shutil.copyfile(place / SESSION, session)
    with closing(sqlite3.connect(session)) as base:
        kept = ", ".join("?" * len(jobs))
        for table in ("mutation_specs", "work_items"):
            base.execute(f"DELETE FROM {table} WHERE job_id NOT IN ({kept})", jobs)
        base.commit()
    ended = demand(run_measured((cosmic_ray, "exec", "cosmic-ray.toml", session.name), place), "cosmic-ray exec")
    with closing(sqlite3.connect(session)) as base:
        rows = base.execute("SELECT worker_outcome, test_outcome FROM work_results").fetchall()
    return ended.cpu_seconds, [str(test or worker).lower() for worker, test in rows]
