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

SPELLINGS: tuple[tuple[str, Instruction, Words], ...] = (
    ("halt", Halt(), (0x04000000, 0)),
    ("fence", Fence(), (0x08000000, 0)),
    ("setq   q=3 M=32768 sh=1", SetQ(3, 32768, 1), (0x10C18000, 0)),
    ("setq   q=15 M=65535 sh=40 xrow=1023 Rm=-1", SetQ(15, 65535, 40, 1023, -1), (0x13E8FFFF, 0x03FFFFFF)),
    ("setq   q=0 M=32768 sh=1 xrow=2", SetQ(0, 32768, 1, 2), (0x10018000, 0x00020000)),
    ("load   row=768 cnt=48 addr=0x0040", Load(768, 48, 0x40), (0x200C0030, 0x00000040)),
    ("load   row=257 cnt=r1-1 addr=0x0180", Load(257, -1, 0x180, count_register=1), (0x208407FF, 0x00000180)),
    ("store  row=r7+1 cnt=r2+3 addr=r4", Store(1, 3, 0, 2, 7, 4), (0x25700403, 0x80000000)),
    ("store  row=r7 cnt=r2 addr=r4+0xfffff", Store(0, 0, 0xFFFFF, 2, 7, 4), (0x25700000, 0x800FFFFF)),
    ("gather row=1 cnt=2 ra=3 kv=1", Gather(1, 2, 1, address_register=3), (0x28000402, 0x70000000)),
    ("streg  addr=r6+0x0988", StReg(0x988, 6), (0x30000000, 0xC0000988)),
    ("dot    a=1 row=768 cnt=48 dst=0 q=5 next apart", Dot(1, 768, 48, 0, 5, True, True), (0x400C0030, 0x53000400)),
    ("dot    a=1 row=768 cnt=48 dst=2 q=5 apart", Dot(1, 768, 48, 2, 5, apart=True), (0x400C0030, 0x52000402)),
    ("dotl   a=3 row=832 cnt=16 dst=4 argmax", DotL(3, 832, 16, 4, True), (0x440D0010, 0x01000C04)),
    ("dotl   a=3 row=832 cnt=16 dst=4", DotL(3, 832, 16, 4), (0x440D0010, 0x00000C04)),
    ("score  a=0 row=256 cnt=r1 q=3", Score(0, 256, 0, 3, 1), (0x48840000, 0x30000000)),
    ("av     row=512 cnt=r1 dst=2", Av(512, 0, 2, 1), (0x4C880000, 0x00000002)),
)
"""Text, instruction and words, all three typed from docs/chip.md section 4."""

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


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("lod row=1", "no instruction is called 'lod'; there are halt, fence, setq"),
        ("LOAD row=1 cnt=1 addr=0", "no instruction is called 'LOAD'"),
        ("halt 1", "halt does not take '1'; it takes nothing"),
        ("load row=1 cnt=1", "load lacks addr"),
        ("load", "load lacks row, cnt, addr"),
        ("load row=1 cnt=1 addr=0 a=3", "load does not take 'a=3'; it takes row=, cnt=, addr="),
        ("load row=1 cnt=1 addr=0 row=2", "load has row twice"),
        ("dot a=0 row=1 cnt=1 dst=2 q=0 next next", "dot has next twice"),
        ("dot a=0 row=1 cnt=1 dst=2 q=0 argmax", "dot does not take 'argmax'; it takes a=, row=, cnt=, dst=, q=, next"),
        ("dot a=0 row=1 cnt=1 dst=2 q=0 next=1", "dot does not take 'next=1'"),
        ("load row cnt=1 addr=0", "load does not take 'row'"),
        ("load row=1 cnt=r0 addr=0", "cnt is a number, r1 .. r7, or both as in r1-1, not 'r0'"),
        ("load row=1 cnt=r8 addr=0", "not 'r8'"),
        ("load row=1 cnt=1+r1 addr=0", "not '1+r1'"),
        ("load row=1 cnt=r1- addr=0", "not 'r1-'"),
        ("load row=1 cnt= addr=0", "not ''"),
        ("load row=1 cnt=\u0661 addr=0", "cnt is a number"),
        ("load row=1 cnt=0x addr=0", "not '0x'"),
        (f"load row=1 cnt={'9' * 5000} addr=0", "cnt is a number"),
        ("dot a=r1 row=1 cnt=1 dst=2 q=0", "a is a number such as 12 or 0x0c, not 'r1'"),
        ("load row=1024 cnt=1 addr=0", "1024"),
        ("load row=-1 cnt=1 addr=0", "-1"),
        ("load row=0 cnt=512 addr=0", "512"),
        ("load row=0 cnt=r1-513 addr=0", "-513"),
        ("load row=0 cnt=1 addr=0x100000", "1048576"),
        ("setq q=0 M=32767 sh=1", "32767"),
        ("setq q=0 M=32768 sh=41", "41"),
        ("setq q=0 M=32768 sh=1 Rm=32768", "32768"),
        ("setq q=16 M=32768 sh=1", "16"),
    ],
)
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
    words = [
        (0x208407FF, 0x180),
        (0, 0),
        (0x48840000, 0x30000020),
        (0x10017FFF, 0),
        (0x28000402, 0x70000000),
        (0x04000000, 0),
    ]
    lines = listing(words).splitlines()
    assert lines[0] == "no.   host  w0       w1       instruction"
    assert lines[1] == "  0  0x400  208407ff 00000180  load   row=257 cnt=r1-1 addr=0x0180"
    assert lines[2].startswith("  1  0x402  00000000 00000000  illegal: ")
    assert lines[3].startswith("  2  0x404  48840000 30000020  illegal: ") and "SCORE" in lines[3] and "w1" in lines[3]
    assert lines[4].startswith("  3  0x406  10017fff 00000000  illegal: ") and "32767" in lines[4]
    assert lines[5] == "  4  0x408  28000402 70000000  gather row=1 cnt=2 ra=3 kv=1"
    assert lines[6] == "  5  0x40a  04000000 00000000  halt"
    assert len(lines) == 7


def test_words_that_are_no_instruction_are_named_with_their_number() -> None:
    with pytest.raises(IllegalInstruction):
        decode(0, 0)
    with pytest.raises(ProgramError, match=r"^instruction 1, 0x00000000 0x00000000: "):
        from_words([(0x04000000, 0), (0, 0)])
