"""A host whose chip gathers by itself, beside one on plain lists and one that gathers from such a pool itself.

The chip is its definition, or one that computes nothing where only what it is asked matters.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from impl.chip import Chip, ChipTimeout, MemoryWords, Profile, Result, Start
from impl.chip_decoder import PagedChipDecoder
from impl.chip_host import ChipHost, ChipStore
from impl.decoder import IntegerDecoder
from impl.host import Host, StepRecord
from impl.kv_cache import KVCache
from impl.memory_map import Gathering
from impl.model_files import load
from impl.row_store import PagedStore, PlainStore
from spec.isa import DONE, EXT_WORDS, Register
from verify.chips.spec_chip import SpecChip
from verify.decode.oracle import Found
from verify.host.recorder import host_image
from verify.programs.claims import same
from verify.refinement import Difference
from verify.target import Raised, answered

MODEL = load("random-1-16")
PAD = 2
PROMPT = (3, 14, 1, 5, 9)

Do = Callable[[Host], object]


def chip_host(page_size: int, pages: int, stays: bool = False, chip: Chip | None = None) -> ChipHost:
    """A host of a chip that gathers, which is the definition's unless another is given."""
    return ChipHost(decoder_of(page_size, pages, stays, chip), PAD)


def decoder_of(page_size: int, pages: int, stays: bool = False, chip: Chip | None = None) -> PagedChipDecoder:
    """What such a host decodes with."""
    return PagedChipDecoder(MODEL, chip or SpecChip(16), Gathering(page_size, pages), stays)


def paged_host(page_size: int, pages: int) -> Host:
    """A host that gathers from such a pool, in integers."""
    return Host(IntegerDecoder(MODEL), PagedStore(KVCache(pages, page_size, width=16)), PAD)


def steps(*requests: int) -> tuple[Do, ...]:
    """A step of each request in turn."""
    return tuple(partial(Host.step, request=request) for request in requests)


ADMIT = partial(Host.admit, request=0, prompt=PROMPT)
FORK = partial(Host.fork, source=0, request=1)
LIVES: tuple[tuple[bool, int, int, tuple[Do, ...]], ...] = (
    # Two requests share their last page and part, in chunks; a padded fork; cuts; another window with a margin.
    (
        False,
        2,
        14,
        (
            partial(ADMIT, window=4, chunk=3),
            *steps(0, 0, 0),
            partial(Host.fork, source=0, request=1, token=11),
            *steps(1, 0),
            partial(Host.fork, source=1, request=2, padded=True),
            partial(Host.admit, request=3, prompt=PROMPT[::-1], window=2, margin=1, chunk=2),
            *steps(2, 3, 1, 0, 3),
            partial(Host.rollback, request=3, rows=4, token=5),
            partial(Host.rollback, request=0, rows=0),
            partial(Host.release, request=1),
            *steps(0, 3, 2, 3),
        ),
    ),
    # No window: a fork at a row inside a page, and cuts to the start. Pages run out, a copy's included, and come back.
    (
        True,
        4,
        4,
        (
            partial(ADMIT, chunk=2),
            *steps(0, 0, 0),
            partial(Host.fork, source=0, request=1, at=3, token=7),
            *steps(1, 1, 1, 0),
            partial(Host.fork, source=0, request=2),
            *steps(2),
            partial(Host.fork, source=0, request=3, padded=True),
            partial(Host.fork, source=1, request=3),
            *steps(3),
            partial(Host.release, request=2),
            *steps(3, 1, 0),
            partial(Host.rollback, request=0, rows=0, token=5),
            *steps(0, 3),
        ),
    ),
    # Three pages of a row and a ring of four: every entry is used again and again, and nothing moves.
    (False, 1, 3, (partial(Host.admit, request=0, prompt=[6], window=3), *steps(*[0] * 11))),
)
"""Whether weights stay, rows of a page, pages, and what is done."""


def check_hosts() -> Iterator[Found]:
    """Every operation gives what a host on plain lists gives, and leaves tables and bytes of one that gathers (HOST-PLAIN)."""
    for stays, page_size, pages, life in LIVES:
        made = answered(chip_host, page_size, pages, stays)
        if isinstance(made, Raised):
            yield [Difference("HOST-PLAIN", "a host", made.text)], 0
            continue
        gathering, plain = paged_host(page_size, pages), Host(IntegerDecoder(MODEL), PlainStore(16, page_size), PAD)
        for number, do in enumerate(life):
            at = f"pages of {page_size}, operation {number}"
            due = said(do, gathering)
            yield same("HOST-PLAIN", at, due, partial(said, do, made))
            yield same("HOST-PLAIN", f"{at}: tables and bytes", host_image(gathering), partial(host_image, made))
            if not isinstance(due, Raised):
                yield same("HOST-PLAIN", f"{at}, on lists", due[:6], partial(_without_pages, do, plain))


