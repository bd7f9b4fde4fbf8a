"""--target on the command line and on pytest: a broken target is one line, what is left out is said, failures can be pasted."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import verify.cli
from impl.exit_codes import ExitCode
from spec.operations import Append, New, Release
from tests.c_target.build import build
from verify.command_line import ROOT, WIDE, run_here
from verify.remote.children import BrokenTargetError
from verify.remote.choice import TargetOptions, WrongOptionsError, chosen
from verify.remote.new_target import TEMPLATES
from verify.remote.spelling import SHIPPED
from verify.witness import Witness
from verify.witness_files import save

SCOPE = ("--pages", "3", "--page-size", "2", "--requests", "2", "--length", "3", "--workers", "1")
LEAKING = """from adapter import Adapter


class Leaking(Adapter):
    def release(self, request):
        return None if request in self.manager.tables else "UnknownRequest"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapters: the one that new-target writes, and broken ones."""
    path = tmp_path_factory.mktemp("mine")
    shutil.copy(TEMPLATES / "adapter.py.txt", path / "adapter.py")
    (path / "leaking.py").write_text(LEAKING)
    (path / "wrong.py").write_text(
        "from adapter import Adapter\n"
        "number = 3\n"
        "def raising(pages, page_size):\n    raise RuntimeError('no\\ndevice')\n"
        "class Key(Adapter):\n    capabilities = {'name': 'x', 'operatoins': []}\n"
        "class Operation(Adapter):\n    capabilities = {'name': 'x', 'operations': ['new', 'append', 'rollback']}\n"
        "class Method(Adapter):\n    capabilities = {'name': 'x', 'operations': ['new', 'append', 'trim']}\n"
    )
    return path


def ended(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """`python -m verify` these arguments, of this tree, in this process."""
    return run_here(verify.cli.main, *arguments, cwd=cwd)


def started(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    return run(sys.executable, "-m", "verify", *arguments, cwd=cwd)


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command, with this tree on Python's path."""
    environment = {**os.environ, **WIDE, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"target": "nowhere:make"}, "cannot import nowhere: ModuleNotFoundError: No module named 'nowhere'"),
        ({"target": "adapter:made"}, "adapter has no made"),
        ({"target": "wrong:number"}, "wrong:number is not callable"),
        ({"target": "wrong:raising"}, "wrong:raising(4, 2) raised RuntimeError: no device"),
        ({"target": "wrong:Key"}, 'hello has an unknown key "operatoins"'),
        ({"target": "wrong:Operation"}, 'unknown name "rollback"'),
        ({"target": "wrong:Method"}, "wrong:Method has no method trim"),
        ({"target": "adapter:make", "python": "/no/python"}, "there is no interpreter /no/python"),
        ({"target": "stdio:/no/cache"}, "/no/cache: No such file or directory"),
        ({"target": "stdio:sh -c 'echo cannot >&2; exit 9'"}, "exit status 9; its last words: cannot"),
        ({"target": "stdio:echo hello"}, "hello is no line of JSON"),
        ({"target": "adapter:make", "memory": 1}, "its process ended"),
    ],
)
def test_a_broken_target_is_named_in_one_line(options: dict[str, Any], says: str, folder: Path) -> None:
    with pytest.raises(BrokenTargetError) as caught, chosen(TargetOptions(path=str(folder), **options)):
        pass
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("memory", ["0", "half", "99999999999999999"])
def test_a_memory_that_is_no_limit_is_a_usage_error(memory: str, folder: Path) -> None:
    done = ended("explore", *SCOPE, "--target-path", str(folder), "--target", "adapter:make", "--target-memory", memory)
    assert done.returncode == ExitCode.USAGE
    assert memory in done.stderr


def test_a_broken_target_ends_a_command_with_4_and_one_line(folder: Path) -> None:
    done = ended("explore", *SCOPE, "--target-path", str(folder), "--target", "wrong:raising")
    assert done.returncode == ExitCode.BROKEN
    assert (
        done.stderr
        == "error: the target is broken: wrong:raising: wrong:raising(4, 2) raised RuntimeError: no device\n"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"target": "adapter"},
        {"target": "stdio:"},
        {"target": "stdio:'"},
        {"target": "stdio:cat", "python": "python3"},
        {"path": "."},
        {"steps": 5},
        {"target": "adapter:make", "path": "/no/folder"},
    ],
)
def test_options_that_name_no_target_are_wrong(options: dict[str, Any]) -> None:
    with pytest.raises(WrongOptionsError), chosen(TargetOptions(**options)):
        pass


