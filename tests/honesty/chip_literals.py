"""The chip's definition against words, rows and errors that are worked out by hand."""

from collections.abc import Iterator

from tests import (
    test_isa_encoding,
    test_isa_errors,
    test_isa_gather,
    test_isa_host,
    test_isa_semantics,
    test_isa_walk_errors,
)
from tests.honesty.case import Case, asserted, every_test

SLOW = test_isa_host.test_every_other_write_changes_nothing
"""A test of some seventy writes; that the others change what they must shows as much of a rule."""

OF_DEFINITION = (
    ("CHIP-ENC", test_isa_encoding),
    ("CHIP-ISA", test_isa_semantics),
    ("CHIP-GATHER", test_isa_gather),
    ("CHIP-ERROR", test_isa_errors),
    ("CHIP-ERROR", test_isa_walk_errors),
    ("CHIP-ISA", test_isa_host),
)
"""The literal tests of the definition, by the rule that they are about; of the host's, those of a reset are CHIP-RESET's."""


def literals() -> Iterator[Case]:
    """The definition against words, rows and errors that are worked out by hand."""
    for rule, module in OF_DEFINITION:
        for test in every_test(module):
            if test is not SLOW:
                yield from asserted("CHIP-RESET" if "soft_reset" in test.__name__ else rule, test)
