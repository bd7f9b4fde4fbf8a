"""Each rule of the chip's order matters: the cycle model without it differs on a program that is written for the rule.

It gives other integers, but where both ports of the model's scratchpad serve two at once, which only takes other cycles.
"""

from collections.abc import Callable

import numpy as np
import pytest

from impl.chip import ChipError, Counters, Profile, Start
from impl.chip_model import compute, dma, sequencer
from impl.chip_model.machine import ChipModel
from impl.program import to_words
from verify.chips.program_cases import MEMORY, ORDER, REGISTERS, Program
from verify.chips.test_programs import LATENCIES

Hold = Callable[..., bool]


def never(*_: object) -> bool:
    return False


def always(*_: object) -> bool:
    return True


WITHOUT: tuple[tuple[str, object, str, Hold], ...] = (
    ("CHIP-CHASE", compute, "chase", always),
    ("CHIP-LOAD", sequencer, "load_is_held", never),
    ("CHIP-STORE", sequencer, "store_is_held", never),
    ("CHIP-RESULT", sequencer, "op_is_held", lambda results, active, owed, stored: active),
    ("CHIP-RESULT", sequencer, "op_is_held", lambda results, active, owed, stored: active or results & owed != 0),
    ("CHIP-RESULT", sequencer, "op_is_held", lambda results, active, owed, stored: active or results & stored != 0),
    ("CHIP-IDLE", sequencer, "setting_is_held", never),
    ("CHIP-QUIET", dma, "quiet", always),
    ("CHIP-PORTS", compute, "op_may_read", always),
    ("CHIP-PORTS", compute, "result_may_be_written", always),
)
"""A rule, where the model asks it, and what it answers without it."""


def outcome(program: Program, latency: int) -> tuple[bytes, int, Counters | None] | None:
    """Memory, token and counters after the program; None when the model has no answer."""
    start = Start(to_words(program), REGISTERS)
    try:
        (result,) = ChipModel(16, cycle_limit=5_000).run([start], MEMORY, Profile(latency))
    except (ChipError, AssertionError, IndexError):
        return None
    return np.asarray(result.memory).tobytes(), result.token, result.counters


@pytest.mark.parametrize(
    ("rule", "module", "name", "without"), WITHOUT, ids=[f"{w[0]} {w[2]} {n}" for n, w in enumerate(WITHOUT)]
)
def test_a_model_without_the_rule_differs(
    monkeypatch: pytest.MonkeyPatch, rule: str, module: object, name: str, without: Hold
) -> None:
    programs = [program for title, program in ORDER.items() if title.startswith(rule)]
    right = [outcome(program, latency) for program in programs for latency in LATENCIES]
    assert None not in right
    monkeypatch.setattr(module, name, without)
    wrong = [outcome(program, latency) for program in programs for latency in LATENCIES]
    seen = slice(None) if rule == "CHIP-PORTS" else slice(2)
    assert [found and found[seen] for found in wrong] != [found and found[seen] for found in right]
