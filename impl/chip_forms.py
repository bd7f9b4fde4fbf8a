"""The forms of the decode program, and a host for each: who gathers the past rows, and whether the weights stay.

Source: docs/chip.md section 7.
"""

from enum import StrEnum

from impl.chip import Chip, Profile
from impl.chip_decoder import ChipDecoder, PagedChipDecoder
from impl.chip_host import ChipHost
from impl.host import Host
from impl.integer_model import IntegerModel
from impl.kv_cache import KVCache
from impl.memory_map import Gathering
from impl.row_store import PagedStore


class Form(StrEnum):
    """Streamed weights and the host gathers, streamed weights and the chip gathers, resident weights and the chip gathers."""

    HOST_GATHER = "host-gather"
    CHIP_GATHER = "chip-gather"
    RESIDENT = "resident"


def decoder_on(
    form: Form,
    model: IntegerModel,
    chip: Chip,
    page_size: int,
    profile: Profile = Profile(),  # noqa: B008
) -> ChipDecoder | PagedChipDecoder:
    """A decoder on the chip whose programs are of that form, with as many pages as fit. Raises CompileError."""
    if form is Form.HOST_GATHER:
        return ChipDecoder(model, chip, profile)
    return PagedChipDecoder(model, chip, Gathering(page_size), form is Form.RESIDENT, profile)


def host_on(
    form: Form,
    model: IntegerModel,
    chip: Chip,
    pages: int,
    page_size: int,
    profile: Profile = Profile(),  # noqa: B008
) -> Host:
    """A host over an empty pool whose decoder, a DecoderOnChip, runs programs of that form. Raises CompileError."""
    if form is Form.HOST_GATHER:
        store = PagedStore(KVCache(pages, page_size, width=model.width))
        return Host(ChipDecoder(model, chip, profile), store)
    return ChipHost(PagedChipDecoder(model, chip, Gathering(page_size, pages), form is Form.RESIDENT, profile))
