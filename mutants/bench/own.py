"""This engine's figures: a run on the copy with an empty cache, and the same again."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from impl.command import CommandError
from mutants.bench.measured import Batch, demand, run_measured
from mutants.bench.named import Mutated, named_mistakes
from mutants.bench.tree import MODULES, ROOT, STAGE, files
from mutants.farm.cache import PLACE
from mutants.generic.generate import generate
from mutants.splice_at import splice_at

COMMAND = (sys.executable, "-m", "mutants.bench.engine_run")

BASELINE = f"""import time
from verify.page_table_suite import {STAGE}_stage
begun = time.process_time()
found = {STAGE}_stage(None)
print(found.verdict, found.steps, time.process_time() - begun)
"""


def search_alone(place: Path) -> tuple[int, float]:
    """Steps of the search on the original, and the CPU seconds that it takes there. Raises CommandError."""
    ended = demand(run_measured((sys.executable, "-c", BASELINE), place), "the search on the original")
    verdict, steps, seconds = ended.said.split()[-3:]
    if verdict != "pass":
        raise CommandError("the original does not pass the search")
    return int(steps), float(seconds)


def run_own(place: Path) -> tuple[Batch, Batch]:
    """One run with an empty cache, and the same again."""
    shutil.rmtree(place / PLACE.parts[0], ignore_errors=True)
    batches = []
    for _ in range(2):
        ended = demand(run_measured(COMMAND, place), "this engine")
        statuses: dict[str, int] = json.loads(ended.said.splitlines()[-1])
        batches.append(Batch(sum(statuses.values()), ended.cpu_seconds, outcomes=statuses))
    return batches[0], batches[1]


def mutated_trees(root: Path = ROOT) -> Iterator[Mutated]:
    """Each generic mutant in a function of some named mistake: its module, and the tree of what it changes."""
    functions = {(mutant.module, mutant.function) for mutant in named_mistakes()}
    for module, file in zip(MODULES, files(), strict=True):
        source = (root / file).read_text(encoding="utf-8")
        for mutant in generate(module, source, "bench"):
            if (module, mutant.function) in functions:
                yield module, splice_at(source, file, mutant).tree
