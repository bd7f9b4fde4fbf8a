"""One whole decode step of the chip, to be read from top to bottom: what the host does, what the chip runs, what comes back.

The model is one of the standard integer models; the right answer is the definition's. Programs are usually compiled
(impl/compiler.py); this one is typed, as docs/chip.md section 7 tells it.
"""

import cocotb
import numpy as np
import numpy.typing as npt
from cocotb.handle import HierarchyObject

from impl.decoder import Context
from impl.integer_model import IntegerModel
from impl.model_files import load
from spec.decode import step_from_rows
from spec.isa import DONE, Av, Dot, DotL, Halt, Instruction, Load, Register, Score, SetQ, Store, StReg
from verify.benches.chip_under_test import LANES, ROW_WORDS, ChipUnderTest, chip_after_reset
from verify.benches.formulas import lanes_of_words, words_of
from verify.benches.patterns import FEW, Traffic, steady
from verify.decode.oracle import parameters

D = LANES
VOCABULARY = 16

# Where everything is. External memory, in words:
EMBEDDING = 0x0000
QUERY_KEY_VALUE = 0x0100
OUTPUT = 0x0400
UNEMBEDDING = 0x0500
PAST_KEYS, PAST_VALUES = 0x0600, 0x0800
NEW_KEY, NEW_VALUE = 0x0A00, 0x0A00 + ROW_WORDS
LOGITS, TOKEN = 0x0B00, 0x0BFF

# The scratchpad, in rows. One DOT leaves q, k and v 256 rows apart, so the new row's key and value are at K and V.
Q, X, ATTENDED, Y, LOGIT_ROWS = 0, 1, 2, 3, 4
K, V = 256, 512
W_QKV = 768
W_O, W_U = W_QKV + 3 * D, W_QKV + 4 * D
LOGIT_ROW_COUNT = VOCABULARY // (LANES // 4)

# The requantisation entries.
TO_Q, TO_K, TO_V, EXPONENT, TO_Y = range(5)


def decode_program(model: IntegerModel) -> tuple[Instruction, ...]:
    """The program of every step, whatever the context: R1 is n, R4 the new row's address, R5 the token's row offset."""
    by = model.requantisers
    return (
        # The token's embedding, x, and the weights that are needed first.
        Load(row=X, count=1, address=EMBEDDING, address_register=5),
        Load(row=W_QKV, count=3 * D, address=QUERY_KEY_VALUE),
        SetQ(entry=TO_Q, m=by.query.m, shift=by.query.shift),
        SetQ(entry=TO_K, m=by.key.m, shift=by.key.shift),
        SetQ(entry=TO_V, m=by.value.m, shift=by.value.shift),
        SetQ(entry=EXPONENT, m=model.exponent.m, shift=model.exponent.shift),
        SetQ(entry=TO_Y, m=by.output.m, shift=by.output.shift, residual_row=X, residual=model.residual),
        # q, k and v in one op, which follows its weights as they come in; meanwhile the past is loaded behind them.
        Dot(a=X, row=W_QKV, count=3 * D, dst=Q, entry=TO_Q, next_entry=True, apart=True),
        Load(row=K + 1, count=-1, count_register=1, address=PAST_KEYS),
        Load(row=V + 1, count=-1, count_register=1, address=PAST_VALUES),
        Load(row=W_O, count=D, address=OUTPUT),
        Load(row=W_U, count=VOCABULARY, address=UNEMBEDDING),
        # Attention over n rows, the new one first.
        Score(a=Q, row=K, count=0, count_register=1, entry=EXPONENT),
        Av(row=V, count=0, count_register=1, dst=ATTENDED),
        # The new row goes to its page.
        Store(row=K, count=1, address=0, address_register=4),
        Store(row=V, count=1, address=ROW_WORDS, address_register=4),
        # Output projection with the residual, logits, and the token.
        Dot(a=ATTENDED, row=W_O, count=D, dst=Y, entry=TO_Y),
        DotL(a=Y, row=W_U, count=VOCABULARY, dst=LOGIT_ROWS, argmax=True),
        Store(row=LOGIT_ROWS, count=LOGIT_ROW_COUNT, address=LOGITS),
        StReg(address=TOKEN),
        Halt(),
    )


