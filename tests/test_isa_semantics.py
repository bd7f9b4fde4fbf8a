"""Programs of the chip mean what docs/chip.md says: small ones, with values worked out by hand."""

import numpy as np
import pytest

from spec.attention import next_token
from spec.decode import Multipliers, Parameters, rows, step_from_rows
from spec.isa import (
    EXT_WORDS,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Fence,
    Halt,
    Instruction,
    Load,
    Score,
    SetQ,
    Store,
    StReg,
)
from spec.isa_machine import lanes_of, words_of
from spec.isa_semantics import Machine, Unspecified, run
from spec.numerics import Multiplier
from tests.small_chips import FINE, after, by_half, by_one, chip, columns, lanes, padded, set_program

FIRST_LANE = {0: [1]}
"""An A row 0 that picks lane 0 of each B row."""


def test_power_on_leaves_the_values_of_reset() -> None:
    machine = chip(lanes=32)
    assert (machine.tok, machine.registers, machine.scored) == (0, [0] * 8, None)
    assert set(machine.entries) == {((32768, 1), 0, 0)} and len(machine.entries) == 16
    assert machine.scratchpad.shape == (1024, 32) and not machine.written.any()
    assert Machine.fresh(16, np.zeros(4, np.uint32)).imem == [(0, 0)] * 256


@pytest.mark.parametrize("width", [0, 8, 17, 64])
def test_a_chip_has_16_or_32_lanes(width: int) -> None:
    with pytest.raises(ValueError, match="16 or 32 lanes"):
        Machine.fresh(width, np.zeros(4, np.uint32))


def test_a_chip_has_32_bit_words_of_memory_of_its_own() -> None:
    with pytest.raises(ValueError, match="uint32"):
        Machine.fresh(16, np.zeros(4, np.int64))
    memory = np.zeros(8, np.uint32)
    machine = Machine.fresh(16, memory)
    machine.tok = 9
    set_program(machine, StReg(7))
    assert run(machine) == FINE and machine.memory[7] == 9 and memory[7] == 0


def test_a_load_puts_the_low_byte_of_a_word_into_the_lowest_lane() -> None:
    words = {100: 0x04030201, 101: 0x08070605, 102: 0xFCFDFEFF, 103: 0x807F00FF}
    machine = after(chip(Load(7, 1, 100), words=words))
    assert lanes(machine, 7) == [1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -1, 0, 127, -128]
    assert machine.written.sum() == 1


def test_a_load_adds_its_registers_and_counts_with_a_sign() -> None:
    words = {100: 1, 104: 2, 108: 3}
    machine = after(chip(Load(10, -1, 90, 1, 2, 3), words=words, registers={1: 3, 2: 5, 3: 10}))
    assert [lanes(machine, row) for row in (15, 16)] == [padded(1), padded(2)]
    assert machine.written.nonzero()[0].tolist() == [15, 16]


def test_register_0_is_0_whatever_was_put_there() -> None:
    machine = after(chip(Load(10, 1, 100), words={100: 1}, registers={0: 1}))
    assert machine.written.nonzero()[0].tolist() == [10] and lanes(machine, 10) == padded(1)


def test_rows_addresses_and_counts_wrap_at_32_bits() -> None:
    # 5 + (2^32 - 2) = 3; 20 + (2^32 - 16) = 4; 3 + (2^32 - 2) = 1.
    high = {1: 2**32 - 2, 2: 2**32 - 16, 3: 2**31, 4: 2**32 - 1}
    machine = after(chip(Load(5, 3, 20, 1, 1, 2), words={4: 77}, registers=high))
    assert machine.written.nonzero()[0].tolist() == [3] and lanes(machine, 3) == padded(77)
    assert run(chip(Load(5, 0, 20, count_register=4), registers=high)).code is ErrorCode.COUNT
    # -1, the most negative count -2^31, and the largest, 2^31 - 1.
    assert run(chip(Load(5, 0, 20, count_register=3), registers=high)).code is ErrorCode.COUNT
    assert run(chip(Load(5, -1, 20, count_register=3), registers=high)).code is ErrorCode.COUNT


def test_a_row_of_32_lanes_takes_8_words() -> None:
    machine = after(chip(Load(0, 2, 8), Store(1, 1, 0), lanes=32, words={8: 1, 15: 0x7F000000, 16: 2, 23: 0x80000000}))
    assert lanes(machine, 0) == [1, *[0] * 30, 127] and lanes(machine, 1) == [2, *[0] * 30, -128]
    assert machine.memory[:8].tolist() == [2, 0, 0, 0, 0, 0, 0, 0x80000000]


