"""Steps that a decoder on a chip refuses, or cannot go on after: each is told, and has changed nothing."""

from collections.abc import Iterator, Sequence
from functools import partial

from impl.chip import ChipTimeout, MemoryWords, Profile, Result, Start
from impl.chip_decoder import ChipDecoder, PagedChipDecoder
from impl.decoder import Decoder
from impl.integer_model import IntegerModel
from verify.decode.integer_checks import check_refused_steps
from verify.decode.oracle import Found
from verify.programs.claims import same
from verify.programs.recording_chip import COUNTERS, RecordingChip
from verify.programs.steps import GATHER, KEY_16, NARROW, PLACES, Make, Stepped, hosted, in_place, over, paged, resident
from verify.target import Raised, answered

NEITHER = "the status at the end of a run is {}: neither done nor done with an error"


def check_ended_runs() -> Iterator[Found]:
    """Every status of a run that is not "done" is told, the error with its instruction (CHIP-ERROR)."""
    score = "\n 12  0x418  48840000 30000000  score  a=0 row=256 cnt=r1 q=3"
    average = "\n 13  0x41a  4c880000 00000002  av     row=512 cnt=r1 dst=2"
    told = [
        (0x0406, 12, f"the program ended with the error COUNT at{score}"),
        (0x0506, 13, f"the program ended with the error DIV0 at{average}"),
        (0x0106, 20, "the program ended with the error ILLEGAL at\n 20  0x428  04000000 00000000  halt"),
        (0x0806, 21, "the program ended with the error TIMEOUT at\ninstruction 21, behind the program"),
        (0x0706, 255, "the program ended with the error PC_END at\ninstruction 255, behind the program"),
    ]
    told += [
        (status, 3, NEITHER.format(f"{status:#06x}"))
        for status in (0, 1, 3, 4, 5, 6, 7, 0x402, 0x404, 0x405, 0x407, 0x906)
    ]
    told += [(status, 3, NEITHER.format(f"{status:#06x}")) for status in (0x0102, 0x0006, 0x00FF, 0x040E)]
    for status, error_pc, says in told:
        chip = RecordingChip(status, error_pc, counters=COUNTERS, writes={2416: [7]})
        due = (("ProgramFailed", says), status, 400, True, 1)
        yield same("CHIP-ERROR", f"status {status:#06x}", due, partial(_failed, hosted, over(2), chip))


def check_failed_steps() -> Iterator[Found]:
    """A step whose run fails, or gives what makes no sense, has changed no memory; result and cycles are kept (CHIP-ERROR)."""
    walk = (
        "the program ended with the error PAGE at\n{:3d}  {:#05x}  288407ff 60000000  gather row=257 cnt=r1-1 ra=3 kv=0"
    )
    load = "the program ended with the error EXT_RANGE at\n  0  0x400  200c0050 00000040  load   row=768 cnt=80 addr=0x0040"
    writes = {KEY_16: [7]}
    cases: tuple[tuple[Make, RecordingChip, tuple[str, str], int], ...] = (
        (paged, RecordingChip(0x0606, 8, 0, COUNTERS, writes), ("ProgramFailed", walk.format(8, 0x410)), 400),
        (
            resident,
            RecordingChip(0x0606, 2, 0, COUNTERS, writes, statuses=(2,)),
            ("ProgramFailed", walk.format(2, 0x404)),
            800,
        ),
        (resident, RecordingChip(2, 0, 0, COUNTERS, writes, statuses=(0x0206,)), ("ProgramFailed", load), 800),
        (
            resident,
            RecordingChip(0, 0, 0, COUNTERS, writes, statuses=(2,)),
            ("ProgramFailed", NEITHER.format("0x0000")),
            800,
        ),
        (paged, RecordingChip(2, 0, 3, COUNTERS, writes), ("ChipDied", _token(3, 0)), 400),
        (hosted, RecordingChip(2, 0, 3, COUNTERS, {2440: [4]}), ("ChipDied", _token(3, 4)), 400),
        (hosted, RecordingChip(2, 0, 16, COUNTERS, {2440: [16]}), ("ChipDied", _token(16, 16)), 400),
        (hosted, RecordingChip(2, 0, 255, COUNTERS, {2440: [255]}), ("ChipDied", _token(255, 255)), 400),
    )
    for make, chip, told, cycles in cases:
        step = over(2) if make is hosted else in_place(PLACES)
        due = (told, chip.status, cycles, True, 2 if make is resident else 1)
        yield same("CHIP-ERROR", f"{make.__name__}: {told}", due, partial(_failed, make, step, chip))
    curt = answered(in_place(PLACES), resident(Curt()))
    yield same("CHIP-ERROR", "fewer results than starts", "ValueError", lambda: getattr(curt, "kind", f"{curt}"))
    for make, step in ((hosted, over(2)), (paged, in_place(PLACES)), (resident, in_place(PLACES))):
        silent = RecordingChip(fault=ChipTimeout("no end within 9 cycles"))
        kept = (("ChipTimeout", "no end within 9 cycles"), None, 0, True, 2 if make is resident else 1)
        yield same("CHIP-ERROR", "a chip that does not end", kept, partial(_failed, make, step, silent))