def check_refused_hosts() -> Iterator[Found]:
    """Sinks, pages that are not there and contexts beyond the longest are refused before the chip runs (HOST-REFUSE)."""
    sinks = "the chip gathers one range of rows: it has no sinks, and {} were asked for"
    pages, long = "pages needed to append {} rows: {}, free: {}", "a step attends at most 255 rows, not 256"
    cases: tuple[tuple[int, int, tuple[Do, ...], tuple[str, str] | None, int], ...] = (
        (4, 8, (partial(ADMIT, sinks=1),), ("BadArgument", sinks.format(1)), 0),
        (4, 8, (partial(ADMIT, sinks=2, window=4),), ("BadArgument", sinks.format(2)), 0),
        (2, 2, (partial(ADMIT, chunk=5), *steps(0)), ("OutOfPages", pages.format(5, 3, 2)), 0),
        (2, 3, (partial(ADMIT, chunk=5), *steps(0)), None, 5),
        # The last page is shared: one page for its copy and one for the row behind it.
        (2, 2, (partial(ADMIT, chunk=3), *steps(0), FORK, *steps(1)), ("OutOfPages", pages.format(2, 2, 0)), 0),
        (2, 4, (partial(ADMIT, chunk=3), *steps(0), FORK, *steps(1)), None, 2),
        # The context is looked at before the pages are.
        (
            128,
            1,
            (partial(Host.admit, request=0, prompt=[1] * 256, chunk=256), *steps(0)),
            ("ContextTooLongError", long),
            0,
        ),
        (128, 2, (partial(Host.admit, request=0, prompt=[1] * 256, chunk=255), *steps(0)), None, 255),
    )
    for page_size, count, life, error, runs in cases:
        shown = partial(_last, page_size, count, life)
        yield same("HOST-REFUSE", f"{count} pages of {page_size}, {error}", (error, runs, error is not None), shown)
    pad = Raised("ValueError", "pad token 16 is not in 0 .. 15")
    yield same("HOST-REFUSE", "a request without sinks", 0, lambda: _started(ChipStore(decoder_of(4, 8))))
    yield same("HOST-PAD", "no pad given", 0, lambda: ChipHost(decoder_of(4, 8)).pad_token)
    yield same("HOST-REFUSE", "a pad that is no token", pad, lambda: answered(ChipHost, decoder_of(4, 8), 16))


def check_failed_hosts() -> Iterator[Found]:
    """A chip that fails within a chunk or a padding has changed nothing, and the same call then succeeds (HOST-REFUSE)."""
    life: tuple[Do, ...] = (
        partial(ADMIT, window=4, chunk=3),
        *steps(0, 0, 0),
        partial(Host.fork, source=0, request=1),
        partial(Host.fork, source=1, request=2, padded=True),
        *steps(0, 2),
    )
    sound = chip_host(4, 8, chip=Numbers())
    images = [(said(do, sound), host_image(sound)) for do in life]
    for fails in range(1, 11):
        host, failures = chip_host(4, 8, chip=Numbers(fails)), 0
        for do, (due, image) in zip(life, images, strict=True):
            before = _everything(host)
            shown = said(do, host)
            if shown == Raised("ChipTimeout", "no end"):
                failures += 1
                yield same("HOST-REFUSE", f"run {fails} fails", before, partial(_everything, host))
                shown = said(do, host)
            yield same("HOST-REFUSE", f"run {fails} failed before", (due, image), partial(_with_image, shown, host))
        yield same("HOST-REFUSE", f"run {fails} fails", 1, partial(int, failures))


class Numbers:
    """A chip that computes nothing: a run writes context and token of its step where the new key goes, and gives token 0.

    The run of one number, the first is 1, gives no result.
    """

    lanes, words = 16, EXT_WORDS

    def __init__(self, fails: int = 0) -> None:
        self.fails, self.runs = fails, 0

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        self.runs += 1
        if self.runs == self.fails:
            raise ChipTimeout("no end")
        registers = dict(starts[-1].registers)
        after = memory.copy()
        after[registers[Register.R4]] = registers[Register.R1] << 8 | registers[Register.R2]
        return [Result(after, 0, DONE, 0, None)] * len(starts)


def said(do: Do, host: Host) -> tuple[object, ...] | Raised:
    """What the operation gives; pages and what comes of them stand last."""
    shown = answered(do, host)
    if isinstance(shown, Raised):
        return shown
    return (*shown[:4], shown.context, shown.logits.tolist(), *shown[6:]) if isinstance(shown, StepRecord) else (shown,)


def _started(store: ChipStore) -> int:
    """The pages of a request that is started without a word on sinks."""
    store.new(0)
    return store.held(0)


def _without_pages(do: Do, host: Host) -> object:
    shown = said(do, host)
    return shown if isinstance(shown, Raised) else shown[:6]


def _with_image(shown: object, host: Host) -> tuple[object, object]:
    return shown, host_image(host)


def _everything(host: ChipHost) -> tuple[object, bytes]:
    """The host's image, and all of the chip's memory."""
    assert isinstance(host.decoder, PagedChipDecoder)
    return host_image(host), host.decoder.memory.tobytes()


def _last(page_size: int, pages: int, life: Sequence[Do]) -> tuple[object, int, bool]:
    """How the last operation was refused, the runs of the chip in it, and whether it has changed nothing."""
    chip = Numbers()
    host = chip_host(page_size, pages, chip=chip)
    for do in life[:-1]:
        do(host)
    before, runs = _everything(host), chip.runs
    shown = answered(life[-1], host)
    error = (shown.kind, shown.message) if isinstance(shown, Raised) else None
    return error, chip.runs - runs, _everything(host) == before