def test_a_store_brings_rows_to_memory_and_touches_no_other_word() -> None:
    content = {15: [1, 2, 3, 4, -1, -2, -3, -4], 16: [*[0] * 12, -128, 127, 0, -1]}
    machine = after(chip(Store(10, -1, 90, 1, 2, 3), rows=content, registers={1: 3, 2: 5, 3: 10}))
    assert machine.memory[100:108].tolist() == [0x04030201, 0xFCFDFEFF, 0, 0, 0, 0, 0, 0xFF007F80]
    assert np.delete(machine.memory, range(100, 108)).sum() == 0


def test_a_count_of_0_does_nothing_whatever_it_names() -> None:
    far = {1: 2**32 - 1, 2: 3}
    program = (Load(1023, 0, 0xFFFFF, 0, 1, 0), Store(1023, -3, 0xFFFFF, 2, 1, 1), Load(5, -3, 0, count_register=2))
    machine = after(chip(*program, words={0: 5}, registers=far))
    assert not machine.written.any() and machine.memory.tolist() == [5] + [0] * (EXT_WORDS - 1)


def test_a_transfer_reaches_the_last_row_and_the_last_word() -> None:
    machine = after(chip(Load(1023, 1, EXT_WORDS - 4), Store(1023, 1, 0), words={EXT_WORDS - 1: 9}))
    assert machine.memory[3] == 9
    whole = chip(Load(0, 511, 0, count_register=1), registers={1: 513})
    assert after(whole).written.all()


def test_a_dot_requantises_with_the_entry_of_reset_until_one_is_set() -> None:
    # M = 32768 and sh = 1 multiply by 16384, which saturates everything but 0.
    machine = after(chip(Dot(0, 1, 3, 20, 5), rows=FIRST_LANE | columns(1, 1, -1, 0)))
    assert lanes(machine, 20) == padded(127, -128, 0)


def test_a_dot_multiplies_all_lanes_and_adds() -> None:
    # 1*4 + 2*5 - 3*6 + 5*7 = 31; 2*5*-1 and the other way round; the last lane counts.
    a = [1, 2, -3, *[0] * 12, 5]
    machine = after(
        chip(by_one(2), Dot(0, 1, 3, 9, 2), rows={0: a, 1: [4, 5, 6, *[9] * 12, 7], 2: [-10], 3: [0, 0, 4]})
    )
    assert lanes(machine, 9) == padded(31, -10, -12)


def test_a_dot_rounds_half_up_for_either_sign() -> None:
    machine = after(chip(by_half(2), Dot(0, 1, 8, 30, 2), rows=FIRST_LANE | columns(1, 3, -3, 1, -1, 5, -5, 4, -4)))
    assert lanes(machine, 30) == padded(2, -1, 1, 0, 3, -2, 2, -2)


def test_a_dot_saturates_at_both_ends() -> None:
    machine = after(chip(by_one(2), Dot(0, 1, 4, 30, 2), rows={0: [2]} | columns(1, 63, 64, -64, -65)))
    assert lanes(machine, 30) == padded(126, 127, -128, -128)


def test_the_largest_sums_and_products_are_exact() -> None:
    # acc = 32*2^14 = 2^19 and Rm*xr = 2^22, so (acc + Rm*xr)*65535 is 0.28 * 2^40 or 71.999 * 2^32.
    everything = {0: [-128] * 32, 1: [-128] * 32, 2: [-128] * 32}
    far = chip(SetQ(0, 65535, 40, 2, -32768), Dot(0, 1, 1, 9, 0), lanes=32, rows=everything)
    assert lanes(after(far), 9) == [0] * 32
    near = chip(SetQ(0, 65535, 32, 2, -32768), Dot(0, 1, 1, 9, 0), lanes=32, rows=everything)
    assert lanes(after(near), 9)[0] == 72


def test_lanes_beyond_the_count_become_0_whatever_they_held() -> None:
    machine = after(chip(by_one(0), Dot(0, 1, 2, 20, 0), rows=FIRST_LANE | columns(1, 5, 6) | {20: [99] * 16}))
    assert lanes(machine, 20) == padded(5, 6)


def test_a_residual_joins_lane_by_lane_before_the_rounding() -> None:
    # (3 + 2*1)/2 = 2.5, (3 - 2*4)/2 = -2.5, (3 + 0)/2 = 1.5; a residual apart would be rounded to 2 + 1, 2 - 4.
    content = FIRST_LANE | columns(1, 3, 3, 3) | {40: [1, -4, 0, 100]}
    machine = after(chip(by_half(6, 40, 2), Dot(0, 1, 3, 20, 6), rows=content))
    assert lanes(machine, 20) == padded(3, -2, 2)


