"""Steps over rows that stand anywhere in the chip's pages, on the definition of the chip."""

from collections.abc import Iterator

import numpy as np

from impl.chip_decoder import PagedChipDecoder
from impl.decoder import Places
from impl.memory_map import Gathering
from spec.decode import step_from_rows
from spec.isa_machine import words_of
from verify.chips.spec_chip import SpecChip
from verify.decode.hostile_models import hostile
from verify.decode.integer_checks import step_differences
from verify.decode.oracle import Found, parameters
from verify.refinement import Difference
from verify.target import Raised, answered


def check_shuffled_pages() -> Iterator[Found]:
    """Wherever its rows stand a step of every context reads them, and leaves nothing but one row and its answer (DEC-INT)."""
    for stays, width, page_size, first, context in (
        (False, 16, 4, 0, 1),
        (True, 16, 4, 3, 2),
        (False, 32, 1, 5, 3),
        (True, 16, 2, 2**16 * 2 + 3, 4),
        (False, 16, 2, 67, 5),
        (True, 32, 4, 2**32 - 2, 6),
        (False, 16, 8, 2**32 + 7, 9),
        (True, 16, 1, 66, 12),
        (False, 16, 4, 250, 255),
    ):
        yield _shuffled(stays, width, page_size, first, context)


def _shuffled(stays: bool, width: int, page_size: int, first: int, context: int) -> Found:
    """A step over rows `first` .. in pages of chance in a pool of bytes of chance, against the definition of a step."""
    model, draw = hostile(5, width), np.random.default_rng(first % 997 + page_size)
    at = f"width {width}, rows {first} .. of {context} in pages of {page_size}, stays {stays}"
    dropped, last = first // page_size, (first + context - 1) // page_size
    made = answered(PagedChipDecoder, model, SpecChip(width), Gathering(page_size, last - dropped + 2), stays)
    if isinstance(made, Raised):
        return [Difference("DEC-INT", f"{at}: a decoder", made.text)], 0
    pool = made.pool.kv
    pool[:] = draw.integers(-128, 128, pool.shape)
    pages = draw.permutation(len(pool[0]))[: last - dropped + 1].tolist()
    where = [(pages[row // page_size - dropped], row % page_size) for row in range(first, first + context)]
    rows = np.array([pool[0, page, :, offset] for page, offset in where], np.int8)[:-1].reshape(-1, 2, width)
    (page, offset), places, memory = where[-1], made.compiled.map, made.memory.copy()
    said = answered(made.step_in_place, 9, Places(pages, dropped, first, context, page * page_size + offset))
    due = step_from_rows(parameters(model), 9, rows[:, 0], rows[:, 1])
    found = step_differences("DEC-INT", due, said, at)
    key = places.pool + (page * 2 * page_size + offset) * width // 4
    memory[places.table : places.pool] = 0
    for logical, held in enumerate(pages, start=dropped):
        memory[places.table + logical % places.ring] = 2**31 + held
    memory[key : key + width // 4] = words_of(due.key.astype(np.int64))
    value = key + page_size * width // 4
    memory[value : value + width // 4] = words_of(due.value.astype(np.int64))
    memory[places.logits : places.logits + 16] = due.logits.astype(np.int32).view(np.uint32)
    memory[places.token] = due.token
    if not (made.memory == memory).all():
        found.append(Difference("DEC-INT", f"{at}: memory", f"other words at {np.flatnonzero(made.memory != memory)}"))
    return found, 1
