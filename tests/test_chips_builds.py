"""Builds by content: what is there is not built again, what differs in anything is, and two that want the same build it once."""

import os
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import pytest

from impl.chip import ChipError
from tests.toy_chip.toy import LANES, LISTING, MEMORY, WORDS, copies
from verify.chips import builds
from verify.chips.builds import BuildFailedError, built, compiled, key_of
from verify.chips.icarus import IcarusChip
from verify.chips.simulated import Sources


def source(folder: Path, text: str = "text", name: str = "chip.v") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def noted(log: Path, home: Path, file: Path, pause: float = 0.0) -> Path:
    """A build that says in the log that it was made."""

    def make(folder: Path) -> None:
        with open(log, "a") as notes:
            notes.write("made\n")
        time.sleep(pause)
        (folder / "result").write_text("whole")

    return built("toy", ["flag"], [file], make, home)


def test_the_same_content_elsewhere_is_a_hit_and_another_is_a_miss(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = noted(log, tmp_path / "home", source(tmp_path / "a"))
    assert noted(log, tmp_path / "home", source(tmp_path / "b")) == first
    assert noted(log, tmp_path / "home", source(tmp_path / "b", "other")) != first
    assert log.read_text() == "made\n" * 2
    assert (first / "result").read_text() == "whole"


def test_arguments_names_and_contents_all_count(tmp_path: Path) -> None:
    file = source(tmp_path / "a")
    keys = [
        key_of(["-a", "-b"], [file]),
        key_of(["-a-b"], [file]),
        key_of(["-b", "-a"], [file]),
        key_of(["-a", "-b"], [source(tmp_path / "a", name="other.v")]),
        key_of(["-a", "-b"], [source(tmp_path / "b", "tex", "chip.v")]),
        key_of(["-a", "-b"], []),
    ]
    assert len(set(keys)) == len(keys)


def test_processes_that_want_the_same_build_make_it_once(tmp_path: Path) -> None:
    log, home, file = tmp_path / "log", tmp_path / "home", source(tmp_path / "a")
    processes = [get_context("fork").Process(target=noted, args=(log, home, file, 0.3)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert log.read_text() == "made\n"


def test_different_builds_do_not_wait_for_each_other(tmp_path: Path) -> None:
    log, home = tmp_path / "log", tmp_path / "home"
    both = threading.Barrier(2, timeout=60)
    for name in ("a", "b"):
        source(tmp_path / name, name)

    def wants(name: str) -> None:
        built("toy", [], [tmp_path / name / "chip.v"], lambda folder: void(both.wait()), home)

    threads = [threading.Thread(target=wants, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not both.broken and not log.exists()


def void(_: object) -> None:
    """Nothing."""


def test_a_build_that_fails_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    file = source(tmp_path / "a")

    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        compiled(["sh", "-c", "echo the last words; exit 3"], folder)

    for _ in range(2):
        with pytest.raises(BuildFailedError, match=r"sh failed \(3\):\nthe last words"):
            built("toy", ["flag"], [file], fail, tmp_path / "home")
    assert [path for path in (tmp_path / "home").iterdir() if path.is_dir()] == []
    assert (noted(tmp_path / "log", tmp_path / "home", file) / "result").exists()


def test_a_compiler_does_not_see_the_make_that_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "-j --jobserver-auth=3,4")
    compiled(["sh", "-c", '[ -z "${MAKEFLAGS:-}" ]'], tmp_path)


def test_of_many_builds_only_those_go_that_were_idle_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "MOST_BUILDS", 2)
    log, home = tmp_path / "log", tmp_path / "home"
    places = [noted(log, home, source(tmp_path / "a", text)) for text in "abcd"]
    for place, age in zip(places, (3, 2, 1, 0), strict=True):
        os.utime(place, times=(time.time() - age * 5000,) * 2)
    noted(log, home, source(tmp_path / "a", "e"))
    assert [place.exists() for place in places] == [False, False, True, True]


@pytest.mark.usefixtures("icarus")
def test_rtl_that_does_not_compile_says_why(tmp_path: Path) -> None:
    source(tmp_path / "rtl", "module kestrel (input wire clk; endmodule\n", "kestrel.v")
    listing = source(tmp_path / "rtl", "kestrel.v\n", "files.f")
    chip = IcarusChip(LANES, WORDS, rtl=listing, builds=tmp_path / "home")
    with chip, pytest.raises(BuildFailedError, match=r"kestrel\.v:1: syntax error"):
        chip.run([copies(1)], MEMORY)


@pytest.mark.usefixtures("icarus")
def test_a_changed_header_is_a_build_of_its_own(tmp_path: Path) -> None:
    text = LISTING.with_name("kestrel.v").read_text()
    source(tmp_path / "rtl", '`include "toy.vh"\n' + text, "kestrel.v")
    listing = source(tmp_path / "rtl", "# all of it\nkestrel.v\n", "files.f")
    shown = []
    for number in (1, 2):
        source(tmp_path / "rtl", f"`define TOY_MAC {number}\n", "toy.vh")
        with IcarusChip(LANES, WORDS, rtl=listing, builds=tmp_path / "home") as chip:
            shown.append(chip.run([copies(0)], MEMORY)[0].counters)
    assert [counters and counters.mac for counters in shown] == [1, 2]


@pytest.mark.usefixtures("icarus")
def test_a_chip_whose_build_was_removed_builds_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with IcarusChip(LANES, WORDS, rtl=LISTING, builds=home) as chip:
        chip.run([copies(1)], MEMORY)
        os.rename(home, tmp_path / "gone")
        os.kill(chip.server_pid or 0, 9)
        with pytest.raises(ChipError):
            chip.run([copies(1)], MEMORY)
        assert chip.run([copies(1)], MEMORY)[0].status == 2


def test_a_listing_names_files_beside_it_and_may_say_why(tmp_path: Path) -> None:
    listing = source(tmp_path / "rtl", "// the top\nkestrel.v\n\nks_seq.v # and more\n", "files.f")
    header = source(tmp_path / "rtl", "", "kestrel_isa.vh")
    sources = Sources(listing)
    assert sources.files == (listing.with_name("kestrel.v"), listing.with_name("ks_seq.v"))
    assert (sources.folders, sources.headers) == ((listing.parent,), (header,))