def test_a_negative_residual_multiplies_with_its_sign() -> None:
    content = FIRST_LANE | columns(1, 10, 10) | {40: [3, -3]}
    machine = after(
        chip(by_one(6, 40, -32768), by_one(7, 40, -3), Dot(0, 1, 2, 20, 6), Dot(0, 1, 2, 21, 7), rows=content)
    )
    assert (lanes(machine, 20), lanes(machine, 21)) == (padded(-128, 127), padded(1, 19))


RESIDUALS = FIRST_LANE | columns(100, *range(18)) | {30: range(1, 17), 31: range(10, 170, 10)}
TWO_ENTRIES = (by_one(3, 30, 2), by_half(4, 31, -1))


def test_result_rows_share_their_entry_and_its_residual_row() -> None:
    # l + 2(l + 1) = 3l + 2; in the second row 16 + 2*1 and 17 + 2*2.
    machine = after(chip(*TWO_ENTRIES, Dot(0, 100, 18, 50, 3), rows=RESIDUALS))
    assert lanes(machine, 50) == [2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47]
    assert lanes(machine, 51) == padded(18, 21)


def test_with_next_entry_each_result_row_has_an_entry_of_its_own() -> None:
    # (16 - 10)/2 = 3 and (17 - 20)/2 = -1.5.
    machine = after(chip(*TWO_ENTRIES, Dot(0, 100, 18, 50, 3, next_entry=True), rows=RESIDUALS))
    assert lanes(machine, 50) == [2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47]
    assert lanes(machine, 51) == padded(3, -1)


def test_entry_0_follows_entry_15() -> None:
    machine = after(
        chip(by_one(15), by_half(0), Dot(0, 1, 17, 50, 15, next_entry=True), rows=FIRST_LANE | columns(1, *[8] * 17))
    )
    assert (lanes(machine, 50), lanes(machine, 51)) == ([8] * 16, padded(4))


def test_result_rows_apart_stand_256_rows_from_one_another() -> None:
    machine = after(chip(by_one(0), Dot(0, 100, 64, 5, 0, apart=True), rows=FIRST_LANE | columns(100, *range(64))))
    assert [lanes(machine, row)[:2] for row in (5, 261, 517, 773)] == [[0, 1], [16, 17], [32, 33], [48, 49]]
    assert machine.written.sum() == 1 + 64 + 4


def test_a_result_row_of_32_lanes_holds_32_sums() -> None:
    machine = after(chip(by_one(0), Dot(0, 100, 33, 5, 0), lanes=32, rows=FIRST_LANE | columns(100, *range(33))))
    assert (lanes(machine, 5), lanes(machine, 6)) == (list(range(32)), padded(32, width=32))


def test_a_dot_adds_its_registers() -> None:
    machine = after(chip(by_one(0), Dot(0, 90, -2, 5, 0, False, False, 1, 2), rows=RESIDUALS, registers={1: 4, 2: 11}))
    assert lanes(machine, 5) == padded(1, 2)


SUMS = {0: [2, 1], 1: [0, 1], 2: [0, -1], 3: [127, 4], 4: [127] * 2, 5: [-128, -44]}
"""Whose dot products with row 0 are 1, -1, 258, 381 and -300."""


def test_a_dotl_packs_32_bit_sums_with_the_low_byte_first() -> None:
    # 258 = 102, 381 = 17D, -300 = FFFFFED4 in hexadecimal.
    machine = after(chip(DotL(0, 1, 5, 50), rows=SUMS | {51: [99] * 16}))
    assert lanes(machine, 50) == [1, 0, 0, 0, -1, -1, -1, -1, 2, 1, 0, 0, 125, 1, 0, 0]
    assert lanes(machine, 51) == padded(-44, -2, -1, -1)
    assert machine.tok == 0


def test_a_stored_dotl_is_one_word_a_sum() -> None:
    machine = after(chip(DotL(0, 1, 5, 50), Store(50, 1, 40), lanes=32, rows=SUMS))
    assert machine.memory[40:48].tolist() == [1, 2**32 - 1, 258, 381, 2**32 - 300, 0, 0, 0]


@pytest.mark.parametrize(
    ("sums", "token"), [((5, 7, 7, 3), 1), ((4, 4, 4), 0), ((-3, -2, -2), 1), ((-128,), 0), ((1, 2, 3, 4, 5, 6), 5)]
)
def test_the_argmax_is_the_lowest_place_of_the_largest_sum(sums: tuple[int, ...], token: int) -> None:
    machine = chip(DotL(0, 1, len(sums), 50, argmax=True), rows=FIRST_LANE | columns(1, *sums))
    machine.tok = 99
    assert after(machine).tok == token
    set_program(machine, DotL(0, 1, 1, 50))
    assert after(machine).tok == token


