"""The copy on which the tools work: the packages, one pytest file with the exhaustive search, and each tool's settings.

Tools that change files on the disk, or leave folders, never see the tree itself.
"""

import shutil
from pathlib import Path

from mutants.original import BUDGET_FACTOR

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("impl.page_table", "impl.pool")
"""The modules that every tool mutates."""
STAGE = "exhaustive"
SUITE = "suite_test.py"

SUITE_TEXT = f'''"""The exhaustive search as the one test, on the budget of steps that the engine gives it."""

from verify.page_table_suite import {STAGE}_stage


def test_every_operation_does_what_the_oracle_says():
    assert {STAGE}_stage({{budget}}).verdict == "pass"
'''

SURFACE = f"""[[tool.kvproof.mutation.areas]]
name = "page table"
modules = [{", ".join(f'"{module}"' for module in MODULES)}]
stages = ["{STAGE}"]

[tool.kvproof.mutation.excluded]
"""


def copy_tree(place: Path, engine: bool = True, root: Path = ROOT) -> Path:
    """The new folder: what the suite needs of the tree, and with the engine also that and its surface."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for package in ("spec", "impl", "verify", *(("mutants",) if engine else ())):
        shutil.copytree(root / package, place / package, ignore=ignored)
    if engine:
        (place / "pyproject.toml").write_text(SURFACE, encoding="utf-8")
    return place


def write_suite(place: Path, steps: int) -> None:
    """Write the suite; `steps` are those of the search on the original."""
    (place / SUITE).write_text(SUITE_TEXT.format(budget=BUDGET_FACTOR * steps), encoding="utf-8")


def files() -> tuple[str, ...]:
    """The mutated modules' files, from the root."""
    return tuple(f"{module.replace('.', '/')}.py" for module in MODULES)
