"""The standard models and the table of exponentials, kept as integers in impl/models/. Source: docs/reference.md section 5.

The files are what decoders run on. Quantising again gives the same bytes; `differences` says where it does not.
"""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from impl import tiny_lm
from impl.command import CommandError, write_atomically
from impl.exit_codes import ExitCode
from impl.integer_model import IntegerModel, from_json, to_json
from impl.quantise import exponentials, quantise
from impl.tiny_lm import FloatModel

FOLDER = Path(__file__).parent / "models"
EXP_TABLE = "exp-table"
EXP_TABLE_SIZE = 256
LINE = 100
"""Columns up to which an object stays on one line; a list of numbers always does."""

_STRUCTURED: dict[str, Callable[[], FloatModel]] = {
    f"structured-{width}": partial(tiny_lm.structured, width) for width in (16, 32)
}
_RANDOM: dict[str, Callable[[], FloatModel]] = {
    f"random-{seed}-{width}": partial(tiny_lm.random, seed, width) for width in (16, 32) for seed in (1, 2, 3)
}
_SOURCES = _STRUCTURED | _RANDOM


def names() -> tuple[str, ...]:
    """The standard models."""
    return tuple(_SOURCES)


def float_model(name: str) -> FloatModel:
    """What the standard model is quantised from. Raises CommandError for another name."""
    _check_name(name)
    return _SOURCES[name]()


@cache
def load(name: str) -> IntegerModel:
    """The standard model as it is kept, the same object every time. Raises CommandError, for another name too."""
    _check_name(name)
    return read(_path(name))


def read(path: Path) -> IntegerModel:
    """The model in the file. CommandError says what is wrong with it."""
    try:
        return from_json(_values(path))
    except (ValueError, OSError, RecursionError) as error:
        raise CommandError(f"{path} is no model: {error}") from error


@cache
def exp_table() -> tuple[int, ...]:
    """The table of exponentials as it is kept: EXP_TABLE_SIZE integers of 0 .. 255. Raises CommandError."""
    return read_exp_table(_path(EXP_TABLE))


def read_exp_table(path: Path) -> tuple[int, ...]:
    """The table of exponentials in the file. CommandError says what is wrong with it."""
    try:
        return _table_from_json(_values(path))
    except (ValueError, OSError, RecursionError) as error:
        raise CommandError(f"{path} is no table of exponentials: {error}") from error


def differences() -> list[str]:
    """What writing the files again would change, one line a file; nothing while they are what the float models give."""
    wanted = _files()
    kept = {path.name for path in FOLDER.glob("*.json")}
    lines = [f"{name} belongs to no standard model" for name in sorted(kept - wanted.keys())]
    for name, text in wanted.items():
        if name not in kept:
            lines.append(f"{name} is missing")
        elif (FOLDER / name).read_bytes() != text.encode():
            lines.append(f"{name} is not what its float model gives")
    return lines


def write_all() -> None:
    """Write every file again, from the float models. Raises OSError."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in _files().items():
        write_atomically(FOLDER / name, text)
    load.cache_clear()
    exp_table.cache_clear()


def _check_name(name: str) -> None:
    if name not in _SOURCES:
        raise CommandError(f"no model is called {name}; there are {', '.join(_SOURCES)}", ExitCode.USAGE)


def _files() -> dict[str, str]:
    """What each file has to hold, by its name."""
    documents = {name: to_json(quantise(source())) for name, source in _SOURCES.items()}
    documents[EXP_TABLE] = _table_to_json(exponentials())
    return {_path(name).name: _text(document) + "\n" for name, document in documents.items()}


def _path(name: str) -> Path:
    return FOLDER / f"{name}.json"


def _values(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))


def _table_to_json(table: tuple[int, ...]) -> dict[str, Any]:
    """The table as JSON values, in rows of 16."""
    return {"kvproof": EXP_TABLE, "version": 1, "table": [list(table[i : i + 16]) for i in range(0, len(table), 16)]}


def _table_from_json(data: object) -> tuple[int, ...]:
    match data:
        case {"kvproof": "exp-table", "version": 1, "table": [*rows]}:
            table = tuple(value for row in rows if isinstance(row, list) for value in row)
            if len(table) == EXP_TABLE_SIZE and all(type(value) is int and 0 <= value <= 255 for value in table):
                return table
    raise ValueError(f"a table of version 1 has {EXP_TABLE_SIZE} integers of 0 .. 255")


def _text(value: Any, indent: str = "") -> str:
    """The JSON values as text that a reader can follow: a row of a tensor a line, in columns."""
    if isinstance(value, list) and all(isinstance(item, int) for item in value):
        return f"[{', '.join(f'{item:4d}' for item in value)}]"
    line = json.dumps(value)
    if not isinstance(value, dict | list) or (isinstance(value, dict) and len(line) <= LINE):
        return line
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()]
    else:
        items = [_text(item, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(inner + item for item in items)
    return f"{opening}\n{body}\n{indent}{closing}"