def test_streg_writes_the_token_as_one_word() -> None:
    program = (
        DotL(0, 1, 3, 50, argmax=True),
        StReg(5, address_register=2),
        DotL(0, 1, 1, 50, argmax=True),
        StReg(8191),
    )
    machine = after(chip(*program, rows=FIRST_LANE | columns(1, 0, 1, 7), words={8191: 3}, registers={2: 600}))
    assert (machine.memory[605], machine.memory[8191], machine.memory.sum()) == (2, 0, 2)


SCORED = FIRST_LANE | columns(1, -32, 0, -64)
"""Whose scores are 0, 32 and 64 below the largest: e = floor(93.8 + .5), 255, floor(34.51 + .5), and Z = 384."""


def test_a_score_leaves_exponentials_of_the_distance_to_the_largest() -> None:
    machine = after(chip(by_one(3), Score(0, 1, 3, 3), rows=SCORED))
    assert machine.scored is not None
    assert (machine.scored.exponentials.tolist(), machine.scored.total) == ([94, 255, 35], 384)
    assert machine.written.sum() == 4


def test_a_distance_beyond_the_table_counts_nothing_and_half_of_one_is_rounded_up() -> None:
    # 127 + 128 = 255, and twice that is beyond; 255*exp(-1/32) = 247.2.
    machine = after(chip(SetQ(1, 32768, 14), Score(0, 1, 2, 1), rows=FIRST_LANE | columns(1, -128, 127)))
    assert machine.scored is not None and machine.scored.exponentials.tolist() == [0, 255]
    machine = after(chip(by_half(1), Score(0, 1, 2, 1), rows=FIRST_LANE | columns(1, 6, 7)))
    assert machine.scored is not None and machine.scored.exponentials.tolist() == [247, 255]


def test_an_av_is_the_mean_weighted_by_the_exponentials() -> None:
    # (94*-20 + 255*10 + 35*30)/384 = 1720/384 = 4.48; (-94 + 255)/384 = 0.42; -255/384 = -0.66.
    values = {10: [-20, -128, 127, -1, 0], 11: [10, -128, 127, 1, -1], 12: [30, -128, 127, 0, 0]}
    machine = after(chip(by_one(3), Score(0, 1, 3, 3), Av(10, 3, 60), rows=SCORED | values))
    assert lanes(machine, 60) == padded(4, -128, 127, 0, -1)


def test_an_av_rounds_half_up_for_either_sign() -> None:
    # Two equal scores: 255*(1 + 0)/510 = 0.5, -0.5, -1.5, 1.5.
    content = FIRST_LANE | columns(1, 4, 4) | {10: [1, -1, -2, 2], 11: [0, 0, -1, 1]}
    machine = after(chip(by_one(3), Score(0, 1, 2, 3), Av(10, 2, 0), rows=content))
    assert lanes(machine, 0) == padded(1, 0, -1, 2)


def test_what_a_score_left_stays_for_every_av_until_the_next() -> None:
    content = SCORED | {10: [8], 11: [16], 12: [32]}
    program = (Score(0, 1, 3, 0), Score(0, 2, 1, 0), SetQ(0, 65535, 1), Av(10, 1, 60), Av(11, 1, 61))
    machine = after(chip(by_one(0), *program, rows=content))
    assert (lanes(machine, 60), lanes(machine, 61)) == (padded(8), padded(16))


def test_a_score_and_an_av_add_their_registers() -> None:
    content = SCORED | {10: [8], 11: [16]}
    program = (by_one(0), Score(0, 1, -1, 0, 1, 2), Av(7, 0, 60, 3, 4))
    machine = after(chip(*program, rows=content, registers={1: 2, 2: 1, 3: 1, 4: 3}))
    assert lanes(machine, 60) == padded(8)


def test_a_fence_changes_nothing_and_nothing_runs_after_halt() -> None:
    machine = after(chip(Fence(), StReg(0), Halt(), StReg(1)))
    assert not machine.written.any() and not machine.memory.any()
    machine.tok = 4
    assert after(machine).memory[:2].tolist() == [4, 0]


