"""ks_seq: which instruction is at the head, and whether it issues, ends the run or is held (CHIP-IDLE, CHIP-CYCLE)."""

import random
from dataclasses import dataclass
from typing import NamedTuple

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import IMEM_INSTRUCTIONS, ErrorCode, Op
from verify.benches.op_rows import OPS
from verify.benches.unit import Unit, unit_after_reset

MOVES = (Op.LOAD, Op.STORE, Op.GATHER)


@dataclass(frozen=True, slots=True)
class Head:
    """What the bench says of an instruction; `code` is its error."""

    op: Op
    count: int = 1
    code: int = 0


class Machine(NamedTuple):
    """What else ks_seq looks at in a cycle."""

    load_hold: bool = False
    store_hold: bool = False
    result_hold: bool = False
    active: bool = False
    empty: bool = True
    full: bool = False
    drain: bool = False

    def inputs(self) -> dict[str, int]:
        """The pins that say so."""
        return {
            "load_hold_i": int(self.load_hold),
            "store_hold_i": int(self.store_hold),
            "result_hold_i": int(self.result_hold),
            "cx_active_i": int(self.active),
            "queue_empty_i": int(self.empty),
            "queue_full_i": int(self.full),
            "drain_i": int(self.drain),
        }


@dataclass(slots=True)
class SeqModel:
    """The registers of SEQ, and what becomes of the head in a cycle."""

    fetch: int = 0
    head: int | None = None
    score_count: int | None = None

    def held(self, head: Head, machine: Machine) -> bool:
        """Whether the head waits; docs/chip.md sections 5 and 6."""
        if machine.drain:
            return True
        finished = machine.empty and not machine.active
        if head.code or head.op in (Op.HALT, Op.FENCE):
            return not finished
        if head.op in MOVES and head.count == 0:
            return False
        loads, stores = machine.load_hold, machine.store_hold
        hold = {Op.LOAD: loads, Op.GATHER: loads, Op.STORE: stores}.get(head.op, False)
        if head.op in (Op.SETQ, Op.STREG):
            hold = machine.active
        if head.op in OPS:
            hold = machine.active or machine.result_hold
        return hold or (head.op in (*MOVES, Op.STREG) and machine.full)

    def clocked(self, goes: bool) -> None:
        """The edge: a head that goes, or none, makes room for the next."""
        if self.head is None or goes:
            self.head, self.fetch = self.fetch, self.fetch + 1


async def ran(unit: Unit, program: list[Head], chance: random.Random, calm: float, limit: int = 4000) -> None:
    """Start and follow every cycle until the run ends; machines are at rest with probability `calm`."""
    pins, model = unit.pins, SeqModel()
    words = [chance.getrandbits(64) for _ in range(IMEM_INSTRUCTIONS)]
    await unit.sees(start_i=1, busy_i=0)
    model.score_count = pins["score_count_o"] if pins["scored_o"] else None
    await unit.clocking.next_cycle()
    pins.drive(start_i=0)
    for _ in range(limit):
        number = model.head
        head = None if number is None else program[number] if number < len(program) else Head(Op.HALT)
        if number == IMEM_INSTRUCTIONS:
            head = Head(Op.HALT, code=ErrorCode.PC_END)
        holds = [chance.random() > calm for _ in range(4)]
        empty = chance.random() < calm
        full, drain = not empty and chance.random() > calm, chance.random() > 0.5 + calm / 2
        machine = Machine(holds[0], holds[1], holds[2], holds[3], empty, full, drain)
        shown = head or Head(chance.choice(list(Op)), code=chance.choice((0, 4)))
        pins.drive(
            busy_i=1,
            insn_i=words[model.fetch % IMEM_INSTRUCTIONS],
            op_i=shown.op,
            code_i=shown.code,
            count_i=shown.count,
            **machine.inputs(),
        )
        await unit.clocking.settled()
        ends = check(unit, model, head, machine, words)
        await unit.clocking.next_cycle()
        if ends:
            break
    else:
        raise AssertionError(f"the run did not end in {limit} cycles")
    await unit.sees(busy_i=0, code_i=0, op_i=Op.HALT)
    assert not any(pins[name] for name in ("held_o", "push_o", "op_start_o", "setq_o", "end_o", "issue_o")), (
        "acts while not busy"
    )
    await unit.clocking.next_cycle(2)


