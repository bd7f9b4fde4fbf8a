"""Any program reads back as it was written, from text and from words, and any words are a program or refused."""

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
    Instruction,
    Load,
    Score,
    SetQ,
    Store,
    StReg,
)

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
