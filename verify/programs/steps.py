"""Decoders on a chip, and steps to ask them for: what the checks of decoders have in common."""

from collections.abc import Callable

import numpy as np

from impl.chip_decoder import ChipDecoder, PagedChipDecoder
from impl.decoder import Context, Places, Step
from verify.decode.hostile_models import hostile
from verify.programs import section_7
from verify.programs.recording_chip import RecordingChip

NARROW, WIDE = hostile(1, 16), hostile(1, 32, residual=-(2**15))
GATHER = section_7.GATHER
PLACES = Places(pages=(8, 3), dropped=17, first=69, context=6, slot=3 * 4 + 2)
"""Rows 69 .. 73 and the new row 74: logical pages 17 and 18, in ring entries 1 and 2 of 16; the new row is row 2 of page 3."""
BEHIND = Places(pages=(4, 5, 6), dropped=2**30 + 2**29 + 14, first=2**32 + 2**31 + 57, context=6, slot=3 * 4 + 2)
"""Logical pages whose entries are 14, 15 and 0, and a first row beyond 32 bits."""
KEY_16, KEY_32 = 417 + 3 * 32 + 2 * 4, 1313 + 3 * 64 + 2 * 8
"""Where the key of the new row goes, of either width."""

OnChip = ChipDecoder | PagedChipDecoder
Make = Callable[[RecordingChip], OnChip]
Stepped = Callable[[OnChip], Step]


def hosted(chip: RecordingChip) -> ChipDecoder:
    """The narrow or the wide model on that chip, the host gathering."""
    return ChipDecoder(NARROW if chip.lanes == 16 else WIDE, chip)


def paged(chip: RecordingChip) -> PagedChipDecoder:
    """The narrow or the wide model on that chip, which gathers; weights are streamed."""
    return PagedChipDecoder(NARROW if chip.lanes == 16 else WIDE, chip, GATHER)


def resident(chip: RecordingChip) -> PagedChipDecoder:
    """As `paged`, with weights that stay."""
    return PagedChipDecoder(NARROW if chip.lanes == 16 else WIDE, chip, GATHER, stays=True)


def over(rows: int, token: int = 5) -> Stepped:
    """A step over so many rows, of keys of 3 and values of -1, that come with it."""

    def step(decoder: OnChip) -> Step:
        keys = np.full((rows, decoder.width), 3, np.int8)
        return decoder.step(token, Context(keys, np.full_like(keys, -1)))

    return step


def in_place(places: Places, token: int = 5) -> Stepped:
    """A step over rows that stand in the chip's memory."""

    def step(decoder: OnChip) -> Step:
        assert isinstance(decoder, PagedChipDecoder)
        return decoder.step_in_place(token, places)

    return step
