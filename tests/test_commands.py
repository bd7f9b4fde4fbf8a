"""The command lines end with the documented exit codes, say one clear thing, and lose nothing when they are interrupted."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import impl.cli
import mutants.cli
import verify.cli
from impl.exit_codes import ExitCode
from spec.operations import Append, New, Release
from verify.command_line import ROOT, WIDE, run_here
from verify.witness import Witness
from verify.witness_files import load, load_of_manager, save

GROUPS = {"impl": impl.cli.main, "verify": verify.cli.main, "mutants": mutants.cli.cli}
EXPLORE = ("verify", "explore", "--requests", "2", "--workers", "1")


def run(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m` the package with these arguments, in this process."""
    return run_here(GROUPS[package], *arguments)


def started(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """`python -m` these arguments in a process of its own, from the folder."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, env=environment())


def environment() -> dict[str, str]:
    """The environment, wide enough that no line of a table wraps, and without what would point to another tree."""
    return {**os.environ, **WIDE, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def broken_tree(tmp_path: Path) -> Path:
    """A copy of the packages whose page table loses the pages of an ended request; what is compiled of the others comes along."""
    for package in ("spec", "impl", "verify"):
        shutil.copytree(ROOT / package, tmp_path / package)
    path = tmp_path / "impl" / "page_table.py"
    source = path.read_text()
    assert source.count("self.free.append(page)") == 1
    path.write_text(source.replace("self.free.append(page)", "pass"))
    return tmp_path


def test_a_search_that_completes_passes() -> None:
    done = started(*EXPLORE, "--pages", "2", "--page-size", "1", "--length", "2")
    assert done.returncode == ExitCode.PASS
    assert "verdict: pass, complete within the scope" in done.stdout


def test_a_failure_prints_calls_rows_and_rules_and_its_witness_replays(broken_tree: Path) -> None:
    done = started(*EXPLORE, "--pages", "2", "--page-size", "2", "--length", "3", cwd=broken_tree)
    assert done.returncode == ExitCode.FAIL
    for text in ("append(0, [", "rows before", "PT-LEAK", "verdict: fail"):
        assert text in done.stdout
    (path,) = (broken_tree / "reports" / "witnesses").iterdir()
    assert len(load(path).operations) == 3
    again = started("verify", "replay", str(path), cwd=broken_tree)
    assert again.returncode == ExitCode.FAIL
    assert "PT-LEAK" in again.stdout
    assert run("verify", "replay", str(path)).returncode == ExitCode.PASS


def test_a_failure_found_at_random_is_shrunk(broken_tree: Path) -> None:
    done = started("verify", "fuzz", "--seed", "3", "--minutes", "1", cwd=broken_tree)
    assert done.returncode == ExitCode.FAIL
    assert "found with seed 3" in done.stdout
    (path,) = (broken_tree / "reports" / "witnesses").iterdir()
    assert [type(operation) for operation in load(path).operations] in ([New, Append, Release], [New, Append])


def test_pytest_stops_when_the_packages_come_from_another_tree(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "verify", tmp_path / "verify")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    env = {**environment(), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "verify/"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "run pytest from there" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "explore"),
        ("verify", "explore", "--pages", "0", "--page-size", "1", "--requests", "1", "--length", "1"),
        ("verify", "replay", "no-such-file.json"),
        ("verify", "fuzz", "--seed", "1", "--minutes", "0"),
        ("verify", "steal"),
        ("impl", "trace", "--window", "none"),
        ("mutants", "--only", "no-such-mutant"),
    ],
)
def test_a_wrong_call_is_a_usage_error_that_points_to_help(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert "--help" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("witness.json", '{"kvproof": "witness", "version": 1, "pages": 2}', "is no witness"),
        ("witness.json", '{"kvproof": "witness", "version": 7}', "version"),
        ("trace.csv", "arrival,prompt\n1,2\n", "trace.csv:1: expected"),
        ("trace.jsonl", '{"timestamp": 0}\n', "trace.jsonl:1: expected"),
        ("empty.csv", "", "expected"),
    ],
)
def test_a_broken_input_is_named_with_its_place(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    done = run("verify", "replay", str(path))
    assert done.returncode == ExitCode.BROKEN
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_sizes_beyond_the_memory_are_a_broken_input() -> None:
    done = started(*EXPLORE, "--pages", "10000", "--page-size", "1000000", "--length", "2")
    assert done.returncode == ExitCode.BROKEN
    assert "out of memory" in done.stderr


@pytest.mark.parametrize("minutes", ["nan", "inf", "0", "-1"])
def test_a_time_that_is_none_is_a_usage_error(minutes: str) -> None:
    assert run("verify", "fuzz", "--seed", "1", "--minutes", minutes).returncode == ExitCode.USAGE


def test_the_shortest_fuzz_runs_a_batch() -> None:
    done = started("verify", "fuzz", "--seed", "1", "--minutes", "1e-10")
    assert done.returncode == ExitCode.PASS
    assert "seeds 1 to 1" in done.stdout


def test_options_before_a_subcommand_of_mutants_are_a_usage_error() -> None:
    done = run("mutants", "--only", "4", "repeat", "--runs", "2")
    assert done.returncode == ExitCode.USAGE
    assert "come after its name" in done.stderr


def test_a_witness_without_operations_is_no_pass(tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    save(path, Witness(2, 2, ()))
    assert run("verify", "replay", str(path)).returncode == ExitCode.UNKNOWN


OF_A_MANAGER = ROOT / "verify" / "witnesses" / "managers" / "reuse-one-of-two-copies.json"


@pytest.mark.parametrize("command", ["replay", "show"])
def test_the_witness_of_a_manager_is_replayed_on_the_prefix_cache_that_ships(command: str) -> None:
    done = run("verify", command, str(OF_A_MANAGER))
    assert done.returncode == ExitCode.PASS
    assert "the shipped prefix cache" in done.stdout
    assert "verdict: pass" in done.stdout
    again = run("verify", command, str(OF_A_MANAGER), "--target", "adapter:make")
    assert again.returncode == ExitCode.USAGE
    assert "verify conformance" in again.stderr


def test_the_witness_of_a_manager_that_does_not_ship_says_where_it_is_replayed(tmp_path: Path) -> None:
    witness = load_of_manager(OF_A_MANAGER)
    traits = replace(witness.configuration.traits, commits=False)
    path = tmp_path / "witness.json"
    save(path, replace(witness, configuration=replace(witness.configuration, traits=traits)))
    done = run("verify", "replay", str(path))
    assert done.returncode == ExitCode.BROKEN
    assert "--target NAME --witness" in done.stderr
    path.write_text(path.read_text().replace("admit", "admire"))
    done = run("verify", "replay", str(path))
    assert done.returncode == ExitCode.BROKEN
    assert "is no witness of a manager" in done.stderr


def test_a_trace_replays_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    requests = [
        {"timestamp": 0, "input_length": 600, "output_length": 3, "hash_ids": [1, 2]},
        {"timestamp": 10, "input_length": 700, "output_length": 2, "hash_ids": [1, 3]},
    ]
    path.write_text("".join(json.dumps(request) + "\n" for request in requests))
    done = run("verify", "replay", str(path), "--page", "16", "--window", "64")
    assert done.returncode == ExitCode.PASS
    for text in ("2 of 2 done", "pages now / peak", "checks a second", "verdict: pass"):
        assert text in done.stdout


LARGE = ("--pages", "6", "--page-size", "3", "--length", "9")


@pytest.mark.parametrize(
    ("arguments", "workers"),
    [
        ((*EXPLORE, *LARGE), False),
        (("verify", "explore", "--requests", "2", "--workers", "2", *LARGE), True),
        (("verify", "fuzz", "--seed", "1", "--minutes", "5"), False),
    ],
)
def test_an_interrupt_ends_with_a_summary_and_130(arguments: tuple[str, ...], workers: bool) -> None:
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        wait_for_cpu_seconds(process, 2.5, workers)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "verdict: unknown" in out
    assert "Traceback" not in err


def wait_for_cpu_seconds(process: subprocess.Popen[str], seconds: float, workers: bool) -> None:
    """Until the process and its workers, there or not as told, have computed for so long, however busy the machine is."""
    while process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
        computed = cpu_seconds(str(process.pid)) + sum(map(cpu_seconds, children))
        if computed >= seconds and bool(children) is workers:
            return
        time.sleep(0.02)


def cpu_seconds(pid: str) -> float:
    """CPU time of the process and of its children that have ended; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("package", ["impl", "verify", "mutants"])
def test_an_interrupt_while_modules_are_imported_ends_without_a_traceback(package: str, tmp_path: Path) -> None:
    # Every package imports click; this one is never done with it, however fast the machine is.
    begun = tmp_path / "begun"
    (tmp_path / "click.py").write_text(f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\n")
    command = [sys.executable, "-m", package, "--help"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "PYTHONPATH": str(tmp_path)},
    ) as process:
        while process.poll() is None and not begun.exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (ExitCode.INTERRUPTED, "", "interrupted\n")


@pytest.mark.parametrize(
    "command",
    [
        *(
            ("verify", *name)
            for name in ((), ("explore",), ("fuzz",), ("replay",), ("show",), ("new-target",), ("decode",))
        ),
        *(("impl", *name) for name in ((), ("trace",), ("bench",), ("decode",), ("models",), ("cycles",))),
        *(("mutants", *name) for name in ((), ("repeat",))),
        ("verify", "chips"),
    ],
)
def test_every_help_teaches_the_exit_codes(command: tuple[str, ...]) -> None:
    # The help of a package imports all of its commands: once in a process that has imported nothing else.
    done = (run if command[1:] else started)(*command, "--help")
    assert done.returncode == ExitCode.PASS
    assert "Exit codes:" in done.stdout


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    witness = Witness(2, 2, (New(0), Append(0, (1,)), Release(0)))
    save(path, witness)
    before = path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            save(path, Witness(2, 2, ()))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_device_is_named() -> None:
    done = started("impl", "trace", "--json", "/dev/full")
    assert done.returncode == ExitCode.BROKEN
    assert done.stderr == "error: /dev/full: No space left on device\n"


@pytest.mark.parametrize("path", ["", ".", "no/such/folder.json", "README.md/file.json"])
@pytest.mark.parametrize(
    "command",
    [
        ("impl", "trace"),
        ("impl", "decode", "--steps", "1000000"),
        ("impl", "bench", "--repeats", "1000000"),
        ("mutants",),
    ],
)
def test_a_place_that_cannot_be_written_is_said_before_the_run(command: tuple[str, ...], path: str) -> None:
    done = run(*command, "--json", path)
    assert done.returncode == ExitCode.BROKEN
    assert done.stdout == ""
    assert done.stderr == f"error: nothing can be written to {path!r}: choose a file in a folder that is there\n"


def test_a_narrow_terminal_shows_the_names_of_the_models_whole() -> None:
    command = [sys.executable, "-m", "impl", "models"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**environment(), "COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "structured-16" in done.stdout and "random-3-32" in done.stdout


def full(descriptor: int) -> None:
    """A device with no room left."""
    raise OSError(28, "No space left on device")
