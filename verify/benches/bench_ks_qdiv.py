"""ks_qdiv: floor(num/den) for every quotient 0 .. 255, one division a cycle, nine cycles later (CHIP-INT, CHIP-CYCLE)."""

import random
from collections.abc import Iterable

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.scoreboard import Scoreboard
from verify.benches.unit import Unit, unit_after_reset

LATENCY = 9
LARGEST_DEN = 2 * 255 * 255


async def divided(unit: Unit, divisions: Iterable[tuple[int, int] | None]) -> None:
    """Feed one division a cycle, none for None; every quotient must be there, alone valid, after LATENCY cycles."""
    scoreboard: Scoreboard[tuple[int, bool, int]] = Scoreboard("CHIP-INT: cycle, valid, quotient")
    for number, division in enumerate([*divisions, *[None] * LATENCY]):
        num, den = division or (0x155AA55, 3)
        await unit.sees(valid_i=int(division is not None), num_i=num, den_i=den)
        scoreboard.expect([(number + LATENCY, division is not None, num // den if division else 0)])
        if number >= LATENCY:
            valid = bool(unit.pins["valid_o"])
            scoreboard.see((number, valid, unit.pins["quot_o"] if valid else 0))
        await unit.clocking.next_cycle()
    assert scoreboard.compared >= LATENCY


@cocotb.test()
async def every_quotient_and_both_its_ends(top: HierarchyObject) -> None:
    """q*den and q*den + den - 1 for each q and small, odd, even and the largest denominators."""
    dens = (2, 510, 2**16 + 2, LARGEST_DEN)
    await divided(
        await unit_after_reset(top, "ks_qdiv"),
        [(q * den + rest, den) for den in dens for q in range(256) for rest in (0, den - 1)],
    )


@cocotb.test()
async def random_divisions_with_pauses(top: HierarchyObject) -> None:
    """Means as AV makes them, 2a + 257Z over 2Z, with cycles without a division between them."""
    chance, divisions = random.Random(2), []
    for _ in range(500):
        z = chance.choice((255, chance.randint(255, 255 * 255)))
        a = chance.choice((-128 * z, 127 * z, chance.randint(-128 * z, 127 * z)))
        divisions.append((2 * a + 257 * z, 2 * z) if chance.random() < 0.7 else None)
    await divided(await unit_after_reset(top, "ks_qdiv"), divisions)