def put_rows(chip: ChipUnderTest, address: int, rows: npt.NDArray[np.int8]) -> None:
    """Rows of lanes into memory, one behind the other."""
    for number, row in enumerate(rows):
        chip.memory.fill(address + number * ROW_WORDS, words_of(row.tolist()))


def got_row(chip: ChipUnderTest, address: int) -> list[int]:
    """A row of lanes that the chip left in memory."""
    return lanes_of_words(chip.memory.words[address : address + ROW_WORDS])


async def chip_with_model(top: HierarchyObject, traffic: Traffic, model: IntegerModel) -> ChipUnderTest:
    """A chip whose memory holds the model, and which holds the program."""
    chip = await chip_after_reset(top, traffic)
    put_rows(chip, EMBEDDING, model.embedding)
    put_rows(chip, QUERY_KEY_VALUE, np.concatenate((model.query, model.key, model.value)))
    put_rows(chip, OUTPUT, model.output)
    put_rows(chip, UNEMBEDDING, model.unembedding)
    await chip.host.load(decode_program(model))
    return chip


async def step(chip: ChipUnderTest, model: IntegerModel, token: int, context: Context) -> int:
    """One step: the host writes the past and five registers, starts, waits; everything that comes back is compared."""
    n = len(context.keys) + 1
    put_rows(chip, PAST_KEYS, context.keys)
    put_rows(chip, PAST_VALUES, context.values)
    await chip.host.write(Register.R1, n)
    await chip.host.write(Register.R2, token)
    await chip.host.write(Register.R4, NEW_KEY)
    await chip.host.write(Register.R5, token * ROW_WORDS)
    await chip.host.start()
    ended = await chip.host.ended()
    right = step_from_rows(parameters(model), token, context.keys, context.values)

    assert ended.status == DONE, f"STATUS is {ended.status:#x}, ERRPC {ended.error_pc}"
    assert got_row(chip, NEW_KEY) == right.key.tolist(), "CHIP-INT: the new row's key"
    assert got_row(chip, NEW_VALUE) == right.value.tolist(), "CHIP-INT: the new row's value"
    logits = [word - (word >> 31 << 32) for word in chip.memory.words[LOGITS : LOGITS + VOCABULARY]]
    assert logits == right.logits.tolist(), "CHIP-INT: the logits"
    assert ended.token == chip.memory.words[TOKEN] == right.token, "CHIP-INT: the token"
    # The port's roofline: every word that is needed, once.
    words = ROW_WORDS * (1 + 3 * D + 2 * (n - 1) + D + VOCABULARY + 2 + LOGIT_ROW_COUNT) + 1
    assert ended.read_words + ended.written_words == words, "CHIP-CYCLE: words moved"
    return ended.total


@cocotb.test()
async def four_steps_follow_each_other_like_the_definitions(top: HierarchyObject) -> None:
    """Each token is the one before it gave; each step attends the rows of all steps before."""
    model = load(f"random-1-{D}")
    chip = await chip_with_model(top, steady(4), model)
    keys, values, token, cycles = np.empty((0, D), np.int8), np.empty((0, D), np.int8), 3, list[int]()
    for _ in range(4):
        context = Context(keys, values)
        cycles.append(await step(chip, model, token, context))
        right = step_from_rows(parameters(model), token, context.keys, context.values)
        keys, values, token = np.vstack((keys, right.key)), np.vstack((values, right.value)), right.token
    # Row by row the context grows, and so does the time: the past is what a step must read anew.
    assert cycles == sorted(cycles)
    cocotb.log.info("cycles a step: %s", cycles)


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in FEW])
async def a_step_gives_the_same_on(top: HierarchyObject, traffic: Traffic) -> None:
    """A context of 5 rows, on every memory of patterns.FEW: the result is a matter of order, not of time."""
    model = load(f"structured-{D}")
    chance = np.random.default_rng(5)
    past = chance.integers(-128, 128, (2, 4, D), np.int8)
    await step(await chip_with_model(top, traffic, model), model, 9, Context(past[0], past[1]))
