"""mutmut's figures: a few hundred of its mutants in batches, each function of which it has written below mutants/ in the copy."""

import ast
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from impl.command import CommandError
from mutants.bench.measured import Batch, demand, run_measured
from mutants.bench.named import Mutated, functions_of
from mutants.bench.tree import MODULES, SUITE, files

LISTED = 1
"""Its exit code when it has written its mutants and is then asked for one that there is not."""
NONE = "no-mutant*"
MANGLED = re.compile(r"^x(?:_|ǁ(?P<owner>\w+?)ǁ)(?P<function>\w+)__mutmut_(?P<number>\d+)$")
"""How it calls the function of a mutant."""

CONFIGURATION = """[mutmut]
source_paths=
    impl/
only_mutate=
{files}
also_copy=
    spec/
    verify/
    {suite}
pytest_add_cli_args_test_selection=
    {suite}
"""


def prepare(mutmut: Path, place: Path) -> tuple[list[str], float]:
    """Its mutants by name, and the CPU seconds of making them."""
    lines = "\n".join(f"    {file}" for file in files())
    (place / "setup.cfg").write_text(CONFIGURATION.format(files=lines, suite=SUITE), encoding="utf-8")
    ended = demand(run_measured(_command(mutmut, NONE), place), "mutmut", (LISTED,))
    names = sorted(_exit_codes(place))
    if not names:
        raise CommandError("mutmut has made no mutant")
    return names, ended.cpu_seconds


def batches(mutmut: Path, place: Path, names: list[str], sample: int, rounds: int, seed: int) -> Iterator[Batch]:
    """A sample in so many batches, each run when it is asked for, what a run of one mutant takes taken off."""
    drawn = random.Random(seed).sample(names, min(max(sample, 2 * rounds), len(names)))
    for number in range(rounds):
        part = drawn[number::rounds]
        alone = demand(run_measured(_command(mutmut, part[0]), place), "mutmut").cpu_seconds
        batch = demand(run_measured(_command(mutmut, *part), place), "mutmut").cpu_seconds
        codes = _exit_codes(place)
        yield Batch(len(part) - 1, batch, alone, Counter(_word(codes[name]) for name in part))


def mutated_trees(place: Path) -> Iterator[Mutated]:
    """Each of its mutants: the module, and a tree of the one function that it changes."""
    for module, file in zip(MODULES, files(), strict=True):
        tree = ast.parse((place / "mutants" / file).read_text(encoding="utf-8"))
        for node, _ in functions_of(tree):
            found = MANGLED.match(node.name)
            if found is None:
                continue
            node.name, node.decorator_list = found["function"], []
            alone: ast.stmt = node
            if found["owner"]:
                alone = ast.ClassDef(found["owner"], [], [], [node], [])
            yield module, ast.Module([alone], [])


def _command(mutmut: Path, *names: str) -> tuple[str | Path, ...]:
    # One child at a time, so that no two runs share a processor's caches.
    return (mutmut, "run", "--max-children", "1", *names)


def _exit_codes(place: Path) -> dict[str, int | None]:
    """The exit code of each mutant, None where it was not run."""
    found: dict[str, int | None] = {}
    for file in files():
        try:
            said = json.loads((place / "mutants" / f"{file}.meta").read_text(encoding="utf-8"))
        except OSError as error:
            raise CommandError(f"mutmut has written no mutants of {file}: {error.strerror}") from error
        found |= said["exit_code_by_key"]
    return found


def _word(code: int | None) -> str:
    words = {0: "survived", 1: "killed", 3: "killed", 33: "no test", None: "not run"}
    return words.get(code, f"exit code {code}")
