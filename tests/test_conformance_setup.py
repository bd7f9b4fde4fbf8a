"""The set-up of third-party targets, with a pip that installs nothing: its stages, what it takes up again, what it refuses."""

import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from impl.command import CommandError
from impl.exit_codes import ExitCode
from verify.conformance import setup_cli, targets
from verify.conformance.environments import (
    SetUp,
    SetUpError,
    Stage,
    installed,
    left,
    refusal,
    set_up,
    stages,
)
from verify.conformance.pip import CommandFailedError, Resolved, Say, resolved, run_command
from verify.conformance.targets import TARGETS, KnownTarget, Recipe

CPU = {"torch": "2.13.0+cpu", "sympy": "1.14.0"}
CUDA = {"torch": "2.13.0", "nvidia-cublas-cu13": "13.1", "triton": "3.9.0"}
WANTED = ["environment", "alone", "packages", "wheel", "source", "check"]


@dataclass
class FakePip:
    """Takes every command down, and does what the stages look for: the interpreter, the report, the wheel, the version."""

    folder: Path
    finds: Mapping[str, str] = field(default_factory=lambda: CPU)
    version: str = "1.5"
    fail_at: str = ""
    failure: BaseException = field(default_factory=lambda: CommandFailedError("no matching distribution"))
    commands: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, command: Sequence[str], variables: Mapping[str, str], log: Path, say: Say) -> str:
        self.commands.append(tuple(command))
        say("working")
        if self.fail_at and self.fail_at in command:
            raise self.failure
        if "venv" in command:
            python = self.folder / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.touch()
        if "--report" in command:
            report = Path(command[command.index("--report") + 1])
            report.write_text(json.dumps({"install": [found(name, version) for name, version in self.finds.items()]}))
        if "wheel" in command:
            wheels = self.folder / "wheels"
            wheels.mkdir()
            (wheels / "serving-1.5-py3-none-any.whl").touch()
        return f"a warning\n{self.version}\n"

    def called(self, word: str) -> list[tuple[str, ...]]:
        """The commands with this word."""
        return [command for command in self.commands if word in command]


def found(name: str, version: str) -> dict[str, Any]:
    """An entry of pip's report."""
    file = f"{name}-{version.replace('+', '%2B')}-cp311-cp311-manylinux_2_28_x86_64.whl"
    return {"metadata": {"name": name, "version": version}, "download_info": {"url": f"file:///wheels/{file}"}}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnownTarget:
    """A target with every kind of stage, in a folder of its own."""
    monkeypatch.setattr(targets, "ENVIRONMENTS", tmp_path / "venvs")
    (tmp_path / "pins.txt").write_text("sympy==1.14.0\n")
    recipe = Recipe(tmp_path / "pins.txt", "1", 1000, "torch==2.13.0", "serving==1.5", {"DEVICE": "empty"})
    return KnownTarget("serving", "Serving", "1.5", recipe, "adapter:make", "faults", "script")


def run(target: KnownTarget, pip: FakePip, **options: Any) -> list[str]:
    """The names of the stages that a run begins."""
    begun: list[str] = []
    work = SetUp(target, lambda line: None, run=pip, **options)
    set_up(work, lambda stage, number, total: begun.append(stage.name))
    return begun


def test_every_stage_is_done_once_and_a_second_run_does_nothing(target: KnownTarget) -> None:
    pip = FakePip(target.environment)
    assert run(target, pip) == WANTED == [stage.name for stage in stages(target)]
    assert installed(target)
    pip.commands.clear()
    assert run(target, pip) == []
    assert pip.commands == []


def test_the_large_package_is_installed_alone_and_nothing_with_what_it_asks_for(target: KnownTarget) -> None:
    pip = FakePip(target.environment)
    run(target, pip)
    torch, pins, wheel = pip.called("install")[1:]
    assert torch[-2:] == ("--no-deps", "torch==2.13.0")
    assert pins[-3:] == ("--no-deps", "--requirement", str(target.recipe.pins))
    assert "--no-deps" in wheel and wheel[-1].endswith("serving-1.5-py3-none-any.whl")
    assert [command.index("--dry-run") for command in pip.called("--dry-run")] and len(pip.called("--dry-run")) == 1


@pytest.mark.parametrize("stage", WANTED)
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), CommandFailedError("no network")])
def test_a_run_that_ends_in_a_stage_goes_on_with_it(target: KnownTarget, stage: str, failure: BaseException) -> None:
    words = {"environment": "venv", "alone": "torch==2.13.0", "packages": "--requirement", "wheel": "wheel"}
    words |= {"source": str(target.environment / "wheels" / "serving-1.5-py3-none-any.whl"), "check": "print(1)"}
    pip = FakePip(target.environment, fail_at=words[stage], failure=failure)
    with pytest.raises(KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else SetUpError):
        run(target, pip)
    assert not installed(target)
    assert [part.name for part in left(target)] == WANTED[WANTED.index(stage) :]
    again = FakePip(target.environment)
    assert run(target, again) == WANTED[WANTED.index(stage) :]
    assert installed(target)


def test_what_an_interrupted_install_left_half_is_laid_again(target: KnownTarget) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(target, FakePip(target.environment, fail_at="--requirement", failure=KeyboardInterrupt()))
    pip = FakePip(target.environment)
    run(target, pip)
    assert "--force-reinstall" in pip.called("--requirement")[0]


