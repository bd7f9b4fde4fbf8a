"""The imports of the tree point one way, and its folders keep to their rooms.

An oracle that shares code with its subject cannot disagree with it, so who may import whom is a rule like any other.
Each check is a function of a path, relative to the root, and a source; it returns what is wrong, one line each.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = frozenset({"spec", "impl", "verify", "mutants", "tests"})
MOST_LINES = 400
NAMES_WITHOUT_A_CONCEPT = frozenset({"util", "utils", "helper", "helpers", "common", "misc"})

OWN_IMPORTS: dict[str, frozenset[str]] = {
    "spec": frozenset({"spec"}),
    "impl": frozenset({"impl", "spec.isa", "spec.operations"}),
    "verify": frozenset({"verify", "impl", "spec"}),
    "verify/targets": frozenset(
        {
            "impl",
            "spec.manager.Traits",
            "spec.operations",
            "spec.outcomes",
            "verify.managers.facts",
            "verify.managers.target",
            "verify.managers.values",
            "verify.target",
            "verify.traces.incremental_target",
            "verify.traces.tokens",
        }
    ),
    "mutants": frozenset(
        {
            "mutants",
            "impl",
            "verify.campaign.executors",
            "verify.chips.builds.BuildFailedError",
            "verify.chips.judge",
            "verify.chips.planted_rtl",
            "verify.chips.tools.ToolMissing",
            "verify.sandbox",
            "verify.source.rules",
            "verify.suite",
            "verify.view.html_page",
        }
    ),
    "mutants/equivalence": frozenset({"mutants", "impl", "verify.contracts.runner", "verify.sandbox"}),
    "tests": PROJECT,
}
"""What the modules of a folder import of this project: a module and everything below it. The longest folder counts."""

ELSEWHERE: dict[str, frozenset[str]] = {
    "mutants/bench/every_change.py": frozenset({"cosmic_ray"}),
    "verify/child.py": frozenset(),
    "verify/conformance/raw_rate.py": frozenset(),
    "verify/targets/tvm.py": frozenset({"numpy", "tvm", "tvm_ffi"}),
    "verify/targets/tvm_faults.py": frozenset({"numpy", "tvm", "tvm_ffi"}),
    "verify/targets/vllm.py": frozenset({"torch", "vllm"}),
    "verify/targets/vllm_faults.py": frozenset({"torch", "vllm"}),
}
"""What is run by an interpreter that is not ours, with what it may import beyond the standard library."""

Check = Callable[[PurePosixPath, str], list[str]]


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every import, import_module("a.b") too; `from a import b` is a.b, a relative one "."."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(level=level) if level:
                yield node.lineno, "."
            case ast.ImportFrom(module=module, names=names):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module


def within(name: str, modules: frozenset[str]) -> bool:
    """Whether the dotted name is one of the modules or lies below one."""
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def imports_point_one_way(path: PurePosixPath, source: str) -> list[str]:
    """Imports of this project that the folder may not have, relative ones included."""
    folder = max((f for f in OWN_IMPORTS if path.is_relative_to(f)), key=len, default=None)
    allowed = OWN_IMPORTS[folder] if folder else frozenset()
    return [
        f"{path}:{line}: imports {name}"
        for line, name in imported(source)
        if name == "." or (within(name, PROJECT) and not within(name, allowed))
    ]


def spec_needs_only_numpy(path: PurePosixPath, source: str) -> list[str]:
    """Imports of spec/ beyond the standard library, numpy and itself; chance and test tools are never definitions."""
    if path.parts[0] != "spec":
        return []
    allowed = frozenset(sys.stdlib_module_names) - {"random", "secrets", "unittest", "doctest"} | {"numpy", "spec"}
    return [
        f"{path}:{line}: imports {name}"
        for line, name in imported(source)
        if not within(name, allowed) or within(name, frozenset({"numpy.random", "numpy.testing"}))
    ]


def impl_ships_without_test_tools(path: PurePosixPath, source: str) -> list[str]:
    """Imports of test tools in impl/, which is what ships."""
    tools = frozenset({"pytest", "hypothesis", "unittest", "doctest", "crosshair", "cocotb"})
    if path.parts[0] != "impl":
        return []
    return [f"{path}:{line}: imports {name}" for line, name in imported(source) if within(name, tools)]


def what_runs_elsewhere_stands_alone(path: PurePosixPath, source: str) -> list[str]:
    """Imports beyond the standard library and its own package, and syntax that Python 3.9 lacks, of what runs elsewhere."""
    if str(path) not in ELSEWHERE:
        return []
    try:
        tree = ast.parse(source, feature_version=(3, 9))
    except SyntaxError as error:
        return [f"{path}:{error.lineno}: is no Python 3.9: {error.msg}"]
    allowed = frozenset(sys.stdlib_module_names) | ELSEWHERE[str(path)]
    found = [f"{path}:{line}: imports {name}" for line, name in imported(source) if not within(name, allowed)]
    late = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    return found + ([] if late or " | " not in source else [f"{path}: evaluates its type hints"])


def names_say_a_concept(path: PurePosixPath, source: str) -> list[str]:
    """Path parts such as utils, which say nothing about what is inside."""
    words = {word for part in path.with_suffix("").parts for word in part.split("_")}
    return [f"{path}: {word} is no concept" for word in sorted(words & NAMES_WITHOUT_A_CONCEPT)]


def init_is_one_paragraph(path: PurePosixPath, source: str) -> list[str]:
    """An __init__.py that is anything else than a docstring of one paragraph; re-exports hide where a thing lives."""
    if path.name != "__init__.py":
        return []
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree)
    whole = docstring and "\n\n" not in docstring and len(tree.body) == 1
    return [] if whole else [f"{path}: holds something else than one paragraph"]


def files_fit_in_one_head(path: PurePosixPath, source: str) -> list[str]:
    """Files that are too long to be one concept."""
    lines = len(source.splitlines())
    return [f"{path}: {lines} lines"] if lines > MOST_LINES else []


CHECKS: tuple[Check, ...] = (
    imports_point_one_way,
    spec_needs_only_numpy,
    impl_ships_without_test_tools,
    what_runs_elsewhere_stands_alone,
    names_say_a_concept,
    init_is_one_paragraph,
    files_fit_in_one_head,
)

BROKEN: tuple[tuple[Check, str, str], ...] = (
    (imports_point_one_way, "spec/window.py", "from impl.window import context\n"),
    (imports_point_one_way, "spec/window.py", "from . import operations\n"),
    (imports_point_one_way, "impl/page_table.py", "from spec.page_table import step\n"),
    (imports_point_one_way, "impl/page_table.py", "from spec import page_table\n"),
    (imports_point_one_way, "impl/page_table.py", "import spec\n"),
    (imports_point_one_way, "impl/page_table.py", "def f():\n    import verify.explore as e\n"),
    (imports_point_one_way, "verify/explore.py", "from mutants.catalogue import MUTANTS\n"),
    (imports_point_one_way, "verify/explore.py", "import importlib\nimportlib.import_module('mutants.engine')\n"),
    (imports_point_one_way, "verify/targets/shipped.py", "from spec.page_table import step\n"),
    (imports_point_one_way, "verify/targets/shipped.py", "from verify.refinement import check\n"),
    (imports_point_one_way, "verify/targets/prefix.py", "from spec.manager import Traits, step\n"),
    (imports_point_one_way, "mutants/engine.py", "from verify.explore import explore\n"),
    (imports_point_one_way, "mutants/engine.py", "from verify import suite, explore\n"),
    (imports_point_one_way, "mutants/ablation.py", "from verify.source.suite import CHECKS\n"),
    (imports_point_one_way, "mutants/rtl_engine.py", "from verify.chips.program_cases import ORDER\n"),
    (imports_point_one_way, "mutants/engine.py", "from verify.contracts.runner import messages\n"),
    (imports_point_one_way, "mutants/equivalence/examination.py", "from verify.explore import Search\n"),
    (imports_point_one_way, "mutants/equivalence/lock_step.py", "from spec.page_table import step\n"),
    (imports_point_one_way, "mutants/engine.py", "from tests.second_counter import count\n"),
    (imports_point_one_way, "release.py", "from spec.rules import RULES\n"),
    (spec_needs_only_numpy, "spec/window.py", "from hypothesis import given\n"),
    (spec_needs_only_numpy, "spec/window.py", "import random\n"),
    (spec_needs_only_numpy, "spec/window.py", "from numpy.random import default_rng\n"),
    (spec_needs_only_numpy, "spec/window.py", "from numpy import random\n"),
    (impl_ships_without_test_tools, "impl/pool.py", "import pytest\n"),
    (what_runs_elsewhere_stands_alone, "verify/child.py", "import numpy\n"),
    (what_runs_elsewhere_stands_alone, "verify/child.py", "from verify.remote.wire_format import VERSION\n"),
    (what_runs_elsewhere_stands_alone, "verify/child.py", "match 1:\n    case 1:\n        pass\n"),
    (what_runs_elsewhere_stands_alone, "verify/child.py", "def f(x: int | None) -> None: ...\n"),
    (what_runs_elsewhere_stands_alone, "verify/conformance/raw_rate.py", "from verify.conformance import report\n"),
    (what_runs_elsewhere_stands_alone, "verify/targets/vllm.py", "from spec.operations import Append\n"),
    (what_runs_elsewhere_stands_alone, "verify/targets/vllm.py", "import tvm\n"),
    (what_runs_elsewhere_stands_alone, "verify/targets/tvm_faults.py", "from verify.targets import tvm\n"),
    (names_say_a_concept, "verify/utils.py", ""),
    (names_say_a_concept, "verify/common/pages.py", ""),
    (names_say_a_concept, "impl/page_helpers.py", ""),
    (init_is_one_paragraph, "spec/__init__.py", ""),
    (init_is_one_paragraph, "spec/__init__.py", '"""One.\n\nTwo."""\n'),
    (init_is_one_paragraph, "spec/__init__.py", '"""One."""\n\nfrom spec.rules import RULES\n'),
    (files_fit_in_one_head, "spec/window.py", "\n" * (MOST_LINES + 1)),
)

SOUND: tuple[tuple[str, str], ...] = (
    ("spec/window.py", "import math\nimport numpy as np\nfrom spec import operations\n"),
    ("impl/page_table.py", "from spec.operations import New\nfrom spec import operations\nimport impl.pool\n"),
    ("verify/targets/shipped.py", "from impl.kv_cache import KVCache\nfrom verify.target import Target\n"),
    ("verify/explore.py", "import spec.page_table\nfrom impl import kv_cache\nfrom verify import bounds\n"),
    ("mutants/engine.py", "from verify import sandbox, suite\nfrom verify.suite import STAGES\n"),
    ("mutants/ablation.py", "from verify.source.rules import GROUPS\n"),
    ("tests/test_explore.py", "from mutants.catalogue import MUTANTS\nfrom verify.explore import explore\n"),
    ("verify/targets/vllm.py", "from __future__ import annotations\nimport os\nfrom vllm.v1.core import block_pool\n"),
    ("verify/targets/vllm_script.py", "from spec.operations import Admit\nfrom verify.managers.facts import Facts\n"),
    ("verify/targets/prefix.py", "from spec.manager import Traits\nfrom verify.managers.target import Offer\n"),
    ("verify/child.py", "from __future__ import annotations\nimport json\ndef f(x: int | None) -> None: ...\n"),
    ("verify/__init__.py", '"""One paragraph\nof two lines."""\n'),
)


def python_files(root: Path) -> list[PurePosixPath]:
    """Every .py file below the root, hidden folders and what reports/ and build/ hold left out, relative to it."""
    found = sorted(PurePosixPath(file.relative_to(root).as_posix()) for file in root.rglob("*.py"))
    return [file for file in found if file.parts[0] not in {"build", "reports"} and not file.parts[0].startswith(".")]


def folders_without_init(files: list[PurePosixPath]) -> list[str]:
    """Folders, of those files and all above them, that lack an __init__.py."""
    folders = {folder for file in files for folder in file.parents} - {PurePosixPath(".")}
    return sorted(str(folder) for folder in folders if folder / "__init__.py" not in files)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_file_keeps_the_rule(check: Check) -> None:
    files = python_files(ROOT)
    assert {file.parts[0] for file in files} >= PROJECT
    assert [line for file in files for line in check(file, (ROOT / file).read_text(encoding="utf-8"))] == []


def test_every_python_folder_is_a_package() -> None:
    assert folders_without_init(python_files(ROOT)) == []


@pytest.mark.parametrize(("check", "path", "source"), BROKEN)
def test_a_hand_broken_source_is_rejected(check: Check, path: str, source: str) -> None:
    assert len(check(PurePosixPath(path), source)) == 1


@pytest.mark.parametrize(("path", "source"), SOUND)
def test_a_sound_source_passes_every_check(path: str, source: str) -> None:
    assert [line for check in CHECKS for line in check(PurePosixPath(path), source)] == []


def test_every_check_has_a_source_that_it_rejects() -> None:
    assert {check for check, _, _ in BROKEN} == set(CHECKS)


def test_a_folder_without_init_is_found() -> None:
    files = [PurePosixPath(name) for name in ("spec/__init__.py", "spec/models/tiny/fit.py")]
    assert folders_without_init(files) == ["spec/models", "spec/models/tiny"]
