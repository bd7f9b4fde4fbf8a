"""Programs as text, as instructions and as words, and every way in which they are none, typed from docs/chip.md section 4."""

from collections.abc import Iterator
from functools import partial

from impl.program import ProgramError, assemble, disassemble, from_words, listing, to_words
from spec.isa import Dot, Fence, Halt, Instruction, Load, SetQ
from verify.decode.oracle import Found
from verify.programs.claims import refused, same
from verify.programs.spellings import LISTED, LISTED_WORDS, MISTAKES, SPELLINGS

FREELY = """
    # a load, its operands in another order
    load addr=r5+0x10 cnt=0x01 row=001   # and a comment behind it

load\trow=1 addr=r5+16 cnt=1
setq sh=1 Rm=0 xrow=0 M=0x8000 q=0
dot apart a=0 row=1 cnt=1 dst=2 next q=0
"""
_LOAD = Load(1, 1, 16, address_register=5)
FREELY_MEANT = (_LOAD, _LOAD, SetQ(0, 32768, 1), Dot(0, 1, 1, 2, 0, True, True))


def check_texts() -> Iterator[Found]:
    """Spellings and their words, free spellings, mistakes with their lines, programs that are too long, a listing (CHIP-ENC)."""
    for text, instruction, words in SPELLINGS:
        yield same("CHIP-ENC", text, (instruction,), partial(assemble, text))
        yield same("CHIP-ENC", text, (words,), partial(to_words, [instruction]))
        yield same("CHIP-ENC", text, (instruction,), partial(from_words, [words]))
        yield same("CHIP-ENC", text, f"{text}\n", partial(disassemble, [instruction]))
    yield same("CHIP-ENC", FREELY, FREELY_MEANT, partial(assemble, FREELY))
    for line, says in MISTAKES:
        program = f"# first\nhalt\n{line}\nhalt\n"
        yield refused("CHIP-ENC", line, ProgramError, ("line 3: ", says), partial(assemble, program))
    yield same("CHIP-ENC", "256 fences", 256, lambda: len(to_words(assemble("fence\n" * 256))))
    most = "the chip holds 256 instructions"
    yield refused("CHIP-ENC", "257 fences", ProgramError, (f"line 257: {most}",), lambda: assemble("fence\n" * 257))
    yield refused("CHIP-ENC", "257 fences", ProgramError, (f"{most}, not 257",), lambda: to_words([Fence()] * 257))
    far: list[Instruction] = [Halt(), Load(1024, 1, 0)]
    none = [LISTED_WORDS[-1], (0, 0)]
    yield refused("CHIP-ENC", f"{far}", ProgramError, ("instruction 1: ", "row", "1024"), lambda: to_words(far))
    number = "instruction 1, 0x00000000 0x00000000: "
    yield refused("CHIP-ENC", f"{none}", ProgramError, (number, "opcode 0"), lambda: from_words(none))
    yield same("CHIP-ENC", "a listing", LISTED, lambda: tuple(listing(LISTED_WORDS).splitlines()))