def test_other_pins_make_the_environment_anew(target: KnownTarget) -> None:
    run(target, FakePip(target.environment))
    target.recipe.pins.write_text("sympy==1.14.1\n")
    assert not installed(target)
    assert run(target, FakePip(target.environment)) == WANTED


def test_an_interpreter_that_is_gone_makes_the_environment_anew(target: KnownTarget) -> None:
    run(target, FakePip(target.environment))
    target.python.unlink()
    assert not installed(target)
    assert run(target, FakePip(target.environment)) == WANTED


def test_a_build_for_an_accelerator_stops_the_set_up_before_anything_is_installed(target: KnownTarget) -> None:
    pip = FakePip(target.environment, finds=CUDA)
    with pytest.raises(SetUpError, match=r"several GB.*triton 3\.9\.0.*--allow-cuda"):
        run(target, pip)
    assert [command for command in pip.called("install") if "--dry-run" not in command] == []
    assert next(left(target)).name == "alone"
    assert run(target, pip, allow_accelerator=True)[0] == "alone"


@pytest.mark.parametrize(
    ("finds", "heavy"),
    [
        (CPU, False),
        (CUDA, True),
        ({"torch": "2.13.0"}, False),
        ({"torch": "2.13.0+cu130"}, True),
        ({"torch": "2.13.0+rocm7"}, True),
        ({"torch": "2.13.0", "Triton": "3.9.0"}, True),
    ],
)
def test_a_build_for_an_accelerator_is_told_by_version_and_company(finds: Mapping[str, str], heavy: bool) -> None:
    told = [resolved(found(name, version)) for name, version in finds.items()]
    assert (refusal("torch==2.13.0", told) is not None) == heavy


def test_a_package_that_is_not_found_is_said() -> None:
    assert refusal("torch==2.13.0", [Resolved("sympy", "1.14.0", "sympy.whl", None)]) is not None


def test_another_version_than_the_pinned_one_is_no_set_up(target: KnownTarget) -> None:
    with pytest.raises(SetUpError, match=r"version 1\.4 is installed, not 1\.5"):
        run(target, FakePip(target.environment, version="1.4"))
    assert not installed(target)


def test_a_full_disk_is_said_before_the_first_stage(target: KnownTarget) -> None:
    vast = replace(target, recipe=replace(target.recipe, disk=10**18))
    pip = FakePip(vast.environment)
    with pytest.raises(SetUpError, match="of disk"):
        run(vast, pip)
    assert pip.commands == []


def test_a_link_to_another_environment_is_not_touched(target: KnownTarget, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    target.environment.parent.mkdir()
    target.environment.symlink_to(tmp_path / "other")
    with pytest.raises(SetUpError, match="no folder of its own"):
        run(target, FakePip(target.environment))


def test_a_command_that_fails_tells_its_last_words(tmp_path: Path) -> None:
    heard: list[str] = []
    command = ("sh", "-c", "echo first; echo last >&2; exit 3")
    with pytest.raises(CommandFailedError, match="last"):
        run_command(command, {}, tmp_path / "log.txt", heard.append)
    assert heard == ["first", "last"]
    assert "first" in (tmp_path / "log.txt").read_text()


def test_an_interrupted_command_ends_with_all_that_it_started(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    command = ("sh", "-c", f"sleep 300 & echo $! >{noted}; echo begun; wait")

    def interrupt(line: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_command(command, {}, tmp_path / "log.txt", interrupt)
    # It has been killed; when it is gone is up to the kernel and to how busy the machine is.
    deadline = time.monotonic() + 60
    while is_running(int(noted.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Whether the process is there and more than a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_command_says_the_size_first_and_ends_with_3_when_a_package_is_missing(
    target: KnownTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_cli, "TARGETS", {"serving": target})
    monkeypatch.setattr(setup_cli, "ENVIRONMENTS", target.environment.parent)
    monkeypatch.setattr(setup_cli, "set_up", failing(SetUpError("serving: it failed: no network")))
    ended = CliRunner().invoke(setup_cli.set_up_targets, [])
    assert "about 0 MB of disk" in ended.output
    assert isinstance(ended.exception, CommandError)
    assert ended.exception.code == ExitCode.UNKNOWN


def test_the_list_says_what_is_missing(target: KnownTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_cli, "TARGETS", {"serving": target})
    ended = CliRunner().invoke(setup_cli.set_up_targets, ["--list"], standalone_mode=False)
    assert ended.return_value == ExitCode.UNKNOWN
    run(target, FakePip(target.environment))
    ended = CliRunner().invoke(setup_cli.set_up_targets, ["--list"], standalone_mode=False)
    assert ended.return_value == ExitCode.PASS
    assert "set up, nothing to do" in ended.output


def failing(error: Exception) -> Callable[[SetUp, Callable[[Stage, int, int], None]], int]:
    """A set-up that ends with this."""

    def fails(work: SetUp, begin: Callable[[Stage, int, int], None]) -> int:
        raise error

    return fails


@pytest.mark.parametrize("name", list(TARGETS))
def test_every_package_of_a_target_is_pinned_exactly(name: str) -> None:
    recipe = TARGETS[name].recipe
    lines = [line.strip() for line in recipe.pins.read_text(encoding="utf-8").splitlines()]
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins and all(pin.count("==") == 1 and " " not in pin for pin in pins)
    assert len({pin.partition("==")[0].lower() for pin in pins}) == len(pins)
    assert recipe.alone is None or recipe.alone in pins
