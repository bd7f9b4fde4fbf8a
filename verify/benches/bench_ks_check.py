"""ks_check: the first error in the definition's order, at and around every bound (docs/chip.md section 4, Errors)."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import EXT_WORDS, ErrorCode, Op
from verify.benches.chip_under_test import ROW_WORDS
from verify.benches.op_rows import OPS, OpRows, rows_of, side_by_side
from verify.benches.unit import unit_after_reset

MODULO = 2**32
MOVES = (Op.LOAD, Op.STORE, Op.GATHER)


@dataclass(frozen=True, slots=True)
class Head:
    """An instruction at the head, R added, and what its checks look at."""

    op: Op
    first: int
    count: int
    address: int
    a: int
    dst: int
    fl: int
    residual_rows: tuple[int, ...]
    """xrow of result row i's entry, or -1 where its Rm is 0."""
    scored: bool
    score_count: int
    end: bool = False
    illegal: bool = False


def op_rows(head: Head) -> OpRows:
    """Its result and residual rows; those of a count that 8 bits cannot hold do not matter."""
    count = max(1, head.count & 255)
    return rows_of(head.op, count, head.dst, head.fl, [int(row >= 0) for row in head.residual_rows])


def error(head: Head) -> ErrorCode:
    """The error of the head, NONE if there is none; docs/chip.md section 4, in its order."""
    moves, works = head.op in MOVES, head.op in OPS
    rows = op_rows(head)
    if head.end:
        return ErrorCode.PC_END
    if head.illegal:
        return ErrorCode.ILLEGAL
    if works and (not 1 <= head.count <= 255 or rows.many):
        return ErrorCode.COUNT
    if moves and not 0 <= head.count <= 1024:
        return ErrorCode.COUNT
    if head.op == Op.AV and head.scored and head.count != head.score_count:
        return ErrorCode.COUNT
    # A move of no rows does nothing, whatever row and address it names.
    moves = moves and head.count > 0
    if (moves or works) and head.first + head.count > 1024:
        return ErrorCode.ROW_RANGE
    if works:
        read = set(range(head.first, head.first + head.count))
        read |= {head.residual_rows[i] for i in rows.residuals}
        read |= {head.a} if head.op != Op.AV else set()
        if rows.beyond or read & set(rows.results):
            return ErrorCode.ROW_RANGE
    # The words of a GATHER are for the walk to check (CHIP-ERROR).
    if moves and head.op != Op.GATHER and head.address + head.count * ROW_WORDS > EXT_WORDS:
        return ErrorCode.EXT_RANGE
    if head.op == Op.STREG and head.address >= EXT_WORDS:
        return ErrorCode.EXT_RANGE
    if head.op == Op.AV and not head.scored:
        return ErrorCode.DIV0
    return ErrorCode.NONE


def some_head(chance: random.Random) -> Head:
    """An instruction near the bounds; half of all are right in most of what is checked."""
    op = chance.choice((*OPS, *OPS, *MOVES, Op.STREG, Op.SETQ, Op.FENCE, Op.HALT))
    tame = chance.random() < 0.6
    wild: tuple[int, ...]
    if op in OPS:
        most = {Op.DOT: 64, Op.DOTL: 16}.get(op, 255)
        wild = (0, -1, 1, most, most + 1, 255, 256, 257, -256, 512, 2**31 - 1, -(2**31))
        count = chance.randint(1, min(most, 40)) if tame else chance.choice(wild)
    else:
        wild = (0, 0, 1, 2, 1023, 1024, 1025, -1, -(2**31), 2**31 - 1, 256 + 1024)
        count = chance.randint(0, 40) if tame else chance.choice(wild)
    near = 1024 - count if 0 <= count <= 1024 else 0
    first = chance.choice((near, near + 1, max(0, near - 1), chance.randint(0, 900), chance.randint(0, 900)))
    if chance.random() < 0.1:
        first = chance.choice((1024, MODULO - 1, MODULO - count if count > 0 else MODULO - 1, 2**31))
    room = max(0, EXT_WORDS - count * ROW_WORDS) if abs(count) < 2000 else 0
    address = chance.choice((room, room + 1, max(0, room - 1), chance.randint(0, 999), EXT_WORDS - 1, EXT_WORDS))
    if chance.random() < 0.1:
        address = chance.choice((MODULO - 1, MODULO - 4 * 8, 2**20, 2**31))
    around = [first + delta & 1023 for delta in (-5, -4, -3, -1, 0, 1, max(count, 0), max(count, 0) - 1)]
    dst = chance.choice((*around, chance.randint(0, 1023), 1020, 1023))
    a = chance.choice((dst, dst + 1 & 1023, chance.randint(0, 1023), 900))
    residual_rows = tuple(
        chance.choice((-1, -1, dst + i & 1023, dst + 256 * i & 1023, chance.randint(0, 1023))) for i in range(4)
    )
    scored, score_count = chance.random() < 0.7, chance.choice((count & 255, count & 255, chance.randint(1, 255)))
    end, illegal = chance.random() < 0.02, chance.random() < 0.04
    fl = chance.randint(0, 3) if op == Op.DOT else 0
    return Head(op, first, count, address, a, dst, fl, residual_rows, scored, score_count, end, illegal)


@cocotb.test()
async def the_first_error_in_order_is_the_one(top: HierarchyObject) -> None:
    """Random instructions near every bound; each error and none must come up often."""
    unit, chance = await unit_after_reset(top, "ks_check"), random.Random(31)
    met: dict[tuple[Op, ErrorCode], int] = {}
    for _ in range(2600):
        head = some_head(chance)
        rows, wanted = op_rows(head), error(head)
        works = head.op in OPS
        results = [row & 1023 for row in rows.results[:4]] if works else []
        residuals = [row & 1023 if row >= 0 else chance.randrange(1024) for row in head.residual_rows]
        await unit.sees(
            end_i=int(head.end),
            illegal_i=int(head.illegal),
            op_i=head.op,
            first_i=head.first,
            count_i=head.count,
            addr_i=head.address,
            a_i=head.a,
            many_i=int(works and rows.many),
            beyond_i=int(works and rows.beyond),
            res_valid_i=(1 << len(results)) - 1,
            res_row_i=side_by_side(results),
            x_valid_i=sum(1 << i for i in rows.residuals) if works else 0,
            x_row_i=side_by_side(residuals),
            scored_i=int(head.scored),
            score_count_i=head.score_count,
        )
        seen = unit.pins["code_o"]
        assert seen == wanted, f"CHIP-ERROR: {head}: code {seen}, not {wanted.name}"
        met[head.op, wanted] = met.get((head.op, wanted), 0) + 1
        await unit.clocking.next_cycle()
    for op in OPS:
        assert all(met.get((op, code), 0) > 5 for code in (ErrorCode.NONE, ErrorCode.COUNT, ErrorCode.ROW_RANGE)), met
    for op in MOVES:
        assert all(met.get((op, code), 0) > 5 for code in (ErrorCode.NONE, ErrorCode.COUNT, ErrorCode.ROW_RANGE)), met
        assert op == Op.GATHER or met.get((op, ErrorCode.EXT_RANGE), 0) > 5, met
    assert met.get((Op.STREG, ErrorCode.EXT_RANGE), 0) > 5 and met.get((Op.AV, ErrorCode.DIV0), 0) > 5, met
