"""Witnesses of programs: a case of the fuzzer and the rules that it was saved for, as small JSON.

Format, version 1: {"kvproof": "program witness", "version": 1, "lanes": 16, "contents": {"style": "bytes", "seed": 3}, "profile":
{"latency": 4, "seed": 0, "mute_after": 0}, "chips": ["spec", "model"], "rules": [...], "starts": [...]}. A start is {"program":
["20000001 00000000  load   row=0 cnt=1 addr=0x0000", ...], "registers": [[9, 7]], "memory": [[64, [1, 2]]]}, with "reset_at"
where it has one; program null leaves instruction memory as it is, and of an instruction the words count, w0 first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from impl.chip import Profile, Start
from impl.program import disassemble
from impl.schema import Schema
from spec.isa import EXT_WORDS, IMEM_INSTRUCTIONS, LANES, IllegalInstruction, Words, decode
from verify.fuzz.case import STYLES, Contents, FuzzCase

VERSION = 1
_WORD: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 0xFFFF_FFFF}


def _integer(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_START = _object(
    {
        "program": {
            "type": ["array", "null"],
            "maxItems": IMEM_INSTRUCTIONS,
            "items": {"type": "string", "pattern": "^[0-9a-f]{8} [0-9a-f]{8}( |$)"},
        },
        "registers": {
            "type": "array",
            "items": {"type": "array", "prefixItems": [_integer(0, 0x7FF), _WORD], "minItems": 2, "maxItems": 2},
        },
        "memory": {
            "type": "array",
            "items": {
                "type": "array",
                "prefixItems": [_integer(0, EXT_WORDS), {"type": "array", "items": _WORD, "maxItems": EXT_WORDS}],
                "minItems": 2,
                "maxItems": 2,
            },
        },
        "reset_at": _integer(0, 0xFFFF_FFFF),
    },
    ("reset_at",),
)

SCHEMA = Schema(
    _object(
        {
            "kvproof": {"const": "program witness"},
            "version": {"const": VERSION},
            "lanes": {"enum": list(LANES)},
            "contents": _object({"style": {"enum": list(STYLES)}, "seed": _integer(0, 0xFFFF_FFFF)}),
            "profile": _object(
                {"latency": _integer(1, 1_000), "seed": _integer(0, 0xFFFF_FFFF), "mute_after": _integer(0, 1 << 32)}
            ),
            "chips": _NAMES,
            "rules": _NAMES,
            "starts": {"type": "array", "items": _START, "minItems": 1},
        }
    )
)


@dataclass(frozen=True, slots=True, eq=False)
class ProgramWitness:
    """A case, the chips that differed in it, and the rules that it was saved for."""

    case: FuzzCase
    chips: tuple[str, ...]
    rules: tuple[str, ...] = ()


def to_json(witness: ProgramWitness) -> dict[str, Any]:
    """The witness as JSON values."""
    case = witness.case
    return {
        "kvproof": "program witness",
        "version": VERSION,
        "lanes": case.lanes,
        "contents": {"style": case.contents.style, "seed": case.contents.seed},
        "profile": dict(case.profile._asdict()),
        "chips": list(witness.chips),
        "rules": list(witness.rules),
        "starts": [_start_to_json(start) for start in case.starts],
    }


def from_json(data: object) -> ProgramWitness:
    """The witness that the JSON values describe; ValueError says where they are malformed."""
    SCHEMA.check(data)
    assert isinstance(data, dict)
    return ProgramWitness(case_of(data), tuple(data["chips"]), tuple(data["rules"]))


def case_of(data: Mapping[str, Any]) -> FuzzCase:
    """The case of a witness that is known to be well formed."""
    contents = Contents(data["contents"]["style"], data["contents"]["seed"])
    starts = tuple(_start_from_json(item) for item in data["starts"])
    return FuzzCase(data["lanes"], contents, starts, Profile(**data["profile"]))


def _start_to_json(start: Start) -> dict[str, Any]:
    program = None if start.program is None else [_line(words) for words in start.program]
    found = {
        "program": program,
        "registers": [[int(address), int(value)] for address, value in start.registers],
        "memory": [[int(first), [int(word) for word in words]] for first, words in start.memory],
    }
    return found if start.reset_at is None else {**found, "reset_at": start.reset_at}


def _start_from_json(item: dict[str, Any]) -> Start:
    program = None if item["program"] is None else tuple(_words(line) for line in item["program"])
    memory: list[tuple[int, Any]] = []
    for first, words in item["memory"]:
        if first + len(words) > EXT_WORDS:
            raise ValueError(f"{len(words)} words from {first} on are not within {EXT_WORDS} words of memory")
        memory.append((first, np.array(words, np.uint32)))
    registers = tuple((address, value) for address, value in item["registers"])
    return Start(program, registers, tuple(memory), item.get("reset_at"))


def _line(words: Words) -> str:
    low, high = words
    try:
        text = disassemble([decode(low, high)]).strip()
    except IllegalInstruction as error:
        text = f"illegal: {error}"
    return f"{low:08x} {high:08x}  {text}"


def _words(line: str) -> Words:
    low, high = line.split()[:2]
    return int(low, 16), int(high, 16)
