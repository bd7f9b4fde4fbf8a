"""The instruction words of spec.isa are those of docs/chip.md section 4: 40 words worked out by hand, and what is illegal.

Each golden word is a sum on paper, op << 26 + rc << 23 + rr << 20 + row << 10 + cnt for most w0, and never a paste.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.isa import (
    FIELDS,
    Av,
    Dot,
    DotL,
    Fence,
    FieldError,
    Gather,
    Halt,
    IllegalInstruction,
    Instruction,
    Load,
    Op,
    Score,
    SetQ,
    Store,
    StReg,
    decode,
    encode,
    layout,
)
from spec.isa_header import verilog_header

ROOT = Path(__file__).parent.parent

GOLDEN: tuple[tuple[Instruction, int, int], ...] = (
    (Halt(), 0x0400_0000, 0),
    (Fence(), 0x0800_0000, 0),
    # SETQ: q << 22, sh << 16, M; xrow << 16, Rm.
    (SetQ(0, m=32768, shift=1), 0x1001_8000, 0),
    # 15 << 22 = 03C0_0000, 40 << 16 = 0028_0000.
    (SetQ(15, m=65535, shift=40, residual_row=1023, residual=-1), 0x13E8_FFFF, 0x03FF_FFFF),
    (SetQ(1, m=0x8001, shift=15, residual_row=1, residual=1), 0x104F_8001, 0x0001_0001),
    (SetQ(8, m=0xA5A5, shift=32, residual_row=512, residual=32767), 0x1220_A5A5, 0x0200_7FFF),
    # 5 << 22 = 0140_0000, 20 << 16 = 0014_0000.
    (SetQ(5, m=0x9000, shift=20, residual_row=0x155, residual=-32768), 0x1154_9000, 0x0155_8000),
    (Load(0, 0, 0), 0x2000_0000, 0),
    (Load(1023, -1, 0xFFFFF, 7, 7, 7), 0x23FF_FFFF, 0xE00F_FFFF),
    # 1 << 23 = 0080_0000, 2 << 20 = 0020_0000, 3 << 10 = 0C00, 5 << 29 = A000_0000.
    (Load(3, 4, 6, count_register=1, row_register=2, address_register=5), 0x20A0_0C04, 0xA000_0006),
    (Load(0, 511, 0), 0x2000_01FF, 0),
    # -512 in 10 bits is 200, and 1 << 10 = 400.
    (Load(1, -512, 0x80000), 0x2000_0600, 0x0008_0000),
    # 512 << 10 = 0008_0000, 4 << 23 = 0200_0000, 4 << 29 = 8000_0000.
    (Store(512, 1, 0x12345, count_register=4, address_register=4), 0x2608_0001, 0x8001_2345),
    # -2 in 10 bits is 3FE.
    (Store(1, -2, 1, row_register=4), 0x2440_07FE, 0x0000_0001),
    # 2AA << 10 = 000A_A800, 2 << 23 = 0100_0000.
    (Store(0x2AA, 0x155, 0xABCDE, 2, 1, 2), 0x251A_A955, 0x400A_BCDE),
    (Gather(0, 0, half=0), 0x2800_0000, 0),
    # 257 << 10 = 0004_0400.
    (Gather(257, 5, half=1), 0x2804_0405, 0x1000_0000),
    # 0080_0000 + 0070_0000 + (513 << 10 = 0008_0400) + 3FF; E000_0000 + 1000_0000.
    (Gather(513, -1, 1, 1, 7, 7), 0x28F8_07FF, 0xF000_0000),
    # 3 << 23 = 0180_0000, 6 << 20 = 0060_0000, 2 << 10 = 800, 100 = 64.
    (Gather(2, 100, 0, count_register=3, row_register=6, address_register=1), 0x29E0_0864, 0x2000_0000),
    (StReg(0), 0x3000_0000, 0),
    (StReg(0xFFFFF, address_register=7), 0x3000_0000, 0xE00F_FFFF),
    # 3 << 29 = 6000_0000, 8000 = 1F40.
    (StReg(8000, address_register=3), 0x3000_0000, 0x6000_1F40),
    # DOT: q << 28, fl << 24, a << 10, dst.
    (Dot(0, 0, 0, 0, 0), 0x4000_0000, 0),
    (Dot(1023, 1023, -1, 1023, 15, True, True, 7, 7), 0x43FF_FFFF, 0xF30F_FFFF),
    (Dot(2, 4, 5, 3, 1, next_entry=True), 0x4000_1005, 0x1100_0803),
    # 0080_0000 + 0010_0000 + (768 << 10 = 000C_0000) + 10.
    (Dot(1, 768, 16, 512, 8, apart=True, count_register=1, row_register=1), 0x409C_0010, 0x8200_0600),
    (Dot(1, 768, 48, 0, 0, next_entry=True, apart=True), 0x400C_0030, 0x0300_0400),
    (Dot(512, 0, -512, 1, 5), 0x4000_0200, 0x5008_0001),
    (DotL(0, 0, 0, 0), 0x4400_0000, 0),
    (DotL(1023, 1023, -1, 1023, True, 7, 7), 0x47FF_FFFF, 0x010F_FFFF),
    # 832 << 10 = 000D_0000, 3 << 10 = C00.
    (DotL(3, 832, 16, 4), 0x440D_0010, 0x0000_0C04),
    # 5 << 23 = 0280_0000, 3 << 20 = 0030_0000.
    (DotL(1, 1, 2, 2, argmax=True, count_register=5, row_register=3), 0x46B0_0402, 0x0100_0402),
    # SCORE: q << 28, a << 10, and bits 9:0 stay 0.
    (Score(0, 0, 0, 0), 0x4800_0000, 0),
    (Score(1023, 1023, -1, 15, 7, 7), 0x4BFF_FFFF, 0xF00F_FC00),
    (Score(0, 256, 0, 3, count_register=1), 0x4884_0000, 0x3000_0000),
    (Score(0x2AA, 2, 255, 9, row_register=5), 0x4850_08FF, 0x900A_A800),
    (Av(0, 0, 0), 0x4C00_0000, 0),
    (Av(1023, -1, 1023, 7, 7), 0x4FFF_FFFF, 0x0000_03FF),
    (Av(512, 0, 2, count_register=1), 0x4C88_0000, 0x0000_0002),
    # 6 << 23 = 0300_0000, 2 << 20 = 0020_0000, 400 + 3FD = 7FD.
    (Av(1, -3, 0x155, count_register=6, row_register=2), 0x4F20_07FD, 0x0000_0155),
)

UNUSED: dict[Op, tuple[int, int]] = {
    Op.HALT: (0x03FF_FFFF, 0xFFFF_FFFF),
    Op.FENCE: (0x03FF_FFFF, 0xFFFF_FFFF),
    Op.SETQ: (0, 0xFC00_0000),
    Op.LOAD: (0, 0x1FF0_0000),
    Op.STORE: (0, 0x1FF0_0000),
    Op.GATHER: (0, 0x0FFF_FFFF),
    Op.STREG: (0x03FF_FFFF, 0x1FF0_0000),
    # 27:26, an fl beyond 3, and 23:20.
    Op.DOT: (0, 0x0CF0_0000),
    # 31:28, 27:25, an fl beyond 1, and 23:20.
    Op.DOTL: (0, 0xFEF0_0000),
    Op.SCORE: (0, 0x0FF0_03FF),
    Op.AV: (0, 0xFFFF_FC00),
}
"""The bits of w0 and of w1 that must be 0, read off the table by hand."""

LEAST: dict[Op, tuple[int, int]] = {op: (op << 26, 0) for op in Op} | {Op.SETQ: (0x1001_8000, 0)}
"""Each instruction with its fields as small as they may be."""

FLAG = st.booleans()
REGISTER = st.integers(0, 7)
ROW = st.integers(0, 1023)
COUNT = st.integers(-512, 511)
ADDRESS = st.integers(0, 2**20 - 1)
ENTRY = st.integers(0, 15)
INSTRUCTIONS: st.SearchStrategy[Instruction] = st.one_of(
    st.builds(Halt),
    st.builds(Fence),
    st.builds(SetQ, ENTRY, st.integers(2**15, 2**16 - 1), st.integers(1, 40), ROW, st.integers(-(2**15), 2**15 - 1)),
    st.builds(Load, ROW, COUNT, ADDRESS, REGISTER, REGISTER, REGISTER),
    st.builds(Store, ROW, COUNT, ADDRESS, REGISTER, REGISTER, REGISTER),
    st.builds(Gather, ROW, COUNT, st.integers(0, 1), REGISTER, REGISTER, REGISTER),
    st.builds(StReg, ADDRESS, REGISTER),
    st.builds(Dot, ROW, ROW, COUNT, ROW, ENTRY, FLAG, FLAG, REGISTER, REGISTER),
    st.builds(DotL, ROW, ROW, COUNT, ROW, FLAG, REGISTER, REGISTER),
    st.builds(Score, ROW, ROW, COUNT, ENTRY, REGISTER, REGISTER),
    st.builds(Av, ROW, COUNT, ROW, REGISTER, REGISTER),
)


def unused_bits() -> list[tuple[Op, int, int]]:
    """Opcode, word and bit of every bit that must be 0."""
    return [
        (op, word, bit)
        for op, masks in UNUSED.items()
        for word in (0, 1)
        for bit in range(32)
        if masks[word] >> bit & 1
    ]


def with_bit(op: Op, word: int, bit: int) -> tuple[int, int]:
    words = list(LEAST[op])
    words[word] ^= 1 << bit
    return words[0], words[1]


@pytest.mark.parametrize(("instruction", "w0", "w1"), GOLDEN, ids=[str(golden[0]) for golden in GOLDEN])
def test_an_instruction_has_the_words_worked_out_by_hand(instruction: Instruction, w0: int, w1: int) -> None:
    assert encode(instruction) == (w0, w1)
    assert decode(w0, w1) == instruction


def test_the_golden_words_show_every_opcode_and_every_field_at_two_values() -> None:
    assert len(GOLDEN) == 40
    for kind, (op, fields) in FIELDS.items():
        shown = [instruction for instruction, w0, _ in GOLDEN if w0 >> 26 == op and isinstance(instruction, kind)]
        assert shown, op
        for field in fields:
            assert len({getattr(instruction, field.name) for instruction in shown}) > 1, (op, field.name)


@given(INSTRUCTIONS)
def test_an_instruction_survives_its_words(instruction: Instruction) -> None:
    assert decode(*encode(instruction)) == instruction


@given(st.sampled_from(Op), st.integers(0, 2**26 - 1), st.integers(0, 2**32 - 1))
def test_words_that_are_an_instruction_are_that_instructions(op: Op, below: int, w1: int) -> None:
    words = (op << 26 | below & ~UNUSED[op][0], w1 & ~UNUSED[op][1])
    try:
        instruction = decode(*words)
    except IllegalInstruction:
        m, shift = words[0] & 0xFFFF, words[0] >> 16 & 0x3F
        assert op is Op.SETQ and (m < 2**15 or not 1 <= shift <= 40)
    else:
        assert encode(instruction) == words


@pytest.mark.parametrize(("op", "word", "bit"), unused_bits())
def test_a_bit_that_the_instruction_does_not_use_is_illegal(op: Op, word: int, bit: int) -> None:
    with pytest.raises(IllegalInstruction, match="does not use"):
        decode(*with_bit(op, word, bit))


def test_every_other_bit_is_read_by_some_field() -> None:
    whole = {op: decode(*words) for op, words in LEAST.items()}
    for op, masks in UNUSED.items():
        for word, bits in ((0, 26), (1, 32)):
            for bit in (bit for bit in range(bits) if not masks[word] >> bit & 1):
                # M's highest bit and shift's lowest are those that may not be cleared alone, and shift 33 is none.
                if op is Op.SETQ and word == 0 and bit in (15, 16):
                    continue
                assert decode(*with_bit(op, word, bit)) != whole[op], (op, word, bit)


@pytest.mark.parametrize("opcode", sorted(set(range(64)) - {1, 2, 4, 8, 9, 10, 12, 16, 17, 18, 19}))
def test_an_opcode_that_nothing_has_is_illegal(opcode: int) -> None:
    with pytest.raises(IllegalInstruction, match=f"opcode {opcode}"):
        decode(opcode << 26, 0)


@pytest.mark.parametrize("w0", [0x1001_7FFF, 0x1001_0000, 0x1000_8000, 0x1029_8000, 0x103F_FFFF])
def test_a_multiplier_out_of_its_range_is_illegal(w0: int) -> None:
    with pytest.raises(IllegalInstruction, match=r"SETQ's (m|shift) is in"):
        decode(w0, 0)


@pytest.mark.parametrize(
    "instruction",
    [
        SetQ(16, 32768, 1),
        SetQ(-1, 32768, 1),
        SetQ(0, 32767, 1),
        SetQ(0, 65536, 1),
        SetQ(0, 32768, 0),
        SetQ(0, 32768, 41),
        SetQ(0, 32768, 1, residual_row=1024),
        SetQ(0, 32768, 1, residual=32768),
        SetQ(0, 32768, 1, residual=-32769),
        Load(1024, 0, 0),
        Load(-1, 0, 0),
        Load(0, 512, 0),
        Load(0, -513, 0),
        Store(0, 0, 2**20),
        Store(0, 0, -1),
        Store(0, 0, 0, count_register=8),
        Store(0, 0, 0, row_register=8),
        Store(0, 0, 0, address_register=8),
        Gather(0, 0, half=2),
        StReg(2**20),
        Dot(1024, 0, 1, 0, 0),
        Dot(0, 0, 1, 1024, 0),
        Dot(0, 0, 1, 0, 16),
        DotL(-1, 0, 1, 0),
        Score(0, 0, 1, 16),
        Av(0, 1, 1024),
    ],
    ids=str,
)
def test_a_value_that_its_field_cannot_hold_is_refused(instruction: Instruction) -> None:
    with pytest.raises(FieldError, match=" is in "):
        encode(instruction)


def test_a_flag_is_read_as_a_truth_value() -> None:
    assert repr(decode(0x4000_0000, 0x0200_0000)).count("next_entry=False, apart=True") == 1


def test_the_table_of_the_definition_is_the_table_of_fields() -> None:
    text = (ROOT / "docs/chip.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| ([A-Z]+) \|([^|]*)\|([^|]*)\|$", text, re.M)
    written = {name: (int(op), (w0.strip(), re.sub(r", fl 0 .*", "", w1).strip())) for op, name, w0, w1 in rows}
    as_load = written["LOAD"][1]
    for kind, (op, _) in FIELDS.items():
        number, words = written.pop(op.name)
        fields = [as_load[i] if word == "as LOAD" else word for i, word in enumerate(words)]
        found = [re.sub(r"fl.1\[25\], fl.0\[24\]|fl.0\[24\]", "fl[27:24]", word) for word in layout(kind)]
        assert (number, [word.strip("{}") for word in fields]) == (op, found)
    assert not written


def test_the_verilog_header_is_up_to_date() -> None:
    assert (ROOT / "rtl/kestrel_isa.vh").read_text("utf-8") == verilog_header()
    assert "`define KS_OP_AV 6'd19\n" in verilog_header() and "`define KS_CSR_R7 11'h00f\n" in verilog_header()
