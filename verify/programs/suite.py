"""The chip's software held to what is typed from docs/chip.md and to definitions: texts, compiled models, decoders, hosts.

One quick stage, in which no chip computes but the definition.
"""

from collections.abc import Iterator
from functools import partial

from impl.chip_forms import Form, decoder_on
from impl.decoder import Decoder
from impl.integer_model import IntegerModel
from verify.chips.spec_chip import SpecChip
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_step
from verify.decode.oracle import Found
from verify.programs.compiler_checks import check_misfits, check_pages, check_programs, check_room, check_rows_as_words
from verify.programs.decoder_checks import check_asked_steps, check_given_steps
from verify.programs.failure_checks import check_ended_runs, check_failed_steps, check_refused_places
from verify.programs.host_checks import check_failed_hosts, check_hosts, check_refused_hosts
from verify.programs.page_checks import check_shuffled_pages
from verify.programs.text_checks import check_texts
from verify.stage import StageResult, of_parts


def software_stage(budget: int | None) -> StageResult:
    """Hold the assembler, the compiler, the decoders and the hosts on a chip to what is typed and to what is meant."""
    return of_parts(PARTS, budget)


def decodes() -> Iterator[Found]:
    """A step of each form on the chip's definition is that of the definition of a step, over few rows and many (DEC-INT)."""
    for form in Form:
        for width, rows, page_size in ((16, 0, 4), (16, 9, 2), (32, 5, 4)):
            model = hostile(rows, width, PALETTES[0], residual=-(2**15))
            past = hostile_rows(7, rows, width, PALETTES[0])
            yield check_integer_step(model, rows, past, partial(_decoder, form, page_size))


def _decoder(form: Form, page_size: int, model: IntegerModel) -> Decoder:
    """The decoder of that form on the chip's definition."""
    return decoder_on(form, model, SpecChip(model.width), page_size)


PARTS = (
    check_texts,
    check_rows_as_words,
    check_programs,
    check_pages,
    check_room,
    check_misfits,
    check_asked_steps,
    check_given_steps,
    check_ended_runs,
    check_failed_steps,
    check_refused_places,
    check_shuffled_pages,
    check_hosts,
    check_refused_hosts,
    check_failed_hosts,
    decodes,
)
"""The cheap ones first."""
