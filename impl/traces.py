"""Requests of production traces, read in place from either of the two published formats.

Azure (AzurePublicDataset, "Azure LLM inference trace"): CSV with the columns TIMESTAMP, ContextTokens and GeneratedTokens; a
timestamp is a date and time, and arrivals count from the first request's. Mooncake (FAST'25 release): a JSON object a line
with timestamp (ms), input_length, output_length and hash_ids, one id for each block of 512 prompt tokens; equal ids stand
for equal blocks that follow equal blocks.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

BLOCK_ROWS = 512
"""Prompt tokens that one block id of the Mooncake format stands for; the last block of a prompt may be shorter."""

MOST_ROWS = 10_000_000
"""The longest prompt or output taken for a real one, far above the longest published: a damaged number is an error."""

LATEST_MS = 1e15
"""The latest arrival taken for a real one, some 30,000 years; infinities and NaN are beyond it."""

AZURE_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
MOONCAKE_KEYS = ("timestamp", "input_length", "output_length", "hash_ids")
FORMATS = f"a CSV header with {', '.join(AZURE_COLUMNS)} or a JSON object with {', '.join(MOONCAKE_KEYS)}"


class TraceError(Exception):
    """The file is not a trace: names the file, the line, what was expected there and what was found."""


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One request: `prompt` rows at `arrival_ms`, then `output` rows; `blocks` are the prompt's block ids, () if unknown."""

    arrival_ms: float
    prompt: int
    output: int
    blocks: tuple[int, ...] = ()


def read_trace(path: Path, limit: int | None = None) -> list[TraceRequest]:
    """The first `limit` requests (None: all) in file order, whichever format the first line shows.

    A file with a header and no other line has no requests. Blank lines do not count, lines after the limit are not read.
    TraceError, OSError.
    """
    requests: list[TraceRequest] = []
    parse: _Parser | None = None
    number, line = 0, ""
    try:
        with path.open("rb") as file:
            for content in file:
                if len(requests) == limit:
                    break
                number += 1
                line = repr(content)
                line = _text(content)
                if line and parse is not None:
                    requests.append(parse(line))
                elif line.startswith("{"):
                    parse = _mooncake_line
                    requests.append(parse(line))
                elif line:
                    parse = _azure_parser(line)
            if parse is None and limit != 0:
                raise _ExpectedError(FORMATS)
    except _ExpectedError as expected:
        # What is no trace may hold anything, and this goes to a terminal.
        shown = line if len(line) <= 80 else f"{line[:77]}..."
        found = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in shown)
        raise TraceError(f"{path}:{max(1, number)}: expected {expected}, found {found or 'nothing'}") from None
    return requests


_Parser = Callable[[str], TraceRequest]


class _ExpectedError(Exception):
    """What a line had to be and is not."""


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise _ExpectedError("text in UTF-8") from None


def _azure_parser(header: str) -> _Parser:
    """The parser of the lines below this header; arrivals count from the first line that it sees."""
    names = [name.strip() for name in header.split(",")]
    if not set(AZURE_COLUMNS) <= set(names):
        raise _ExpectedError(FORMATS)
    columns = [names.index(name) for name in AZURE_COLUMNS]
    start: datetime | None = None

    def parse(line: str) -> TraceRequest:
        nonlocal start
        cells = line.split(",")
        if len(cells) != len(names):
            raise _ExpectedError(f"{len(names)} columns")
        stamp, prompt, output = (cells[column].strip() for column in columns)
        try:
            time = datetime.fromisoformat(stamp)
            start = start or time
            arrival = (time - start).total_seconds() * 1000
        except (ValueError, TypeError):
            raise _ExpectedError("a date and time in TIMESTAMP") from None
        return TraceRequest(arrival, _digits(prompt, "ContextTokens"), _digits(output, "GeneratedTokens"))

    return parse


def _digits(text: str, name: str) -> int:
    """The number of rows that the text writes in plain digits."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise _ExpectedError(f"{name} of 0..{MOST_ROWS}")
    return _rows(int(text), name)


def _rows(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value <= MOST_ROWS:
        raise _ExpectedError(f"{name} of 0..{MOST_ROWS}")
    return value


def _mooncake_line(line: str) -> TraceRequest:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise _ExpectedError("a JSON object") from None
    if not isinstance(fields, dict) or not set(MOONCAKE_KEYS) <= fields.keys():
        raise _ExpectedError(f"a JSON object with {', '.join(MOONCAKE_KEYS)}")
    arrival, prompt, output, blocks = (fields[key] for key in MOONCAKE_KEYS)
    if type(arrival) not in (int, float) or not abs(arrival) <= LATEST_MS:
        raise _ExpectedError("milliseconds in timestamp")
    if not isinstance(blocks, list) or any(type(block) is not int for block in blocks):
        raise _ExpectedError("a list of integers in hash_ids")
    return TraceRequest(float(arrival), _rows(prompt, "input_length"), _rows(output, "output_length"), tuple(blocks))