def check(unit: Unit, model: SeqModel, head: Head | None, machine: Machine, words: list[int]) -> bool:
    """Compare this cycle's outputs and step the model; whether the run ends."""
    pins = unit.pins
    held = head is not None and model.held(head, machine)
    goes = head is not None and not held
    right = head is not None and not head.code
    ends = goes and head is not None and (head.op == Op.HALT or bool(head.code))
    moves = right and head is not None and (head.op == Op.STREG or (head.op in MOVES and head.count != 0))
    wanted = {
        "held_o": held,
        "issue_o": goes and not ends,
        "finish_o": ends,
        "push_o": goes and moves,
        "op_start_o": goes and right and head is not None and head.op in OPS,
        "setq_o": goes and right and head is not None and head.op == Op.SETQ,
        "end_o": ends,
    }
    seen = {name: bool(pins[name]) for name in wanted}
    assert seen == wanted, f"CHIP-IDLE, CHIP-RESET: {model.head}: {head} with {machine} gives {seen}, not {wanted}"
    assert (pins["score_count_o"] if pins["scored_o"] else None) == model.score_count
    if model.head is not None:
        assert pins["head_end_o"] == (model.head == IMEM_INSTRUCTIONS)
        if model.head < IMEM_INSTRUCTIONS:
            assert pins["head_o"] == words[model.head], f"CHIP-CYCLE: the head is not instruction {model.head}"
    if model.fetch < IMEM_INSTRUCTIONS:
        assert pins["fetch_o"] == model.fetch
    if ends and head is not None:
        assert pins["end_code_o"] == head.code
        assert not head.code or pins["end_pc_o"] == min(model.head or 0, IMEM_INSTRUCTIONS - 1), "ERRPC"
    if goes and right and head is not None and head.op == Op.SCORE:
        model.score_count = head.count & 255
    model.clocked(goes)
    return ends


def some_program(chance: random.Random, length: int) -> list[Head]:
    """Instructions that do not end, then one that does."""
    kinds = [op for op in Op if op != Op.HALT]
    body = [Head(chance.choice(kinds), chance.choice((0, 1, 2, 200, 255))) for _ in range(length)]
    return [*body, chance.choice((Head(Op.HALT), Head(Op.LOAD, 0, ErrorCode.COUNT), Head(Op.AV, 1, ErrorCode.DIV0)))]


@cocotb.test()
@cocotb.parametrize(calm=[0.3, 0.7, 1.0])
async def every_cycle_issues_ends_or_holds_as_the_definition_says(top: HierarchyObject, calm: float) -> None:
    """Programs of all instructions under random holds; the instruction after an issue is at the head in the next cycle."""
    unit, chance = await unit_after_reset(top, "ks_seq"), random.Random(71)
    assert not unit.pins["scored_o"]
    for length in (0, 1, 2, 30, 60, 60):
        await ran(unit, some_program(chance, length), chance, calm)


@cocotb.test()
async def instruction_256_ends_the_run(top: HierarchyObject) -> None:
    """256 instructions that only issue: PC_END with ERRPC 255."""
    unit, chance = await unit_after_reset(top, "ks_seq"), random.Random(72)
    await ran(unit, [Head(Op.SETQ)] * IMEM_INSTRUCTIONS, chance, 0.9)
    await ran(unit, [Head(Op.FENCE)], chance, 1.0)


