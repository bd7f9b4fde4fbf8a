"""Programs of the chip as text: an instruction a line, its operands by the names of docs/chip.md section 4.

    # any text after a # is a comment
    setq   q=4 M=38912 sh=22 xrow=1 Rm=-13
    load   row=257 cnt=r1-1 addr=0x0180          # cnt is R1 - 1
    store  row=256 cnt=1 addr=r4+0x0004          # the word at R4 + 4
    dot    a=1 row=768 cnt=48 dst=0 q=0 next apart
    halt

Where an instruction adds a register, the operand is a number, a register, or a register with a number added or taken away.
Numbers are decimal or, after 0x, hexadecimal. Operands come in any order, and those that may be left out are 0: xrow and Rm.
The words at the end, or their absence, are the flags: of dot `next` (fl[0], the entry after for each result row) and `apart`
(fl[1], result rows 256 apart), of dotl `argmax` (fl[0]). What `disassemble` writes is the one spelling that it has.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spec.isa import (
    IMEM_BASE,
    IMEM_INSTRUCTIONS,
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
    Score,
    SetQ,
    Store,
    StReg,
    Words,
    decode,
    encode,
)

COMMENT = "#"
_NUMBER = "(?:0x[0-9a-fA-F]{1,8}|[0-9]{1,10})"
_PLAIN = re.compile(f"-?{_NUMBER}")
_BASED = re.compile(f"r(?P<register>[1-7])(?:(?P<sign>[+-])(?P<number>{_NUMBER}))?|(?P<plain>-?{_NUMBER})")


class ProgramError(ValueError):
    """Text that is no program, or words that are none."""


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand `name=...` and the attribute that it is; with `register`, a register may be added to it."""

    name: str
    field: str
    register: str | None = None
    optional: bool = False  # left out it is 0, and a 0 is left out
    hexadecimal: bool = False


