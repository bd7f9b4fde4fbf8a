"""Phrases that compute: entries, DOT, DOTL, SCORE and AV, with result rows next to what else is going on."""

import numpy as np

from spec.isa import ENTRIES, LONGEST_OP, MOST_RESULT_ROWS, RESULT_STRIDE, SPAD_ROWS, Av, Dot, DotL, Score, SetQ
from verify.fuzz.draws import Draw
from verify.fuzz.writer import Span, Writer

MULTIPLIERS = (32768, 40_000, 65_535, 33_333, 49_152)


def setq(writer: Writer, draw: Draw) -> None:
    """An entry is set: an old one as likely as another, a residual row among the rows at hand."""
    _set(writer, draw, draw.below(4) if draw.chance(192) else draw.below(ENTRIES))


def _set(writer: Writer, draw: Draw, number: int) -> None:
    multiplier = draw.one_of(MULTIPLIERS)
    shift = draw.one_of((22, 20, 24, 18, 16, 26, 28, 15, 21, 23, 40, 1, 30, 8))
    residual = draw.one_of((0, 1, -1, 0, 300, -300, 32767, -32768))
    row = writer.place(draw, 1)
    writer.add(SetQ(number, multiplier, shift, row, residual))
    if not residual and not writer.machine.written[row]:
        writer.met["Rm 0 with a row that has no value"] += 1


def rows_of_op(writer: Writer, draw: Draw, most: int) -> int:
    """A count of B rows: mostly few, the edges of result rows, now and then the most that there can be."""
    lanes, words = writer.lanes, writer.machine.words_a_row
    small = (1, 2, 3, words, words + 1, words - 1, 5, 2 * words, 2 * words + 1, lanes, lanes - 1, lanes + 1)
    large = (2 * lanes, 2 * lanes + 1, 3 * lanes + 1, 4 * lanes - 1, 4 * lanes, most, 3 * words + 1)
    return min(draw.one_of(large if draw.chance(24) else small), most)


def dot(writer: Writer, draw: Draw) -> None:
    """A DOT over one to four result rows."""
    count = rows_of_op(writer, draw, MOST_RESULT_ROWS * writer.lanes)
    results = -(-count // writer.lanes)
    flags = draw.below(4)
    next_entry, apart = flags & 1 == 1, flags & 2 == 2
    entry = draw.below(4) if draw.chance(192) else draw.below(ENTRIES)
    for i in range(results):
        _ready(writer, draw, (entry + i * next_entry) % ENTRIES)
    a, first = _operands(writer, draw, count)
    machine = writer.machine
    used = [machine.entry((entry + i * next_entry) % ENTRIES) for i in range(results)]
    residuals = {one.residual_row for one in used if one.residual}
    for row in sorted(residuals):
        writer.ensure(draw, row, 1)
    dst = _destination(writer, draw, _set_of(a, first, count, *residuals), results, RESULT_STRIDE if apart else 1)
    cnt, row_field = writer.count(draw, count), writer.row(draw, first)
    field = Dot(a, row_field.field, cnt.field, dst, entry, next_entry, apart, cnt.register, row_field.register)
    writer.add(field)
    _wrote(writer, a, first, count, [dst + i * (RESULT_STRIDE if apart else 1) for i in range(results)])
    met = writer.met
    met["DOT with the next entry"] += next_entry and results > 1
    met["DOT with result rows apart"] += apart and results > 1
    met["DOT with a residual row"] += bool(residuals)
    met["DOT with four result rows"] += results == MOST_RESULT_ROWS
    met["DOT that ends with a row of one"] += results > 1 and count % writer.lanes == 1


def dotl(writer: Writer, draw: Draw) -> None:
    """A DOTL over one to four result rows."""
    words = writer.machine.words_a_row
    count = rows_of_op(writer, draw, MOST_RESULT_ROWS * words)
    results, argmax = -(-count // words), draw.below(2) == 1
    a, first = _operands(writer, draw, count)
    dst = _destination(writer, draw, _set_of(a, first, count), results, 1)
    cnt, row = writer.count(draw, count), writer.row(draw, first)
    writer.add(DotL(a, row.field, cnt.field, dst, argmax, cnt.register, row.register))
    _wrote(writer, a, first, count, [dst + i for i in range(results)])
    writer.met["DOTL with argmax"] += argmax
    writer.met["DOTL with four result rows"] += results == MOST_RESULT_ROWS


def score(writer: Writer, draw: Draw) -> None:
    """A SCORE, most often with its AV."""
    count, longest = rows_of_op(writer, draw, 2 * writer.lanes + 1), draw.chance(8)
    count = LONGEST_OP if longest else count
    entry = draw.below(4)
    _ready(writer, draw, entry)
    a, first = _operands(writer, draw, count)
    cnt, row = writer.count(draw, count), writer.row(draw, first)
    writer.add(Score(a, row.field, cnt.field, entry, cnt.register, row.register))
    writer.touched(first, count)
    writer.met["op of 255 rows"] += count == LONGEST_OP
    if not draw.chance(64):
        av(writer, draw)


def av(writer: Writer, draw: Draw) -> None:
    """An AV of as many rows as the last SCORE had, after a SCORE where there is none."""
    machine = writer.machine
    if "SCORE" in machine.lost or machine.scored is None:
        score(writer, draw)
        return
    count = machine.scored.count
    first = writer.place(draw, count)
    writer.ensure(draw, first, count)
    dst = _destination(writer, draw, _set_of(first, first, count), 1, 1)
    cnt, row = writer.count(draw, count), writer.row(draw, first)
    writer.add(Av(row.field, cnt.field, dst, cnt.register, row.register))
    _wrote(writer, first, first, count, [dst])


def _ready(writer: Writer, draw: Draw, entry: int) -> None:
    """Set the entry if it has no value, or, most often, if nobody has set it yet."""
    machine = writer.machine
    if entry in machine.lost or (machine.entries[entry].by.shift == 1 and not draw.chance(16)):
        _set(writer, draw, entry)


def _operands(writer: Writer, draw: Draw, count: int) -> tuple[int, int]:
    """The A row and the first B row, all with a value."""
    first = writer.place(draw, count)
    writer.ensure(draw, first, count)
    a = writer.place(draw, 1)
    if not writer.machine.written[a] and not draw.chance(96):
        known = np.flatnonzero(writer.machine.written)
        a = int(known[draw.byte() % len(known)])
    writer.ensure(draw, a, 1)
    return a, first


def _set_of(a: int, first: int, count: int, *residuals: int) -> int:
    """The rows that the op reads, row r as bit r."""
    rows = ((1 << count) - 1) << first | 1 << a
    for row in residuals:
        rows |= 1 << row
    return rows


def _destination(writer: Writer, draw: Draw, read: int, results: int, stride: int) -> int:
    """dst, so that no result row is read: the drawn one, or the nearest after it, beginning again at row 0."""
    most = SPAD_ROWS - (results - 1) * stride
    pattern = sum(1 << i * stride for i in range(results))
    drawn = writer.place(draw, results if stride == 1 else 1)
    for step in range(most):
        dst = (drawn + step) % most
        if not pattern << dst & read:
            return dst
    raise AssertionError("an op reads too few rows to leave no place")


def _wrote(writer: Writer, a: int, first: int, count: int, results: list[int]) -> None:
    """Make what the op used likely to be used again, its result rows most."""
    writer.touched(first, count)
    writer.touched(a, 1)
    for row in results[::-1]:
        writer.touched(row, 1)
        writer.results.append(Span(row, 1))
    if len(results) > 1 and results[1] == results[0] + 1:
        writer.touched(results[0], len(results))