@cocotb.test()
async def each_condition_alone_holds_what_it_has_to(top: HierarchyObject) -> None:
    """The truth table: every instruction beside every single condition, and beside none."""
    unit, chance = await unit_after_reset(top, "ks_seq"), random.Random(73)
    conditions = [
        Machine(),
        Machine(load_hold=True),
        Machine(store_hold=True),
        Machine(result_hold=True),
        Machine(active=True),
        Machine(empty=False),
        Machine(empty=False, full=True),
        Machine(drain=True),
    ]
    heads = [Head(op) for op in Op]
    heads += [Head(op, 0) for op in MOVES]
    heads += [Head(Op.LOAD, code=4), Head(Op.SETQ, code=1), Head(Op.HALT, code=1)]
    for head in heads:
        for machine in conditions:
            pins = unit.pins
            await unit.clocked(start_i=1, busy_i=0)
            await unit.clocked(start_i=0, busy_i=1, insn_i=chance.getrandbits(64))
            await unit.sees(
                op_i=head.op,
                code_i=head.code,
                count_i=head.count,
                **machine.inputs(),
            )
            assert pins["held_o"] == SeqModel().held(head, machine), f"CHIP-IDLE, CHIP-RESET: {head} beside {machine}"
            await unit.clocking.next_cycle()
            pins.drive(busy_i=0)
            await unit.clocking.next_cycle()


@cocotb.test()
async def a_fault_or_a_timeout_ends_the_run_whatever_the_head_does(top: HierarchyObject) -> None:
    """CHIP-ERROR, CHIP-WATCH: the code and ERRPC of each, the fault's before the timeout's; the next run begins anew."""
    unit = await unit_after_reset(top, "ks_seq")
    pins = unit.pins
    for number, (fault, timeout) in enumerate(((1, 0), (0, 1), (1, 0), (0, 1))):
        await unit.clocked(start_i=1, busy_i=0, **Machine().inputs())
        await unit.clocked(start_i=0, busy_i=1, insn_i=77, op_i=Op.FENCE, code_i=0)
        await unit.clocking.next_cycle(3)
        busy = Machine(empty=False, active=number > 1)
        ends = {"fault_i": fault, "fault_code_i": ErrorCode.PAGE, "fault_pc_i": 42, "timeout_i": timeout, "flush_i": 1}
        await unit.sees(**ends, **busy.inputs())
        assert (pins["end_o"], pins["finish_o"]) == (1, fault), "CHIP-WATCH: the timeout is not what ends otherwise"
        wanted = (ErrorCode.PAGE, 42) if fault else (ErrorCode.TIMEOUT, 3)
        assert (pins["end_code_o"], pins["end_pc_o"]) == wanted, "CHIP-ERROR: code and ERRPC"
        await unit.clocking.next_cycle()
        pins.drive(fault_i=0, timeout_i=0, flush_i=0, busy_i=0)
        await unit.clocked(start_i=1)
        await unit.sees(start_i=0, busy_i=1, **Machine().inputs())
        assert pins["fetch_o"] == 0 and not pins["held_o"] and not pins["issue_o"], "CHIP-RESET: a flush leaves no head"
        await unit.clocking.next_cycle()
        await unit.sees(op_i=Op.HALT)
        assert (pins["end_o"], pins["end_code_o"]) == (1, 0)
        await unit.clocking.next_cycle()
        pins.drive(busy_i=0)


@cocotb.test()
async def a_soft_reset_forgets_the_score_and_another_flush_does_not(top: HierarchyObject) -> None:
    """CHIP-RESET: AV's checks see no SCORE after a soft reset."""
    unit = await unit_after_reset(top, "ks_seq")
    pins = unit.pins
    for soft in (0, 1, 0, 1):
        await unit.clocked(start_i=1, busy_i=0)
        await unit.clocked(start_i=0, busy_i=1)
        await unit.clocked(op_i=Op.SCORE, count_i=9, **Machine().inputs())
        await unit.clocked(op_i=Op.FENCE, soft_i=soft, flush_i=1)
        await unit.sees(soft_i=0, flush_i=0, busy_i=0)
        assert pins["scored_o"] == 1 - soft and (soft or pins["score_count_o"] == 9), "CHIP-RESET"
        await unit.clocking.next_cycle()
