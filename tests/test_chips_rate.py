"""The measurement of what a start costs, on a chip that takes its time."""

import time
from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from impl.chip import Counters, MemoryWords, Profile, Result, Start
from verify.chips import rate
from verify.chips.rate import rate_of
from verify.chips.spec_chip import SpecChip
from verify.chips.tools import ToolMissing


class SlowChip:
    """Takes 1 ms a start and 10 us a cycle, and a cycle for each row."""

    lanes, words = 16, 8192

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        (start,) = starts
        program = start.program or ()
        cycles = sum(w0 & 1023 for w0, _ in program[:-1])
        simulated = cycles + 2 * len(program) + rate.HOST_CYCLES
        until = time.perf_counter() + 1e-3 + simulated * 1e-5
        while time.perf_counter() < until:
            pass
        return [Result(memory, 0, 2, 0, Counters(cycles, 0, 0, 0, 0, 0, 0))]


def test_the_cost_of_a_start_is_what_its_cycles_do_not_explain() -> None:
    measured = rate_of("slow", SlowChip(), runs=10)
    # Whatever else the machine does only adds to the highest.
    assert measured.lowest <= measured.median <= measured.highest
    assert measured.lowest == pytest.approx(1, abs=0.5)
    assert measured.cycle == pytest.approx(10, abs=3)


def test_a_chip_without_time_has_no_rate() -> None:
    with pytest.raises(ValueError, match="spec has no cycles"):
        rate_of("spec", SpecChip(16), runs=1)


def test_the_command_says_which_tool_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_: object) -> None:
        raise ToolMissing("no iverilog")

    monkeypatch.setattr(rate, "rates", missing)
    ended = CliRunner().invoke(rate.chip_rates, [])
    assert str(ended.exception) == "no iverilog"
