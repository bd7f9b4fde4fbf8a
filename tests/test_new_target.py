"""What a person does who follows the README from nothing, and what their CI job does: each command as it stands there."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.a_checkout import ROOT, copy_of_this_tree, environment_of, set_up
from verify.remote.new_target import FILES, TEMPLATES

SECTION = "## Your own cache"
FAILS = "# fails"


def section() -> str:
    """The section of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return SECTION + text.split(SECTION)[1].split("\n## ")[0]


def commands(text: str) -> list[str]:
    """Every line of the sh blocks of a text."""
    return [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


def run(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The command in a shell, in the folder, as a person there runs it."""
    environment = environment_of(folder if (folder / ".venv").exists() else ROOT, **more)
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh checkout, set up."""
    folder = copy_of_this_tree(tmp_path_factory.mktemp("from-nothing") / "kvproof")
    set_up(folder)
    return folder


@pytest.fixture(scope="module")
def followed(checkout: Path) -> list[tuple[str, subprocess.CompletedProcess[str]]]:
    """The README followed from its first command of the section to the last."""
    return [(command, run(command, checkout)) for command in commands(section())]


def test_the_section_is_short_and_has_its_commands() -> None:
    assert len(section().splitlines()) < 30
    assert len(commands(section())) == 7


def test_every_command_of_the_section_ends_as_it_says(
    followed: list[tuple[str, subprocess.CompletedProcess[str]]],
) -> None:
    assert [done.returncode for _, done in followed] == [int(FAILS in command) for command, _ in followed], "\n".join(
        f"{command}\n{done.stdout}{done.stderr}" for command, done in followed
    )


def test_the_planted_mistake_comes_back_with_a_shortest_witness_and_is_gone_once_mended(
    followed: list[tuple[str, subprocess.CompletedProcess[str]]],
) -> None:
    (failed,) = (done for command, done in followed if FAILS in command)
    assert "PT-LEAK, PT-PAGES broken after 3 operations on 3 pages of 2 rows" in failed.stdout
    assert "PT-LEAK: A page with count zero is on the free list." in failed.stdout
    assert "docs/reference.md" in failed.stdout
    assert "verdict: pass, complete within the scope" in followed[-1][1].stdout


def test_the_commands_that_a_failure_names_show_it_again(
    checkout: Path, followed: list[tuple[str, subprocess.CompletedProcess[str]]]
) -> None:
    (failed,) = (done.stdout for command, done in followed if FAILS in command)
    again = re.findall(r"^(?:replay it|step through it): (.*)$", failed, re.MULTILINE)
    assert len(again) == 2
    with broken(checkout.parent / "mine" / "adapter.py"):
        assert [run(command, checkout).returncode for command in again] == [1, 1]
        paste = failed.split("ready to paste:\n")[1].split("replay it:")[0]
        pasted = subprocess.run(
            [sys.executable, "-c", paste], cwd=checkout.parent / "mine", capture_output=True, text=True, timeout=60
        )
    assert "'counts': [0, 0, 0], 'free': [2, 1]" in pasted.stdout, pasted.stderr
    assert [run(command, checkout).returncode for command in again] == [0, 0]


class broken:  # noqa: N801 - it reads as a sentence
    """Within, the manager never gives a page back."""

    def __init__(self, adapter: Path) -> None:
        self.adapter = adapter
        self.text = adapter.read_text()

    def __enter__(self) -> None:
        assert self.text.count("self.free.append(page)") == 1
        self.adapter.write_text(self.text.replace("self.free.append(page)", "pass"))

    def __exit__(self, *ended: object) -> None:
        self.adapter.write_text(self.text)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A repository with this tree at a tag, by its address."""
    folder = copy_of_this_tree(tmp_path_factory.mktemp("upstream") / "kvproof")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a release"], ["tag", "v0-test"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)
    yield f"file://{folder}"


def steps(job: str) -> list[str]:
    """The commands of a CI job."""
    return re.findall(r"^ *- run: (.*)$", job, re.MULTILINE)


def test_the_ci_job_has_twelve_lines_and_two_variables() -> None:
    job = (TEMPLATES / FILES[".github/workflows/kvproof.yml"]).read_text(encoding="utf-8")
    assert len(job.splitlines()) == 12
    assert set(re.findall(r"vars\.(\w+)", job)) == {"KVPROOF_REPOSITORY", "KVPROOF_TAG"}


def test_the_ci_job_passes_on_the_adapter_and_fails_on_a_mistake(repository: str, tmp_path: Path) -> None:
    mine, runner = tmp_path / "mine", tmp_path / "runner"
    runner.mkdir()
    assert run(f"python -m verify new-target {mine}", ROOT).returncode == 0
    variables = {"KVPROOF_REPOSITORY": repository, "KVPROOF_TAG": "v0-test", "RUNNER_TEMP": str(runner)}
    clone, check = steps((mine / ".github" / "workflows" / "kvproof.yml").read_text())
    assert run(clone, mine, **variables).returncode == 0
    set_up(runner / "kvproof")
    healthy = run(check, mine, **variables)
    with broken(mine / "adapter.py"):
        mistaken = run(check, mine, **variables)
    for done, code in ((healthy, 0), (mistaken, 2)):
        assert done.returncode == code, done.stdout + done.stderr
        assert ("PT-LEAK" in done.stdout) is (code == 2)
        for said in (
            "target: my page manager",
            "not offered: Trim, Truncate",
            "not observed: nothing",
            "tests of the cache",
        ):
            assert said in done.stdout


def test_the_command_to_check_it_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    done = run(f"python -m verify new-target '{tmp_path}/my cache'", ROOT)
    assert f"--target-path '{tmp_path}/my cache' --pages" in done.stdout


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "test_adapter.py").write_text("mine")
    done = run(f"python -m verify new-target {tmp_path}", ROOT)
    assert done.returncode == 4
    assert "test_adapter.py exists already; nothing was written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["test_adapter.py"]
    assert (tmp_path / "test_adapter.py").read_text() == "mine"
