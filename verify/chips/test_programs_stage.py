"""The chip's software, its cycle model and what decodes on it pass their quick stage, which looks at all its parts."""

from verify.chips.programs_suite import programs_stage


def test_the_stage_passes_and_looks_at_all_its_parts() -> None:
    """CHIP-ENC, CHIP-INT, CHIP-ISA, CHIP-GATHER, CHIP-ERROR, CHIP-CYCLE, DEC-INT, HOST-PLAIN, HOST-REFUSE, HOST-PAD."""
    found = programs_stage(None)
    assert (found.verdict, found.broken) == ("pass", {})
    assert found.steps >= 940
