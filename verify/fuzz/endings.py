"""How a program ends: stores that make visible what it computed, then HALT, or an error of each code at the place reached."""

from collections.abc import Iterator

from spec.isa import (
    EXT_WORDS,
    FIELDS,
    IMEM_INSTRUCTIONS,
    SPAD_ROWS,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Fence,
    Gather,
    Halt,
    Instruction,
    Load,
    Op,
    Score,
    SetQ,
    Store,
    StReg,
    Words,
    encode,
)
from spec.isa_checks import first_error
from spec.isa_machine import Unspecified
from verify.fuzz.draws import Draw
from verify.fuzz.writer import Writer

OUT = 0x1800
"""Where the last stores of a program begin; they do not reach the end of memory."""

SHOWN_ROWS, SHOWN_SPANS = 6, 5
WALK = (ErrorCode.EXT_RANGE, ErrorCode.PAGE)

ENDS = 8
"""Of so many errors one is the end of instruction memory, which takes as many instructions as that has."""

CODES = (
    ErrorCode.ILLEGAL,
    ErrorCode.COUNT,
    ErrorCode.ROW_RANGE,
    ErrorCode.EXT_RANGE,
    ErrorCode.DIV0,
    ErrorCode.PAGE,
)
UNKNOWN_OPCODES = tuple(code for code in range(64) if code not in set(Op))
SIMPLEST: tuple[Instruction, ...] = (
    Halt(),
    Fence(),
    SetQ(0, 32768, 1),
    Load(0, 0, 0),
    Store(0, 0, 0),
    StReg(0),
    Dot(0, 1, 1, 2, 0),
    DotL(0, 1, 1, 2),
    Score(0, 1, 1, 0),
    Av(1, 1, 2),
    Gather(0, 0, 0),
)


def show(writer: Writer, draw: Draw) -> None:
    """Store rows that the program wrote, a few of each run of them."""
    address = OUT
    for span in list(dict.fromkeys(reversed(writer.results)))[: 1 + draw.below(SHOWN_SPANS)]:
        count = min(span.size, SHOWN_ROWS)
        first = span.last - count + 1 if draw.below(2) else span.first
        if not writer.written(first, count):
            continue
        writer.add(Store(first, count, address))
        address += count * writer.machine.words_a_row


def halt(writer: Writer, draw: Draw) -> None:
    """Show what was computed and end."""
    show(writer, draw)
    writer.add(Halt())


