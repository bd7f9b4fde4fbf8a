"""The request the bench reads and the reply it writes; verify/chips/bench/kestrel_bench_files.v has the other side.

A request is latency, seed, requests until memory falls silent, cycle limit, whether waves are wanted, and then pieces: 1 first
count words (memory), 2 address value (a write on the host port, one cycle), 3 cycle (start, a soft reset in that busy cycle
unless it is 0, and wait for the end), 0 (the end). What memory begins as is a file of its own. A reply is for each start 1, its
registers, the number of blocks of memory that it wrote and these, number and words; then how it ended, and in which cycle.
"""

from collections.abc import Sequence

import numpy as np

from impl.chip import ChipDied, ChipError, ChipTimeout, ChipUnknown, Counters, MemoryWords, Profile, Result, Start
from spec.isa import IMEM_BASE, IMEM_INSTRUCTIONS, LANES, RESET, START, Register

DO_END, DO_MEMORY, DO_WRITE, DO_RUN = range(4)
SAID_END, SAID_DONE, SAID_LIMIT = range(3)
BLOCK = 8
"""Words of memory that the bench reads and writes at once; reading all of it would take longer than most programs."""

REGISTERS = 10
HOST_ADDRESSES = 1 << 11
MOST_WORDS = 1 << 20
"""What 20 bits of a word address reach."""


class SimulatorDied(ChipDied):
    """The simulator, or the bench in it, ended by itself: of the chip nothing is known."""


class SimulatorTimeout(ChipTimeout):
    """The simulator used up its time, in which the chip may have come far or not: of it nothing is known."""


ENDS: dict[int, tuple[type[ChipError], str]] = {
    SAID_LIMIT: (ChipTimeout, "it was still busy at the cycle limit"),
    3: (ChipUnknown, "mem_req_valid was x"),
    4: (ChipUnknown, "mem_req_we, mem_req_addr or mem_req_wdata was x while mem_req_valid was 1"),
    5: (ChipUnknown, "h_rdata was x where the host read a register"),
    6: (ChipDied, "it asked for a word beyond its memory"),
    7: (ChipDied, "mem_req_wdata was not 0 in a read"),
    8: (ChipDied, "it asked for a word while 16 reads were outstanding"),
    9: (ChipDied, "it changed a request before that was accepted"),
    10: (SimulatorDied, "the bench could not read its request"),
}


def check(starts: Sequence[Start], memory: MemoryWords, words: int, profile: Profile) -> None:
    """ValueError for what no chip with so many words of memory can be asked."""
    if memory.shape != (words,) or memory.dtype != np.uint32:
        raise ValueError(f"memory has shape {memory.shape} of {memory.dtype}, not {words} words of uint32")
    check_profile(profile)
    for start in starts:
        if start.reset_at is not None and not 0 <= start.reset_at < 1 << 32:
            raise ValueError(f"a soft reset in busy cycle {start.reset_at}: the first is 1, and 0 is before the start")
        if start.program is not None and len(start.program) > IMEM_INSTRUCTIONS:
            raise ValueError(f"a program of {len(start.program)} instructions, of at most {IMEM_INSTRUCTIONS}")
        for address, value in start.registers:
            if not (0 <= address < HOST_ADDRESSES and 0 <= value < 1 << 32):
                raise ValueError(f"host write of {value} to {address}: addresses have 11 bits, values 32")
            if address == Register.CTRL and value & (START | RESET) == START:
                raise ValueError("a start is a run, not one of the writes before it")
        for first, segment in start.memory:
            if segment.ndim != 1 or segment.dtype != np.uint32 or not 0 <= first <= words - len(segment):
                raise ValueError(
                    f"{segment.shape} words of {segment.dtype} from {first} on are not within {words} words"
                )