@pytest.mark.parametrize(
    "arguments",
    [("--target", "adapter"), ("--target", "adapter:make", "--target-seconds", "0")],
)
def test_wrong_options_are_a_usage_error(arguments: tuple[str, ...]) -> None:
    done = ended("explore", *SCOPE, *arguments)
    assert done.returncode == ExitCode.USAGE
    assert "--help" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failure_can_be_pasted_replayed_and_stepped_through(folder: Path, tmp_path: Path) -> None:
    target = ("--target", "leaking:Leaking", "--target-path", str(folder))
    done = started("explore", *SCOPE, *target, cwd=tmp_path)
    assert done.returncode == ExitCode.FAIL
    assert "new(0, sinks=0)\n  release(0)  <- here" in done.stdout
    assert "PT-LIVE: The live request ids are the oracle's." in done.stdout
    paste = done.stdout.split("ready to paste:\n")[1].split("replay it:")[0]
    assert "from leaking import Leaking; target = Leaking(3, 2)\ntarget.new(0, sinks=0)\ntarget.release(0)\n" in paste
    assert "{'requests': {0: {'length': 0" in run(sys.executable, "-c", paste, cwd=folder).stdout
    commands = re.findall(r"^(?:replay it|step through it): python -m verify (.*)$", done.stdout, re.MULTILINE)
    for command in commands:
        again = started(*command.split(), cwd=tmp_path)
        assert again.returncode == ExitCode.FAIL
        assert "PT-LIVE" in again.stdout
        healthy = ended(*command.replace("leaking:Leaking", "adapter:make").split(), cwd=tmp_path)
        assert healthy.returncode == ExitCode.PASS
    assert len(commands) == 2


def test_a_failure_of_a_command_is_one_line_for_a_shell(tmp_path: Path) -> None:
    program = build(tmp_path, "LEAK")
    done = started("fuzz", "--seed", "3", "--minutes", "1", "--target", f"stdio:{program}", cwd=tmp_path)
    assert done.returncode == ExitCode.FAIL
    (line,) = done.stdout.split("ready to paste:\n")[1].split("replay it:")[0].splitlines()
    state = run("sh", "-c", line, cwd=ROOT).stdout
    assert '"answers":[{"accepted":null},{"accepted":null}' in state
    assert len(list((tmp_path / "reports" / "witnesses").iterdir())) == 1


def test_the_calls_of_our_own_cache_can_be_pasted_too() -> None:
    lines = SHIPPED.paste((New(0), Append(0, (1,)), Release(0)), 2, 1)
    shown = run(sys.executable, "-c", "\n".join(lines))
    assert shown.stdout == "Snapshot(requests={}, counts=(0, 0), free=(1, 0))\n"


def test_a_budget_of_steps_is_no_verdict(folder: Path) -> None:
    target = ("--target", "adapter:make", "--target-path", str(folder), "--target-steps", "200")
    for command in (("explore", *SCOPE), ("fuzz", "--seed", "1", "--minutes", "1")):
        done = ended(*command, *target)
        assert done.returncode == ExitCode.UNKNOWN
        assert "verdict: unknown" in done.stdout
        assert "more than 200" in done.stdout


def test_a_trace_is_not_replayed_on_a_target_and_says_so(folder: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"timestamp": 0, "input_length": 6, "output_length": 3, "hash_ids": [1]}\n')
    done = ended("replay", str(trace), "--target", "adapter:make", "--target-path", str(folder))
    assert done.returncode == ExitCode.USAGE
    assert "a trace is replayed on the cache that ships" in done.stderr


def test_a_witness_is_replayed_without_what_the_target_does_not_offer(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    save(path, Witness(2, 2, (New(0, 1), New(0), Append(0, (1,)), Release(0))))
    done = ended("replay", str(path), "--target", "adapter:make", "--target-path", str(folder))
    assert done.returncode == ExitCode.PASS
    assert "3 of 4" in done.stdout
    assert "not offered: Trim, Truncate, New with sinks, Fork before the last row" in done.stdout


def pytest_with(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest of this tree, the quick profile, run in the folder, so that witnesses end there."""
    where = ("-c", str(ROOT / "pyproject.toml"), str(ROOT / "verify"))
    return run(sys.executable, "-m", "pytest", *where, "-q", "--profile", "dev", *arguments, cwd=folder)


def test_pytest_runs_what_suits_any_target_and_says_what_it_leaves_out(folder: Path, tmp_path: Path) -> None:
    done = pytest_with(tmp_path, "--target", "adapter:make", "--target-path", str(folder))
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    for text in (
        "saved witnesses replayed",
        "2 pages of 1, 2 requests, length 3",
        "random search",
        "target: my page manager",
        "not offered: Trim, Truncate, New with sinks, Fork before the last row",
        "not observed: nothing",
        "tests of the cache that ships; anything larger",
    ):
        assert text in done.stdout
    assert re.search(r"7 passed, \d{2,} deselected", done.stdout)


def test_pytest_says_what_the_target_is_even_when_a_failure_stops_it_before_any_search(
    folder: Path, tmp_path: Path
) -> None:
    done = pytest_with(tmp_path, "--target", "leaking:Leaking", "--target-path", str(folder), "-x")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "random search" not in done.stdout
    assert "target: my page manager" in done.stdout
    assert "tests of the cache that ships; anything larger" in done.stdout


def test_pytest_fails_on_a_broken_rule_with_calls_to_paste(folder: Path, tmp_path: Path) -> None:
    done = pytest_with(tmp_path, "--target", "leaking:Leaking", "--target-path", str(folder))
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "target.new(0, sinks=0)\ntarget.release(0)\n" in done.stdout
    assert "Traceback" not in done.stdout
    assert list((tmp_path / "reports" / "witnesses").iterdir())


def test_pytest_does_not_begin_on_a_broken_target(folder: Path, tmp_path: Path) -> None:
    done = pytest_with(tmp_path, "--target", "nowhere:make", "--target-path", str(folder))
    assert done.returncode == ExitCode.BROKEN
    assert "cannot import nowhere" in done.stderr
