"""The chip's software and its cycle model pass their quick stages, which look at all their parts."""

from verify.chips.programs_suite import programs_stage
from verify.programs.suite import software_stage


def test_the_stage_of_the_software_passes_and_looks_at_all_its_parts() -> None:
    """CHIP-ENC, CHIP-GATHER, DEC-INT, HOST-PLAIN, HOST-REFUSE, HOST-PAD."""
    found = software_stage(None)
    assert (found.verdict, found.broken) == ("pass", {})
    assert found.steps >= 870


def test_the_stage_of_programs_passes_and_looks_at_all_its_parts() -> None:
    """CHIP-INT, CHIP-ISA, CHIP-ERROR, CHIP-CYCLE."""
    found = programs_stage(None)
    assert (found.verdict, found.broken) == ("pass", {})
    assert found.steps >= 1060