def check_profile(profile: Profile) -> None:
    """ValueError for a profile that no memory has."""
    if profile.latency < 1 and not profile.seed:
        raise ValueError(
            f"a latency of {profile.latency}: an answer comes in the cycle after the request at the earliest"
        )
    if not (0 <= profile.seed < 1 << 32 and 0 <= profile.mute_after < 1 << 32 and profile.latency < 1 << 31):
        raise ValueError(f"{profile} has a number of more than 32 bits")
    if profile.seed and profile.mute_after:
        raise ValueError(f"{profile}: memory that answers at random never falls silent")


def host_writes(start: Start) -> list[tuple[int, int]]:
    """What the host writes before CTRL, (address, value), in this order; a soft reset of the start is not among them."""
    halves = [half for words in start.program or () for half in words]
    return [*enumerate(halves, IMEM_BASE), *start.registers]


def contents(memory: MemoryWords) -> bytes:
    """What memory begins as: whole blocks of words, high byte first."""
    return memory.astype(">u4").tobytes() + bytes(-len(memory) % BLOCK * 4)


def request(starts: Sequence[Start], profile: Profile, cycle_limit: int, waves: bool = False) -> bytes:
    """The request, in 32-bit words, high byte first."""
    pieces = [_words([*profile, cycle_limit, int(waves)])]
    for start in starts:
        for first, segment in start.memory:
            if len(segment):
                pieces += [_words([DO_MEMORY, first, len(segment)]), segment.astype(">u4").tobytes()]
        reset = [(int(Register.CTRL), RESET)] if start.reset_at == 0 else []
        writes = [*reset, *host_writes(start)]
        words = [word for write in writes for word in (DO_WRITE, *write)]
        pieces.append(_words([*words, DO_RUN, start.reset_at or 0]))
    pieces.append(_words([DO_END]))
    return b"".join(pieces)


def results(reply: bytes, starts: Sequence[Start], memory: MemoryWords, counts: bool = True) -> list[Result]:
    """What each start left, with counters where they count. Raises ChipError, also for a reply that is not whole."""
    words = np.frombuffer(reply[: len(reply) // 4 * 4], dtype="<u4").astype(np.uint32)
    blocks = np.zeros((-(-len(memory) // BLOCK), BLOCK), dtype=np.uint32)
    current = blocks.reshape(-1)[: len(memory)]
    current[:] = memory
    found: list[Result] = []
    place = 0
    while place < len(words) and words[place] == SAID_DONE and len(found) < len(starts):
        for first, segment in starts[len(found)].memory:
            current[first : first + len(segment)] = segment
        head = words[place + 1 : place + REGISTERS + 2].tolist()
        place += REGISTERS + 2
        if len(head) <= REGISTERS or place + (BLOCK + 1) * head[-1] > len(words):
            break
        status, error_pc, token, *counters, count = head
        written = words[place : place + (BLOCK + 1) * count].reshape(-1, BLOCK + 1)
        blocks[written[:, 0]] = written[:, 1:]
        place += (BLOCK + 1) * count
        found.append(Result(current.copy(), token, status, error_pc, Counters(*counters) if counts else None))
    said = words[place : place + 2].tolist()
    if len(said) != 2 or (said[0] == SAID_END and len(found) < len(starts)):
        raise SimulatorDied(f"the simulation ended by itself in start {len(found)}")
    if said[0] != SAID_END:
        kind, why = ENDS.get(said[0], (SimulatorDied, f"the bench said {said[0]}"))
        raise kind(f"{why} (start {len(found)}, cycle {said[1]} since power-on)")
    return found


def _words(values: Sequence[int]) -> bytes:
    return np.array(values, dtype=">u4").tobytes()


def check_size(lanes: int, words: int) -> None:
    """ValueError for a chip that cannot be built."""
    if lanes not in LANES or not 1 <= words <= MOST_WORDS:
        raise ValueError(f"a chip of {lanes} lanes and {words} words: lanes are 16 or 32, words at most {MOST_WORDS}")
