"""A chip of somebody's own: docs/your-rtl.md word for word, a planted fault that is found with waves, and factories that fail."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest

from impl.chip import ChipDied, ChipTimeout, ChipUnknown, MemoryWords, Profile, Result, Start
from impl.chip_model.machine import ChipModel
from impl.command import CommandError
from impl.exit_codes import ExitCode
from impl.model_files import load
from spec.isa import EXT_WORDS, Halt, encode
from tests.test_rtl_faults import FAULTS
from tests.toy_chip.toy import LANES, LISTING, MEMORY, WORDS, Misdeed, copies, toy
from verify.chips.choice import POWER_ON, open_chip, open_chips
from verify.chips.comparison import DecodeTally, compare_decode, decode_cases, differing, memory_differences
from verify.chips.decode_cli import decode
from verify.chips.icarus import IcarusChip
from verify.chips.own_chip import BrokenChipError, OwnChip, is_own
from verify.chips.planted_rtl import SELECT, plant
from verify.chips.simulated import RTL
from verify.chips.verilator import VerilatorChip
from verify.chips.waves import RememberingChip, write_waves

PAGE = Path(__file__).parent.parent / "docs" / "your-rtl.md"
BRIEF = ("--steps", "2", "--model", "random-1-16")
HALT = Start((encode(Halt()),))
ZEROS = np.zeros(EXT_WORDS, np.uint32)

Module = Callable[[str], str]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Module:
    """Write a module of this test's own, which can be imported; its name. The current folder is an empty one."""
    name = re.sub(r"\W", "_", f"own_{request.node.name}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def written(text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return written


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[ExitCode, str]:
    """What `python -m verify decode` answers and prints."""
    code = decode.main([*arguments], standalone_mode=False)
    return code, capsys.readouterr().out


def example() -> str:
    """The factories of the page."""
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(text)


@pytest.mark.parametrize("kind", ["icarus", "verilator"])
def test_the_example_runs_an_rtl_under_another_path(
    kind: str, module: Module, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(kind)
    shutil.copytree(RTL.parent, tmp_path / "rtl")
    name = f"{module(example())}:{kind}"
    code, out = said(capsys, "--chip", f"spec,model,{name}", *BRIEF)
    assert code == ExitCode.PASS
    assert f"2 steps on spec, model, {name}: every integer and every counter equal" in out
    assert not (tmp_path / "reports").exists()


@pytest.mark.usefixtures("icarus")
def test_the_ports_of_the_page_are_those_of_the_bench(tmp_path: Path) -> None:
    """The module of the page alone, which drives nothing, compiles in the bench and is x at once."""
    (ports,) = re.findall(r"```verilog\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "kestrel.sv").write_text(f"{ports}endmodule\n")
    (tmp_path / "files.f").write_text("kestrel.sv\n")
    said = r"mem_req_valid was x \(start 0, cycle 2"
    with IcarusChip(16, rtl=tmp_path / "files.f") as chip, pytest.raises(ChipUnknown, match=said):
        chip.run([HALT], ZEROS)


PLANTED = """
from pathlib import Path
from verify.chips.icarus import IcarusChip

def chip(lanes, words):
    return IcarusChip(lanes, words, rtl=Path({listing!r}), plusargs=["+{select}={number}"], counters={counters})
"""


def planted(tmp_path: Path, title: str, counters: bool = True) -> str:
    """A module whose chip has that fault."""
    number = [fault.title for fault in FAULTS].index(title) + 1
    listing = str(plant(FAULTS, tmp_path / "planted"))
    return PLANTED.format(listing=listing, select=SELECT, number=number, counters=counters)


@pytest.mark.usefixtures("icarus")
def test_a_planted_fault_is_found_and_told_with_its_waves(
    module: Module, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{module(planted(tmp_path, 'a product is cut off, not rounded'))}:chip"
    code, out = said(capsys, "--chip", f"model,icarus,{name}", *BRIEF)
    assert code == ExitCode.FAIL
    assert "CHIP-INT" in out and f"{name}" in out and "verdict: fail" in out
    (waves,) = re.findall(r"^waves of (.*): (reports/waves/.*\.fst)$", out, re.MULTILINE)
    assert waves[0] == name  # the other simulator is as it should be
    assert (tmp_path / waves[1]).stat().st_size > 1000


@pytest.mark.usefixtures("icarus")
def test_counters_are_compared_unless_the_chip_says_that_it_has_none(
    module: Module, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "a read too few is outstanding"
    name = f"{module(planted(tmp_path, late))}:chip"
    code, out = said(capsys, "--chip", f"spec,model,{name}", "--latency", "40", *BRIEF)
    assert code == ExitCode.FAIL
    assert "CHIP-CYCLE" in out and "CHIP-INT" not in out and "model: total" in out
    (tmp_path / "silent_chip.py").write_text(planted(tmp_path, late, counters=False))
    code, out = said(capsys, "--chip", "spec,model,silent_chip:chip", "--latency", "40", *BRIEF)
    assert code == ExitCode.PASS
    assert "every integer equal, no two count cycles" in out
    code, out = said(capsys, "--chip", "model,icarus,silent_chip:chip", "--latency", "40", "--steps", "1")
    assert "every integer and every counter equal, without those of silent_chip:chip" in out


class ChipOf:
    """A chip whose run does what it is told to."""

    lanes, words = 16, EXT_WORDS

    def __init__(self, answer: Callable[[], object]) -> None:
        self.answer = answer

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        return self.answer()  # type: ignore[return-value]


def fails() -> object:
    """Raise what no protocol has."""
    raise KeyError("lost")


SOUND = Result(ZEROS, 0, 2, 0, None)
WRONG_ANSWERS: tuple[tuple[Callable[[], object], str], ...] = (
    (fails, "it raised KeyError: 'lost'"),
    (lambda: None, "no list of 1 results"),
    (list, "no list of 1 results"),
    (lambda: [SOUND, SOUND], "no list of 1 results"),
    (lambda: ["2"], "a result is a str"),
    (lambda: [replace(SOUND, memory=ZEROS[1:])], "no array of 8192 uint32"),
    (lambda: [replace(SOUND, memory=ZEROS.astype(np.int64))], "no array of 8192 uint32"),
    (lambda: [replace(SOUND, token="3")], "is no int"),  # type: ignore[arg-type]
    (lambda: [replace(SOUND, counters=(1,) * 7)], "neither Counters nor None"),  # type: ignore[arg-type]
)


@pytest.mark.parametrize(("answer", "words"), WRONG_ANSWERS)
def test_whatever_a_chip_of_ones_own_does_wrong_is_an_error_of_the_chip(
    answer: Callable[[], object], words: str
) -> None:
    with pytest.raises(ChipDied, match=words):
        OwnChip(ChipOf(answer)).run([HALT], ZEROS)


def test_a_sound_answer_passes_and_a_wrong_request_is_not_blamed_on_the_chip() -> None:
    chip = OwnChip(ChipOf(lambda: [SOUND]))
    assert chip.run([HALT], ZEROS) == [SOUND]
    with pytest.raises(ValueError, match="memory has shape"):
        chip.run([HALT], ZEROS[1:])


FACTORIES = """
from contextlib import nullcontext
from impl.chip_model.machine import ChipModel

class Held:
    made = staticmethod(lambda lanes, words: nullcontext(ChipModel(lanes, words)))

def refuses(lanes, words):
    raise ValueError("16 lanes only")

def bare(lanes, words):
    return ChipModel(lanes, words)

def small(lanes, words):
    return nullcontext(ChipModel(lanes, 100))

number = 3
"""

BROKEN = (
    ("refuses", "of 16 lanes: ValueError: 16 lanes only"),
    ("bare", "of 16 lanes: TypeError: .*context manager"),
    ("small", r"made a chip of \(lanes, words\) \(16, 100\), not \(16, 8192\)"),
    ("number", "cannot be called"),
    ("missing", "AttributeError: .*missing"),
    ("Held.missing", "AttributeError: .*missing"),
)


@pytest.mark.parametrize(("factory", "words"), BROKEN)
def test_a_factory_that_makes_no_chip_is_told_in_a_line(module: Module, factory: str, words: str) -> None:
    name = f"{module(FACTORIES)}:{factory}"
    with pytest.raises(BrokenChipError, match=f"^{name} ?:?.*{words}"), open_chip(name, 16):
        pass
    with pytest.raises(CommandError, match=words) as raised:
        decode.main(["--chip", name, *BRIEF], standalone_mode=False)
    assert raised.value.code == ExitCode.BROKEN


def test_a_factory_may_be_part_of_something_and_its_module_may_be_missing(module: Module) -> None:
    with open_chip(f"{module(FACTORIES)}:Held.made", 32, 100) as chip:
        assert (chip.lanes, chip.words) == (32, 100)
    with pytest.raises(BrokenChipError, match="No module named 'nowhere'"), open_chip("nowhere:chip", 16):
        pass


@pytest.mark.parametrize("value", ["nobody", "mine:", ":chip", "a b:chip", "mine:chip,mine:chip", "spec,,model"])
def test_a_name_that_is_none_is_a_usage_error(value: str) -> None:
    with pytest.raises(click.UsageError, match="module:factory separated by commas"):
        decode.main(["--chip", value, *BRIEF], standalone_mode=False)


def test_names_of_factories_are_told_from_others() -> None:
    assert all(is_own(name) for name in ("mine:chip", "a.b.c:d.e", "_m1:F"))
    assert not any(is_own(name) for name in ("mine", "1m:c", "m:1", "m::c", "m:c:d", "m.:c", "m:c.", "../m:c"))


@pytest.mark.usefixtures("verilator")
def test_what_registers_hold_at_power_on_is_seen_in_a_chip_that_shows_it() -> None:
    shown = []
    for initial in POWER_ON.values():
        with VerilatorChip(LANES, WORDS, initial=initial, rtl=LISTING) as chip:
            counters = chip.run([copies(0, misdeed=Misdeed.X_COUNTER)], MEMORY)[0].counters
            shown.append(counters and counters.vec)
    assert shown[:2] == [0, 0xFFFFFFFF] and len(set(shown)) == len(POWER_ON) == 4


def test_variants_have_names_like_all_chips() -> None:
    with open_chips(("spec", *POWER_ON), 16, 100) as chips:
        assert {name: chip.words for name, chip in chips.items()} == dict.fromkeys(("spec", *POWER_ON), 100)


def test_of_chips_that_differ_both_sides_are_named() -> None:
    other = replace(SOUND, token=1)
    assert differing({}, memory_differences) == set()
    assert differing({"a": SOUND, "b": SOUND}, memory_differences) == set()
    assert differing({"a": SOUND, "b": SOUND, "c": other}, memory_differences) == {"a", "c"}


@pytest.mark.parametrize("kind", ["icarus", "verilator"])
def test_waves_are_of_the_last_run_even_where_it_fails(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(kind)
    with toy(kind, cycle_limit=100) as inner:
        chip = RememberingChip(OwnChip(inner))
        assert write_waves("none", {kind: chip}, tmp_path) == []
        with pytest.raises(ChipTimeout):
            chip.run([copies(1, misdeed=Misdeed.ENDLESS)], MEMORY)
        model = RememberingChip(ChipModel(16))
        (line,) = write_waves("a, step 1", {"model": model, "x:y": chip}, tmp_path / "new")
        path = tmp_path / "new" / f"a-step-1-x-y.{'fst' if kind == 'icarus' else 'vcd'}"
        assert line == f"waves of x:y: {path}"
        assert path.stat().st_size > 500
        (tmp_path / "file").write_text("")
        assert "no waves of x:y: " in write_waves("a", {"x:y": chip}, tmp_path / "file")[0]


def test_a_chip_that_dies_in_every_step_has_one_set_of_waves() -> None:
    tally = DecodeTally()
    for case in decode_cases([load("random-1-16")], [None], [0, 1], [4], 4, 1):
        compare_decode(case, {"dies": ChipOf(fails_as_a_chip), "model": ChipModel(16)}, tally, Path("unused"))
    assert len(tally.differences) == 2 and tally.waves == []


def fails_as_a_chip() -> object:
    """Raise what a chip may."""
    raise ChipDied("as always")