def fail(writer: Writer, draw: Draw) -> None:
    """End with an error, and leave instructions behind it that must not do anything."""
    code, shows, end = draw.one_of(CODES), draw.below(2), draw.chance(256 // ENDS)
    if shows:
        show(writer, draw)
    if end:
        _reach_the_end(writer, draw)
        return
    found = next((one for one in _candidates(writer, draw, code) if _error(writer, one) is code), None)
    if found is None:
        writer.program.append(illegal(draw))
        code = ErrorCode.ILLEGAL
    else:
        writer.program.append(encode(found))
        if isinstance(found, Gather) and code in WALK:
            writer.machine.lose()
            writer.met[f"{code.name} of a walk"] += 1
    writer.met[code.name] += 1
    writer.program += [encode(Store(0, 1, OUT)), encode(StReg(OUT))][: draw.below(3)]
    writer.program.append(encode(Halt()))


def illegal(draw: Draw) -> Words:
    """Words that are no instruction."""
    kind = draw.below(4)
    if kind == 0:
        return draw.one_of(UNKNOWN_OPCODES) << 26 | draw.below(1 << 16) << 5, draw.below(1 << 16) * 0x8001
    if kind == 1:
        return Op.SETQ << 26 | draw.one_of((0, 41, 63, 48)) << 16 | 0xFFFF, 0
    if kind == 2:
        return Op.SETQ << 26 | 1 << 16 | draw.one_of((0x7FFF, 0, 1, 0x4000)), 0
    instruction = draw.one_of(SIMPLEST)
    words = list(encode(instruction))
    unused = list(_unused_bits(instruction))
    word, bit = unused[draw.below(len(unused))]
    words[word] |= 1 << bit
    return words[0], words[1]


def _unused_bits(instruction: Instruction) -> Iterator[tuple[int, int]]:
    """Word and bit of each bit that the instruction does not use."""
    used = [0x3F << 26, 0]
    for field in FIELDS[type(instruction)][1]:
        used[field.word] |= field.mask
    return ((word, bit) for word in (0, 1) for bit in range(32) if not used[word] >> bit & 1)


def _error(writer: Writer, instruction: Instruction) -> ErrorCode | None:
    """The error that it has now, None where that has no value."""
    try:
        return first_error(instruction, writer.machine)
    except Unspecified:
        return None


def _reach_the_end(writer: Writer, draw: Draw) -> None:
    """Fill instruction memory with what takes little time."""
    filler: tuple[Instruction, ...] = (Fence(), SetQ(15, 40_000, 22), Load(0, 0, 0))
    while len(writer.program) < IMEM_INSTRUCTIONS:
        writer.add(draw.one_of(filler))
    writer.met[ErrorCode.PC_END.name] += 1


def _candidates(writer: Writer, draw: Draw, code: ErrorCode) -> Iterator[Instruction]:
    """Instructions that may have the error, from a drawn one on; not every one has it on every chip."""
    match code:
        case ErrorCode.COUNT:
            found = _wrong_counts(writer, draw)
        case ErrorCode.ROW_RANGE:
            found = _wrong_rows(writer, draw)
        case ErrorCode.EXT_RANGE:
            found = _wrong_words(draw)
        case ErrorCode.DIV0:
            found = [Av(draw.below(64), 1 + draw.below(8), 500)]
        case ErrorCode.PAGE:
            found = _wrong_pages(writer, draw)
        case _:
            found = []
    at = draw.below(len(found))
    yield from (*found[at:], *found[:at])


def _wrong_counts(writer: Writer, draw: Draw) -> list[Instruction]:
    """Counts beyond either end, from cnt and from registers; with other errors that are looked for later."""
    lanes, wrong = writer.lanes, draw.one_of((0, -1, 256, 511, -512))
    rc, row = draw.below(8), draw.one_of((0, 1000, 1023))
    return [
        Dot(0, row, wrong, 900, 0),
        Dot(0, row, 4 * lanes + 1, 1023, 0),
        DotL(0, row, wrong, 0),
        DotL(0, row, lanes + 1, 1023),
        Score(0, row, wrong, 0),
        Score(0, row, 0, 0, rc),
        Av(row, wrong, 0),
        Av(row, 254, 1023),
        Load(row, -1, 0xFFFFF),
        Store(row, -512, 0),
        Load(0, 511, 0, rc),
        Load(0, -1, 0, rc),
        Gather(0, -1, 1),
        Gather(row, 511, 0, rc),
        Gather(row, 0, 0, rc),
    ]


def _wrong_rows(writer: Writer, draw: Draw) -> list[Instruction]:
    """Rows beyond the last, from row, registers and results; result rows that the op reads."""
    lanes, rr = writer.lanes, draw.below(8)
    scored = writer.machine.scored.count if writer.machine.scored else 1
    return [
        Load(1023, 2, 0xFFFFF),
        Store(1000, 25, 0),
        Load(1023, 1, 0, 0, rr),
        Dot(0, 1023, 2, 5, 0),
        Dot(0, 1, lanes + 1, 1023, 0),
        Dot(0, 1, lanes + 1, 768, 0, apart=True),
        Dot(7, 1, 1, 7, 0),
        Dot(0, 1, 8, 8, 0),
        DotL(0, 1, lanes, 1021),
        DotL(0, 10, 3, 12),
        DotL(300, 10, 9, 299),
        Score(0, 1020, 5, 0),
        Av(1024 - scored + 1 & 1023, scored, 5),
        Av(4, scored, 4),
        *(
            Dot(0, 1, 1, entry.residual_row, number)
            for number, entry in enumerate(writer.machine.entries)
            if entry.residual
        ),
        Gather(SPAD_ROWS - 1, 2, 0),
        Gather(1020, 5, 1, 0, rr),
    ]


def _wrong_words(draw: Draw) -> list[Instruction]:
    """Words at or beyond the last, from addr and registers, by one and by much; those of a walk that goes there."""
    ra, address = draw.below(8), EXT_WORDS - draw.below(9)
    return [
        Load(0, 3, address),
        Store(0, 3, address),
        StReg(EXT_WORDS + draw.below(2)),
        Load(0, 1, 0xFFFFF, 0, 0, ra),
        Store(5, 1, 0xFFFFC, 0, 0, ra),
        StReg(0xFFFFF, ra),
        Load(0, 1, 0, 0, 0, ra),
        *_walks(),
    ]


def _wrong_pages(writer: Writer, draw: Draw) -> list[Instruction]:
    """Walks that meet an entry of no page; where none does, TOK is stored over an entry, which has then no valid bit."""
    walks = _walks()
    if not any(_error(writer, walk) is ErrorCode.PAGE for walk in walks) and "TOK" not in writer.machine.lost:
        walker = writer.machine.walker
        slot = walker.btbase + (draw.below(8) & walker.btmask)
        if slot < EXT_WORDS:
            writer.add(StReg(slot))
    return walks


def _walks() -> list[Instruction]:
    """Walks from every register, over many pages and few."""
    return [
        Gather(500, count, half, address_register=register)
        for count in (3, 40, 17)
        for half in (0, 1)
        for register in range(8)
    ]
