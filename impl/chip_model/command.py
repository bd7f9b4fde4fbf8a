"""What the instruction in the head would do: its operands, result rows and row sets. Source: docs/chip.md section 4."""

from typing import NamedTuple

from impl.chip_model.instruction import Fields
from impl.chip_model.rows import NO_ROWS, RowSet, span
from spec.isa import ENTRIES, RESULT_STRIDE, Op

WORD = 1 << 32
OPS = frozenset({Op.DOT, Op.DOTL, Op.SCORE, Op.AV})
TRANSFERS = frozenset({Op.LOAD, Op.STORE, Op.GATHER})


class Entry(NamedTuple):
    """A requantisation entry; it begins as after reset."""

    m: int = 32768
    sh: int = 1
    xrow: int = 0
    rm: int = 0


class Group(NamedTuple):
    """B rows start .. stop - 1 of an op, which make one result row or all there is, and the entry that they use."""

    entry: Entry
    start: int
    stop: int
    residual: bool = False
    """Whether the entry's residual row is read before them."""


class Command:
    """An instruction with R read. Row sets are for a command without error, whose rows exist."""

    __slots__ = (
        "address",
        "count",
        "fields",
        "first",
        "groups",
        "is_op",
        "op",
        "result_rows",
        "results",
        "rows",
        "words",
    )

    op: Op
    first: int
    address: int
    """Word address, or the first logical row of a GATHER."""
    count: int
    words: int
    """Words that it moves between memory and the scratchpad, or from TOK."""
    result_rows: range
    groups: list[Group]
    rows: RowSet
    results: RowSet

    def __init__(self, fields: Fields, r: list[int], lanes: int) -> None:
        self.fields = fields
        self.op = fields.op
        self.is_op = self.op in OPS
        self.first = (fields.row + r[fields.rr]) % WORD
        self.address = (fields.addr + r[fields.ra]) % WORD
        self.count = _signed(fields.cnt + r[fields.rc])
        self.words = 1 if self.op is Op.STREG else self.count * (lanes // 4) if self.op in TRANSFERS else 0
        self.result_rows = _result_rows(fields, self.count, lanes)
        self.groups = []

    def find_groups(self, entries: list[Entry], lanes: int) -> None:
        """Set the groups of an op whose count is right."""
        fields, count = self.fields, self.count
        if self.op is Op.DOT:
            step = fields.fl & 1
            for i in range(len(self.result_rows)):
                entry = entries[(fields.q + i * step) % ENTRIES]
                self.groups.append(Group(entry, i * lanes, min(count, (i + 1) * lanes), entry.rm != 0))
        else:
            self.groups = [Group(entries[fields.q], 0, count)]

    def find_rows(self) -> None:
        """Set the row sets of a command whose rows exist and, an op's, whose groups are found."""
        self.results = NO_ROWS
        for row in self.result_rows:
            self.results |= 1 << row
        self.rows = self.results | self.sources()

    def sources(self) -> RowSet:
        """Its A row, B rows and residual rows, or the rows of a transfer."""
        rows = span(self.first, self.count)
        if self.is_op and self.op is not Op.AV:
            rows |= 1 << self.fields.a
        for group in self.groups:
            if group.residual:
                rows |= 1 << group.entry.xrow
        return rows


def _signed(value: int) -> int:
    """The value modulo 2^32, with sign."""
    return (value + (WORD >> 1)) % WORD - (WORD >> 1)


def results_a_row(op: Op, lanes: int) -> int:
    """Results of a DOT or a DOTL that fill a result row."""
    return lanes if op is Op.DOT else lanes // 4


def _result_rows(fields: Fields, count: int, lanes: int) -> range:
    """The result rows, in order, whether they exist or not."""
    match fields.op:
        case Op.DOT | Op.DOTL:
            number = -(-count // results_a_row(fields.op, lanes))
            stride = RESULT_STRIDE if fields.fl & 2 else 1
            return range(fields.dst, fields.dst + number * stride, stride)
        case Op.AV:
            return range(fields.dst, fields.dst + 1)
    return range(0)