def check_refused_places() -> Iterator[Found]:
    """What no step can be, and a chip that the model does not fit, are refused before the chip runs (CHIP-INT)."""
    long, many = "a step attends at most 255 rows, not 256", "the chip's pool has 9 pages, not 10"
    for make, step, kind, says in (
        (paged, in_place(PLACES, 16), "ValueError", "token 16 is not in 0 .. 15"),
        (resident, in_place(PLACES, -1), "ValueError", "token -1 is not in 0 .. 15"),
        (paged, in_place(PLACES._replace(context=256)), "ContextTooLongError", long),
        (paged, in_place(PLACES._replace(pages=range(10))), "ValueError", many),
        (paged, over(36), "ContextTooLongError", "the chip's pool has room for 36 rows, not for 37"),
        (paged, over(0, 16), "ValueError", "token 16 is not in 0 .. 15"),
        (hosted, over(0, 16), "ValueError", "token 16 is not in 0 .. 15"),
        (hosted, over(255), "ContextTooLongError", long),
    ):
        due = ((kind, says), None, 0, True, 0)
        yield same("CHIP-INT", f"refused: {says}", due, partial(_failed, make, step, RecordingChip()))
    for make in (hosted, paged):
        chip = RecordingChip()
        yield check_refused_steps(NARROW, partial(_on, make, chip))
        yield same("CHIP-INT", "starts for what is refused", 0, partial(len, chip.asked))
    for step in (in_place(PLACES._replace(context=255), 15), in_place(PLACES._replace(pages=range(9)), 0)):
        yield same("CHIP-INT", "what just can be asked", 1, partial(_starts, step))
    for lanes, words, says in (
        (32, 8192, "hostile-1-16 has width 16, and the chip 32 lanes"),
        (16, 400, "hostile-1-16 takes 2441 words of memory, and the chip has 400"),
    ):
        chip = RecordingChip(lanes=lanes, words=words)
        small = f"9 pages of 4 rows take 705 words of memory, and the chip has {words}"
        for build, refusal in (
            (partial(ChipDecoder, NARROW, chip), says),
            (partial(PagedChipDecoder, NARROW, chip, GATHER), says if lanes == 32 else small),
            (partial(PagedChipDecoder, NARROW, chip, GATHER, True), says if lanes == 32 else small),
        ):
            yield same("CHIP-INT", says, Raised("CompileError", refusal), partial(answered, build))


class Curt(RecordingChip):
    """It answers the last start alone, however many it is asked for."""

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        return super().run(starts, memory, profile)[-1:]


def _on(make: Make, chip: RecordingChip, model: IntegerModel) -> Decoder:
    """The decoder on that chip, of the narrow model whatever is asked for."""
    return make(chip)


def _token(register: int, written: int) -> str:
    return f"the chip's token is {register}, and it wrote {written}, of 0 .. 15"


def _starts(step: Stepped) -> int:
    """The starts of a step where the chip gathers."""
    chip = RecordingChip()
    step(paged(chip))
    return len(chip.asked)


def _failed(make: Make, step: Stepped, chip: RecordingChip) -> tuple[object, ...]:
    """How a step fails, the status and the cycles that are kept, and whether memory is as it was, and the starts."""
    decoder = make(chip)
    before = decoder.memory.copy() if isinstance(decoder, PagedChipDecoder) else None
    said = answered(step, decoder)
    same_memory = before is None or not isinstance(decoder, PagedChipDecoder) or bool((decoder.memory == before).all())
    shown = (said.kind, said.message) if isinstance(said, Raised) else said
    return shown, decoder.last.status if decoder.last else None, decoder.cycles, same_memory, len(chip.asked)
