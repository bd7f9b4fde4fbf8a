"""The chip's software held to what is typed from docs/chip.md: programs as text and as words, and what the compiler makes.

Each check gives what differs and how much it looked at, as those of the decode step do.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from impl.compiler import Compiled, PagedCompiled, resident, streamed
from impl.memory_map import CompileError, Gathering
from impl.program import ProgramError, assemble, disassemble, from_words, listing, to_words
from spec.isa import Fence, Halt, Load
from verify.decode.hostile_models import hostile
from verify.decode.oracle import Found
from verify.programs.section_7 import (
    GATHER,
    GATHERING_16,
    MAPS,
    ONCE_32,
    PAGED_MAPS,
    PROGRAM_16,
    PROGRAM_32,
    RESIDENT_32,
)
from verify.programs.spellings import LISTED, LISTED_WORDS, MISTAKES, SPELLINGS
from verify.refinement import Difference
from verify.target import Raised, answered


def check_texts() -> Iterator[Found]:
    """Programs as text, as instructions and as words (CHIP-ENC)."""
    for text, instruction, words in SPELLINGS:
        yield _same("CHIP-ENC", text, (instruction,), partial(assemble, text))
        yield _same("CHIP-ENC", text, (words,), partial(to_words, [instruction]))
        yield _same("CHIP-ENC", text, (instruction,), partial(from_words, [words]))
        yield _same("CHIP-ENC", text, f"{text}\n", partial(disassemble, [instruction]))
    free = "# a\n\n load addr=r5+0x10 cnt=0x01 row=001 # b\nsetq sh=1 Rm=0 xrow=0 M=0x8000 q=0\n"
    yield _same(
        "CHIP-ENC",
        free,
        "load   row=1 cnt=1 addr=r5+0x0010\nsetq   q=0 M=32768 sh=1\n",
        lambda: disassemble(assemble(free)),
    )
    for line, says in MISTAKES:
        yield _refused(line, ProgramError, ("line 3: ", says), partial(assemble, f"# first\nhalt\n{line}\nhalt\n"))
    yield _same("CHIP-ENC", "256 fences", 256, lambda: len(to_words(assemble("fence\n" * 256))))
    most = ("the chip holds 256 instructions",)
    yield _refused("257 fences", ProgramError, ("line 257: ", *most), lambda: assemble("fence\n" * 257))
    yield _refused("257 fences", ProgramError, most, lambda: to_words([Fence()] * 257))
    yield _refused("a row too far", ProgramError, ("instruction 1: ",), lambda: to_words([Halt(), Load(1024, 1, 0)]))
    yield _refused("no instruction", ProgramError, ("instruction 1, ",), lambda: from_words([LISTED_WORDS[-1], (0, 0)]))
    shown = answered(lambda: listing(LISTED_WORDS).splitlines())
    alike = not isinstance(shown, Raised) and len(shown) == len(LISTED) and all(map(str.startswith, shown, LISTED))
    yield [] if alike else [Difference("CHIP-ENC", "\n".join(LISTED), f"{shown}")], 1


def check_compiled() -> Iterator[Found]:
    """The programs of section 7, their registers and the maps of their memory; and what does not fit (CHIP-INT)."""
    narrow, wide = hostile(1, 16), hostile(1, 32, residual=-(2**15))
    made: tuple[tuple[str, Callable[[], Compiled | PagedCompiled], object, object], ...] = (
        (PROGRAM_16, lambda: streamed(narrow), MAPS[16], ((9, 3), (10, 5), (12, 2416), (13, 20))),
        (PROGRAM_32, lambda: streamed(wide), MAPS[32], ((9, 3), (10, 5), (12, 5344), (13, 40))),
        (
            GATHERING_16,
            lambda: streamed(narrow, gather=GATHER),
            PAGED_MAPS[16],
            _paged(417 + 3 * 32 + 2 * 4, 20, 401, 417),
        ),
        (RESIDENT_32, lambda: resident(wide, GATHER), PAGED_MAPS[32], _paged(1313 + 3 * 64 + 2 * 8, 40, 1297, 1313)),
    )
    for text, make, places, registers in made:
        due = (text, places, registers)
        yield _same("CHIP-INT", text, due, partial(_shown, make))
    yield _same("CHIP-INT", ONCE_32, ONCE_32, lambda: disassemble(from_words(resident(wide, GATHER).once or ())))
    for size, words, room in ((4, 434, (1, 1, 434)), (4, 8192, (235, 256, 8177)), (128, 8192, (7, 8, 7577))):
        yield _same("CHIP-INT", f"{words} words, pages of {size}", room, partial(_room, size, words))
    for size, pages, words in (
        (3, None, 8192),
        (0, None, 8192),
        (4, 0, 8192),
        (1, 65537, 2**20),
        (4, 9, 704),
        (4, None, 433),
    ):
        pool = Gathering(size, pages)
        yield _refused(f"{pool}", CompileError, (), partial(streamed, narrow, None, words, pool))
    yield _same("CHIP-INT", "memory that just fits", 2441, lambda: streamed(narrow, words=2441).map.end)
    yield _refused("a word too few", CompileError, (), lambda: streamed(narrow, words=2440))
    yield _refused("another width", CompileError, (), lambda: streamed(narrow, 32))
    yield _refused("8 lanes", CompileError, (), lambda: resident(narrow, GATHER, 8))


def _same(rule: str, what: str, due: object, made: Callable[[], object]) -> Found:
    """What is made is what is due."""
    shown = answered(made)
    return [] if type(shown) is type(due) and shown == due else [Difference(rule, f"{what}: {due}", f"{shown}")], 1


def _refused(what: str, error: type[Exception], says: Sequence[str], made: Callable[[], object]) -> Found:
    """Making it raises that error, which begins with the first of these words and has all of them."""
    shown = answered(made)
    message = shown.message if isinstance(shown, Raised) and shown.kind == error.__name__ else None
    if message is not None and all(word in message for word in says) and message.startswith(says[0] if says else ""):
        return [], 1
    return [Difference("CHIP-ENC", f"{what}: {error.__name__}, {', '.join(says)}", f"{shown}")], 1


def _shown(make: Callable[[], Compiled | PagedCompiled]) -> tuple[object, ...]:
    """The program as text, the map, and the registers of a step that feeds token 5 to a context of 3."""
    compiled = make()
    alike = from_words(compiled.program) == compiled.instructions
    registers = compiled.registers(5, 3) if isinstance(compiled, Compiled) else compiled.registers(5, 3, 70, 14)
    return (disassemble(compiled.instructions) if alike else "", compiled.map, registers)


def _paged(new_row: int, token_offset: int, table: int, pool: int) -> tuple[tuple[int, int], ...]:
    """The registers of a step where the chip gathers from row 70 on, nine pages of 4 rows in a ring of 16."""
    step = ((9, 3), (10, 5), (11, 70), (12, new_row), (13, token_offset))
    return (*step, (0x18, table), (0x19, 15), (0x1A, pool), (0x1B, 2), (0x1D, 9))


def _room(page_size: int, words: int) -> tuple[int, int, int]:
    """Pages, ring and end of the memory of so many words that gathers from as many pages as fit."""
    places = streamed(hostile(1, 16), words=words, gather=Gathering(page_size)).map
    return places.pages, places.ring, places.end
