"""Programs read back as they were written, from text and from words; what is no program is named with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.program import (
    ProgramError,
    assemble,
    disassemble,
    from_words,
    listing,
    to_words,
)
from spec.isa import (
    Av,
    Dot,
    DotL,
    Fence,
    Gather,
    Halt,
    IllegalInstruction,
    Instruction,
    Load,
    Score,
    SetQ,
    Store,
    StReg,
    Words,
    decode,
)
from verify.programs.spellings import LISTED, LISTED_WORDS, MISTAKES, SPELLINGS

_rows = st.integers(0, 1023)
_counts = st.integers(-512, 511)
_registers = st.integers(0, 7)
_entries = st.integers(0, 15)
_addresses = st.integers(0, 2**20 - 1)
_transfers = (_rows, _counts, _addresses, _registers, _registers, _registers)
INSTRUCTIONS: st.SearchStrategy[Instruction] = st.one_of(
    st.just(Halt()),
    st.just(Fence()),
    st.builds(
        SetQ, _entries, st.integers(2**15, 2**16 - 1), st.integers(1, 40), _rows, st.integers(-(2**15), 2**15 - 1)
    ),
    st.builds(Load, *_transfers),
    st.builds(Store, *_transfers),
    st.builds(Gather, _rows, _counts, st.integers(0, 1), _registers, _registers, _registers),
    st.builds(StReg, _addresses, _registers),
    st.builds(Dot, _rows, _rows, _counts, _rows, _entries, st.booleans(), st.booleans(), _registers, _registers),
    st.builds(DotL, _rows, _rows, _counts, _rows, st.booleans(), _registers, _registers),
    st.builds(Score, _rows, _rows, _counts, _entries, _registers, _registers),
    st.builds(Av, _rows, _counts, _rows, _registers, _registers),
)


@pytest.mark.parametrize(("text", "instruction", "words"), SPELLINGS, ids=[text for text, _, _ in SPELLINGS])
def test_text_instruction_and_words_are_three_forms_of_one_thing(
    text: str, instruction: Instruction, words: Words
) -> None:
    """CHIP-ENC: words typed in from the definition."""
    assert assemble(text) == (instruction,)
    assert to_words([instruction]) == (words,)
    assert from_words([words]) == (instruction,)
    assert disassemble([instruction]) == f"{text}\n"


@given(st.lists(INSTRUCTIONS, max_size=8))
def test_every_program_survives_text_and_words(program: list[Instruction]) -> None:
    text = disassemble(program)
    assert assemble(text) == tuple(program)
    words = to_words(assemble(text))
    assert disassemble(from_words(words)) == text
    assert [line[31:] for line in listing(words).splitlines()[1:]] == text.splitlines()


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_any_words_are_an_instruction_or_a_program_error(low: int, high: int) -> None:
    shown = listing([(low, high)])
    assert f"{low:08x} {high:08x}" in shown
    try:
        (instruction,) = from_words([(low, high)])
    except ProgramError:
        assert "illegal" in shown
    else:
        assert to_words([instruction]) == ((low, high),)


def test_a_program_may_be_written_freely() -> None:
    text = """
        # a load, its operands in another order
        load addr=r5+0x10 cnt=0x01 row=001   # and a comment behind it

    load\trow=1 addr=r5+16 cnt=1
    setq sh=1 Rm=0 xrow=0 M=0x8000 q=0
    dot apart a=0 row=1 cnt=1 dst=2 next q=0
    """
    load = Load(1, 1, 16, address_register=5)
    assert assemble(text) == (load, load, SetQ(0, 32768, 1), Dot(0, 1, 1, 2, 0, True, True))


@pytest.mark.parametrize(("line", "says"), MISTAKES)
def test_a_mistake_is_named_with_its_line(line: str, says: str) -> None:
    with pytest.raises(ProgramError) as caught:
        assemble(f"# first\nhalt\n{line}\nhalt\n")
    assert str(caught.value).startswith("line 3: ")
    assert says in str(caught.value)


def test_a_program_has_as_many_instructions_as_the_chip_holds() -> None:
    assert len(to_words(assemble("fence\n" * 256))) == 256
    with pytest.raises(ProgramError, match=r"^line 257: the chip holds 256 instructions"):
        assemble("fence\n" * 257)
    with pytest.raises(ProgramError, match="the chip holds 256 instructions, not 257"):
        to_words([Fence()] * 257)


def test_an_instruction_without_an_encoding_is_named_with_its_number() -> None:
    with pytest.raises(ProgramError, match=r"^instruction 1: .*1024"):
        to_words([Halt(), Load(1024, 1, 0)])


def test_a_listing_shows_numbers_host_addresses_words_and_what_is_illegal() -> None:
    lines = listing(LISTED_WORDS).splitlines()
    assert all(line.startswith(begins) for line, begins in zip(lines, LISTED, strict=True))
    assert "SCORE" in lines[3] and "w1" in lines[3] and "32767" in lines[4]


def test_words_that_are_no_instruction_are_named_with_their_number() -> None:
    with pytest.raises(IllegalInstruction):
        decode(0, 0)
    with pytest.raises(ProgramError, match=r"^instruction 1, 0x00000000 0x00000000: "):
        from_words([(0x04000000, 0), (0, 0)])