@dataclass(frozen=True, slots=True)
class _Form:
    """How one kind of instruction is written: its operands in order, then its flags, by word and attribute."""

    make: Callable[..., Instruction]
    operands: tuple[_Operand, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()


_ROW = _Operand("row", "row", "row_register")
_COUNT = _Operand("cnt", "count", "count_register")
_ADDRESS = _Operand("addr", "address", "address_register", hexadecimal=True)
_A, _DST, _ENTRY = _Operand("a", "a"), _Operand("dst", "dst"), _Operand("q", "entry")

_FORMS: dict[str, _Form] = {
    "halt": _Form(Halt),
    "fence": _Form(Fence),
    "setq": _Form(
        SetQ,
        (
            _ENTRY,
            _Operand("M", "m"),
            _Operand("sh", "shift"),
            _Operand("xrow", "residual_row", optional=True),
            _Operand("Rm", "residual", optional=True),
        ),
    ),
    "load": _Form(Load, (_ROW, _COUNT, _ADDRESS)),
    "store": _Form(Store, (_ROW, _COUNT, _ADDRESS)),
    # The first logical row is what a register holds, with nothing added, so the operand is the register's number.
    "gather": _Form(Gather, (_ROW, _COUNT, _Operand("ra", "address_register"), _Operand("kv", "half"))),
    "streg": _Form(StReg, (_ADDRESS,)),
    "dot": _Form(Dot, (_A, _ROW, _COUNT, _DST, _ENTRY), (("next", "next_entry"), ("apart", "apart"))),
    "dotl": _Form(DotL, (_A, _ROW, _COUNT, _DST), (("argmax", "argmax"),)),
    "score": _Form(Score, (_A, _ROW, _COUNT, _ENTRY)),
    "av": _Form(Av, (_ROW, _COUNT, _DST)),
}
_MNEMONICS = {form.make: mnemonic for mnemonic, form in _FORMS.items()}
_COLUMN = max(map(len, _FORMS))


def assemble(text: str) -> tuple[Instruction, ...]:
    """The instructions of the text. ProgramError names the line and what is wrong with it, fields that do not fit too."""
    instructions: list[Instruction] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition(COMMENT)[0].split()
        if not words:
            continue
        try:
            if len(instructions) == IMEM_INSTRUCTIONS:
                raise ProgramError(f"the chip holds {IMEM_INSTRUCTIONS} instructions, and this is one more")
            instruction = _read(words[0], words[1:])
            encode(instruction)
        except (ProgramError, FieldError) as error:
            raise ProgramError(f"line {number}: {error}") from None
        instructions.append(instruction)
    return tuple(instructions)


def disassemble(instructions: Iterable[Instruction]) -> str:
    """The text of the instructions, an instruction a line."""
    return "".join(f"{_written(instruction)}\n" for instruction in instructions)


def to_words(instructions: Iterable[Instruction]) -> tuple[Words, ...]:
    """The instructions as they stand in IMEM. ProgramError for one that has no encoding, or too many of them."""
    words: list[Words] = []
    for number, instruction in enumerate(instructions):
        try:
            words.append(encode(instruction))
        except FieldError as error:
            raise ProgramError(f"instruction {number}: {error}") from None
    if len(words) > IMEM_INSTRUCTIONS:
        raise ProgramError(f"the chip holds {IMEM_INSTRUCTIONS} instructions, not {len(words)}")
    return tuple(words)


def from_words(words: Iterable[Words]) -> tuple[Instruction, ...]:
    """The instructions that the words hold. ProgramError names the first that are none, and why."""
    instructions: list[Instruction] = []
    for number, (low, high) in enumerate(words):
        try:
            instructions.append(decode(low, high))
        except IllegalInstruction as error:
            raise ProgramError(f"instruction {number}, {low:#010x} {high:#010x}: {error}") from None
    return tuple(instructions)


def listing(words: Sequence[Words]) -> str:
    """A table of the program: number, host address, w0, w1, and the instruction, or why the words are none."""
    lines = ["no.   host  w0       w1       instruction"]
    lines += [listed(number, pair) for number, pair in enumerate(words)]
    return "".join(f"{line}\n" for line in lines)


def listed(number: int, words: Words) -> str:
    """The line of a listing that shows these words as instruction `number`."""
    low, high = words
    try:
        text = _written(decode(low, high))
    except IllegalInstruction as error:
        text = f"illegal: {error}"
    return f"{number:3d}  {IMEM_BASE + 2 * number:#05x}  {low:08x} {high:08x}  {text}"


def _read(mnemonic: str, words: Sequence[str]) -> Instruction:
    """The instruction of one line. ProgramError without the line."""
    form = _FORMS.get(mnemonic)
    if form is None:
        raise ProgramError(f"no instruction is called {mnemonic!r}; there are {', '.join(_FORMS)}")
    operands, flags = {operand.name: operand for operand in form.operands}, dict(form.flags)
    values: dict[str, int | bool] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in operands:
            found = _value(operands[name], value)
        elif not equals and name in flags:
            found = {flags[name]: True}
        else:
            takes = ", ".join((*(f"{known}=" for known in operands), *flags)) or "nothing"
            raise ProgramError(f"{mnemonic} does not take {word!r}; it takes {takes}")
        if found.keys() & values.keys():
            raise ProgramError(f"{mnemonic} has {name} twice")
        values |= found
    missing = [each.name for each in form.operands if not each.optional and each.field not in values]
    if missing:
        raise ProgramError(f"{mnemonic} lacks {', '.join(missing)}")
    return form.make(**values)


def _value(operand: _Operand, text: str) -> dict[str, int | bool]:
    """The attributes that the text of an operand gives."""
    if operand.register is None:
        if not _PLAIN.fullmatch(text):
            raise ProgramError(f"{operand.name} is a number such as 12 or 0x0c, not {text!r}")
        return {operand.field: _integer(text)}
    match = _BASED.fullmatch(text)
    if match is None:
        raise ProgramError(f"{operand.name} is a number, r1 .. r7, or both as in r1-1, not {text!r}")
    if match["plain"]:
        return {operand.field: _integer(match["plain"])}
    value = _integer(f"{match['sign'] or ''}{match['number'] or '0'}")
    return {operand.field: value, operand.register: int(match["register"])}


def _integer(text: str) -> int:
    """The number that the text spells, a leading 0 without a meaning of its own."""
    return int(text, 16) if "0x" in text else int(text)


def _written(instruction: Instruction) -> str:
    """The instruction as text."""
    mnemonic = _MNEMONICS[type(instruction)]
    form = _FORMS[mnemonic]
    parts = [mnemonic.ljust(_COLUMN)]
    for operand in form.operands:
        value = getattr(instruction, operand.field)
        register = getattr(instruction, operand.register) if operand.register else 0
        if value or not operand.optional:
            parts.append(f"{operand.name}={_spelled(value, register, operand.hexadecimal)}")
    parts += [word for word, field in form.flags if getattr(instruction, field)]
    return " ".join(parts).rstrip()


def _spelled(value: int, register: int, hexadecimal: bool) -> str:
    number = f"{value:#06x}" if hexadecimal else str(value)
    if not register:
        return number
    if not value:
        return f"r{register}"
    return f"r{register}{'' if number.startswith('-') else '+'}{number}"
