"""Phrases that move rows: loads, stores, gathers, many short ones, and table words stored before a GATHER."""

from spec.isa import EXT_WORDS, LONGEST_TRANSFER, QUEUE, ErrorCode, Gather, Load, Store, StReg
from spec.isa_checks import walk_of
from spec.isa_machine import MODULUS
from verify.fuzz.draws import Draw
from verify.fuzz.writer import CNT, Span, Writer

GATHERED = 40
"""Most rows that one GATHER of ours brings."""


def rows_of_transfer(writer: Writer, draw: Draw) -> int:
    """A count of rows: mostly few, the edges of an op's, now and then many."""
    lanes = writer.lanes
    small = (1, 2, 3, 4, 1, 2, 5, 8, 1, 2, 3, 6, lanes - 1, lanes, lanes + 1, 12)
    if draw.chance(2):
        return draw.one_of((64, 255, 256, 4 * lanes + 1, 511, LONGEST_TRANSFER, 300))
    return draw.one_of(small)


def fitting(writer: Writer, draw: Draw, rows: int) -> int:
    """The count, or what cnt alone holds of it where no register makes it."""
    based = writer.count(draw, rows)
    return rows if based.field in CNT else CNT[-1]


def load(writer: Writer, draw: Draw) -> None:
    """Rows come from memory."""
    rows = fitting(writer, draw, rows_of_transfer(writer, draw))
    writer.transfer(Load, draw, writer.place(draw, rows), rows, writer.place_in_memory(draw, rows))


def store(writer: Writer, draw: Draw) -> None:
    """Rows go to memory, after a load of those that have no value."""
    rows = fitting(writer, draw, rows_of_transfer(writer, draw))
    first = writer.place(draw, rows)
    writer.ensure(draw, first, rows)
    writer.transfer(Store, draw, first, rows, writer.place_in_memory(draw, rows))


def nothing(writer: Writer, draw: Draw) -> None:
    """A count of 0, with whatever row and address."""
    kind: type[Load] | type[Store] = Store if draw.below(2) else Load
    count = writer.count(draw, 0)
    row, address = 4 * draw.below(256), (draw.byte() << 12) + draw.byte()
    writer.add(kind(row, count.field, address, count.register, draw.below(8), draw.below(8)))
    writer.met["count 0"] += 1


def burst(writer: Writer, draw: Draw) -> None:
    """More short descriptors than the queue holds."""
    first, address = writer.place(draw, 2 * QUEUE), writer.place_in_memory(draw, 2 * QUEUE)
    kind, apart = draw.byte(), draw.below(2)
    for i in range(min(QUEUE + 1 + draw.below(4), writer.room)):
        row = first + (i >> 1 if apart else i)
        stored = kind >> (i & 7) & 1 and writer.written(row, 1)
        at = address + i * writer.machine.words_a_row
        writer.transfer(Store if stored else Load, draw, row, 1, at)


def streg(writer: Writer, draw: Draw) -> None:
    """TOK goes to memory, unless an error lost it."""
    if "TOK" in writer.machine.lost:
        load(writer, draw)
        return
    at = writer.place_in_memory(draw, 1) + draw.below(writer.machine.words_a_row)
    address = writer.address(draw, at)
    writer.add(StReg(address.field, address.register))
    writer.words.append(Span(at, 1))


def gather(writer: Writer, draw: Draw) -> None:
    """Rows come through the block table, as far as it goes from the logical row that is drawn; rows of memory when nowhere."""
    machine = writer.machine
    rows, half, at = draw.one_of((1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, GATHERED)), draw.below(2), draw.below(8)
    register, rows = reach(writer, at, half, rows)
    if not rows:
        load(writer, draw)
        return
    first = writer.place(draw, rows)
    row, count = writer.row(draw, first), writer.count(draw, rows)
    writer.add(Gather(row.field, count.field, half, count.register, row.register, register))
    writer.touched(first, rows)
    writer.results.append(Span(first, rows))
    _meet(writer, machine.register(register), rows, half)


def reach(writer: Writer, at: int, half: int, rows: int) -> tuple[int, int]:
    """The first register from `at` on from which a walk goes anywhere, and how far it goes, up to `rows`; 0 rows if none."""
    for register in (*range(at, 8), *range(at)):
        found = walk_of(Gather(0, rows, half, address_register=register), writer.machine)
        if found.error is ErrorCode.NONE or found.addresses:
            return register, len(found.addresses)
    return 0, 0


def stored_table(writer: Writer, draw: Draw) -> None:
    """Words of a table go by way of a row into the table, and a GATHER follows."""
    machine = writer.machine
    rows, anchors = 1 + draw.below(2), writer.anchors
    size = rows * machine.words_a_row
    source = min(draw.one_of(anchors or (0,)), EXT_WORDS - size)
    first = writer.place(draw, rows)
    writer.transfer(Load, draw, first, rows, source)
    table = min(machine.walker.btbase + draw.below(2) * machine.words_a_row, EXT_WORDS - size)
    writer.transfer(Store, draw, first, rows, table)
    writer.met["store into the block table"] += 1
    gather(writer, draw)


def _meet(writer: Writer, first_row: int, rows: int, half: int) -> None:
    walker, met = writer.machine.walker, writer.met
    last_row = first_row + rows - 1
    met[f"GATHER of {'values' if half else 'keys'}"] += 1
    met["GATHER over a page's end"] += last_row >> walker.logp != first_row >> walker.logp
    slots = [row >> walker.logp & walker.btmask for row in (first_row, last_row)]
    met["GATHER over the ring's end"] += slots[1] < slots[0]
    met["GATHER over row 2^32"] += last_row >= MODULUS
    met[f"GATHER from pages of {walker.rows_a_page}"] += 1