def test_a_second_run_finds_what_the_first_one_left() -> None:
    machine = chip(by_half(2), Score(0, 1, 2, 2), DotL(0, 1, 2, 50, argmax=True), rows=FIRST_LANE | columns(1, 3, 5))
    after(machine)
    # Entry 2, the scratchpad, the two exponentials (247 and 255: 247*3 + 255*5 over 502 is 4.02) and TOK.
    set_program(machine, Dot(0, 1, 2, 51, 2), Av(1, 2, 52), StReg(0))
    machine.registers[1] = 6
    after(machine)
    assert (lanes(machine, 51), lanes(machine, 52), machine.memory[0]) == (padded(2, 3), padded(4), 1)
    assert machine.registers == [0, 6, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("program", "row"),
    [
        ((Store(5, 3, 0),), 6),
        ((Dot(9, 1, 2, 50, 0),), 9),
        ((Dot(0, 1, 3, 50, 0),), 3),
        ((by_one(1, 77, 1), Dot(0, 1, 2, 50, 1)), 77),
        ((DotL(0, 2, 2, 50),), 3),
        ((Score(9, 1, 2, 0),), 9),
        ((Score(0, 1, 2, 0), Av(2, 2, 50)), 3),
    ],
)
def test_a_row_that_was_never_written_has_no_value(program: tuple[Instruction, ...], row: int) -> None:
    machine = chip(*program, rows={0: [1], 1: [2], 2: [3], 5: [4], 7: [5]})
    with pytest.raises(Unspecified, match=f"row {row} "):
        run(machine)
    assert not machine.memory.any()


def test_a_row_that_is_not_read_needs_no_value() -> None:
    # A residual row without a residual, that of an entry not used, and zeros behind a partial result.
    program = (by_one(1, 77), by_one(2, 78, 1), Dot(0, 1, 1, 50, 1), Store(50, 1, 0))
    machine = after(chip(*program, rows=FIRST_LANE | columns(1, 7)))
    assert machine.memory[:4].tolist() == [7, 0, 0, 0]


@pytest.mark.parametrize("past", [0, 1, 5])
def test_the_decode_program_gives_the_step_of_the_integer_definition(past: int) -> None:
    """Section 7's program, all contexts one program, against spec.decode (CHIP-INT)."""
    seed = 20 + past
    chance = np.random.default_rng(seed)
    width, vocabulary, token = 16, 16, 3
    embedding, query, key, value, output, unembedding = (
        chance.integers(-128, 128, (height, width)).astype(np.int8) for height in [vocabulary, *[width] * 4, vocabulary]
    )
    quarter, residual, exponent = Multiplier(40000, 24), 900, Multiplier(33000, 23)
    q, k, v, y = (Multiplier(quarter.m + i, quarter.shift) for i in range(4))
    tensors = (embedding, query, key, value, output, unembedding)
    parameters = Parameters(*tensors, Multipliers(q, k, v, y), residual, exponent, 1.0)
    keys, values = rows(parameters, [int(t) for t in chance.integers(0, vocabulary, past)])
    size, at_e, at_q, at_o, at_u, at_k, at_v, at_new, at_logits = 4, 0, 100, 400, 500, 1000, 3000, 6000, 7000
    program: list[Instruction] = [
        Load(1, 1, at_e, address_register=5),
        Load(768, 48, at_q),
        *(SetQ(i, *by) for i, by in enumerate((q, k, v, exponent))),
        SetQ(4, *y, 1, residual),
        Dot(1, 768, 48, 0, 0, next_entry=True, apart=True),
        Load(257, -1, at_k, count_register=1),
        Load(513, -1, at_v, count_register=1),
        Load(816, 16, at_o),
        Load(832, 16, at_u),
        Score(0, 256, 0, 3, count_register=1),
        Av(512, 0, 2, count_register=1),
        Store(256, 1, 0, address_register=4),
        Store(512, 1, size, address_register=4),
        Dot(2, 816, 16, 3, 4),
        DotL(3, 832, 16, 4, argmax=True),
        Store(4, 4, at_logits),
        StReg(at_logits + 16),
    ]
    machine = chip(*program, registers={1: past + 1, 2: token, 4: at_new, 5: token * size})
    placed = {at_e: embedding, at_q: np.vstack((query, key, value)), at_o: output, at_u: unembedding}
    for address, tensor in (placed | {at_k: keys, at_v: values}).items():
        words = words_of(tensor.astype(np.int64))
        machine.memory[address : address + len(words)] = words
    after(machine)
    step = step_from_rows(parameters, token, keys, values)
    assert machine.memory[at_logits : at_logits + 16].astype(np.int32).tolist() == step.logits.tolist(), seed
    assert int(machine.memory[at_logits + 16]) == machine.tok == step.token == next_token(step.logits)
    assert lanes_of(machine.memory[at_new : at_new + 2 * size]).tolist() == [*step.key, *step.value]
    assert len(set(step.logits.tolist())) > 1 and len(set(step.key.tolist())) > 8
