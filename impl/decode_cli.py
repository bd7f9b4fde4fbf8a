"""`python -m impl decode`: a tiny language model decodes over the paged cache, and what it holds meanwhile."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import click

from impl import model_files
from impl.admission import peak_pages
from impl.chip import ChipError, Profile
from impl.chip_decoder import DecoderOnChip
from impl.chip_forms import Form, host_on
from impl.chip_model.machine import ChipModel
from impl.command import EPILOG, CommandError, console, write_json
from impl.decoder import LONGEST_CONTEXT, IntegerDecoder
from impl.display import JSON_OPTION, progress_bar, table
from impl.exit_codes import ExitCode
from impl.host import Host
from impl.kv_cache import KVCache
from impl.memory_map import CompileError
from impl.page_table import OutOfPages
from impl.row_store import PagedStore
from impl.tiny_lm import VOCABULARY, successor
from impl.window import context

PAGES_AFTER = (1, 8, 16, 32)
TOKENS_SHOWN = 33
STEPS_A_TICK = 1_000  # of the progress bar, in integers; on the chip's model it moves at every step
INTEGER, MODEL = CHIPS = ("integer", "model")
LONGEST_LATENCY = 1_000
LARGEST = 1_000_000
"""Steps, pages and rows of a page taken for meant; more than memory has is an error of its own."""


@dataclass(frozen=True, slots=True)
class Cycles:
    """Cycles of the chip: of all steps, of the first and of the last."""

    total: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Run:
    """One start: its tokens (start first), and the pages held, after a trim, by the request that decoded them.

    `departed` is the first step whose token does not follow the model's rule; None when all do or there is no rule.
    `cycles` is None where nothing has any.
    """

    start: int
    tokens: tuple[int, ...]
    departed: int | None
    pages_after: dict[int, int]
    peak_pages: int
    cycles: Cycles | None


def chosen_starts(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """The tokens that the option names."""
    if value == "all":
        return tuple(range(VOCABULARY))
    names = {str(token): token for token in range(VOCABULARY)}
    starts = [name.strip() for name in value.split(",")]
    if not names.keys() >= set(starts):
        raise click.BadParameter(f'"all", or tokens of 0 .. {VOCABULARY - 1} separated by commas, not {value!r}')
    return tuple(names[start] for start in starts)


@click.command(epilog=EPILOG)
@click.option("--window", type=click.IntRange(min=0), default=8, show_default=True, help="Rows a step attends; 0: all.")
@click.option(
    "--sinks", type=click.IntRange(min=0), default=0, show_default=True, help="First rows, attended for ever."
)
@click.option(
    "--page", "page_size", type=click.IntRange(1, LARGEST), default=4, show_default=True, help="Rows of a page."
)
@click.option("--steps", type=click.IntRange(1, LARGEST), default=32, show_default=True, help="Tokens to decode.")
@click.option(
    "--starts", callback=chosen_starts, default="all", show_default=True, help="First tokens, as in 0,7,12, or all."
)
@click.option(
    "--model",
    "name",
    type=click.Choice(model_files.names()),
    default="structured-16",
    show_default=True,
    help="Model to decode with.",
)
@click.option("--pages", type=click.IntRange(1, LARGEST), help="Pages of the pool.  [default: as many as a run needs]")
@click.option(
    "--chip",
    type=click.Choice(CHIPS),
    default=INTEGER,
    show_default=True,
    help="What decodes: numpy in integers, or the chip's cycle model running the compiled program.",
)
@click.option(
    "--latency",
    type=click.IntRange(1, LONGEST_LATENCY),
    help=f"Cycles from a read to its answer, with --chip model.  [default: {Profile().latency}]",
)
@click.option(
    "--form",
    type=click.Choice([form.value for form in Form]),
    help="Who gathers the past rows, and whether weights stay, with --chip model.  [default: host-gather]",
)
@JSON_OPTION
def decode(
    window: int,
    sinks: int,
    page_size: int,
    steps: int,
    starts: tuple[int, ...],
    name: str,
    pages: int | None,
    chip: str,
    latency: int | None,
    form: str | None,
    json_path: str | None,
) -> ExitCode:
    """Decode with a tiny language model, in integers, over the paged cache.

    Each start is a run of its own: a request of one token in an empty pool. A step gathers the rows in the window from their
    pages, gives the next token and a new row, and releases the pages that no later step reads. The table shows how many
    pages are held once 1, 8, 16 and 32 steps are done, and the most after any step: with a window they stop growing.

    A structured model answers a token t with (5 t + 3) mod 16 as long as its attention reads the right rows, whatever the
    window: one that departs from it fails. A random model has no such rule.

    With --chip model each step runs on the cycle model of the chip (docs/chip.md), and the table also has the cycles of all
    steps, of the first and of the last. It gives the same tokens, and takes far longer. In the form host-gather the host
    brings the rows, and every step loads the weights again. With chip-gather the pool is in the chip's memory: the chip is
    told the block table, gathers by itself and stores the new row; a page then has 1, 2, 4, ... 128 rows, and there are no
    sinks. resident is the same with weights that stay; bringing them there once is not counted.

    \b
    From Python:
      host = Host(IntegerDecoder(load("structured-16")), PagedStore(KVCache(64, 4, width=16)))
      host.admit(0, [7, 6, 1], window=8, chunk=2)
      host.step(0)                    feed two tokens of the prompt: one append, one trim
      host.fork(0, 1, padded=True)    request 1 shares every page, and none will be copied
      host.rollback(1, 2)             back to two rows, unless the window has left what the next step reads

    \b
    Examples:
      python -m impl decode
      python -m impl decode --window 0 --starts 0       without a window every row stays
      python -m impl decode --window 6 --sinks 2 --page 2 --steps 100
      python -m impl decode --model random-1-32 --json - | jq .runs[0].tokens
      python -m impl decode --chip model --starts 0 --latency 20
      python -m impl decode --chip model --form resident --starts 0 --page 2
    """
    kept_window = window or None
    if kept_window is not None and sinks >= kept_window:
        raise click.UsageError(f"sinks leave room for the new token: at most {kept_window - 1} in a window of {window}")
    if context(steps, kept_window) > LONGEST_CONTEXT:
        raise click.UsageError(
            f"a step attends at most {LONGEST_CONTEXT} rows: choose a window of 1 .. {LONGEST_CONTEXT} or fewer steps"
        )
    if chip != MODEL:
        for option, value in (("--latency", latency), ("--form", form)):
            if value is not None:
                raise click.UsageError(f"{option} is of the chip: it goes with --chip model")
    program = Form(form or Form.HOST_GATHER)
    if sinks and program is not Form.HOST_GATHER:
        raise click.UsageError(f"the chip gathers one range of rows: --sinks does not go with --form {program}")
    pool = pages or peak_pages(steps, page_size, kept_window, sinks)
    profile = Profile() if latency is None else Profile(latency)
    ruled = name.startswith("structured")
    runs: list[Run] = []
    with progress_bar() as progress:
        task = progress.add_task(name, total=len(starts) * steps)
        for start in starts:
            host = _host(name, chip, program, pool, page_size, profile)
            host.admit(0, [start], kept_window, sinks)
            try:
                runs.append(_decoded(host, steps, ruled, lambda done: progress.advance(task, done)))
            except OutOfPages as refusal:
                raise CommandError(
                    f"a pool of {pool} pages of {page_size} rows is too small for this run: {refusal}"
                ) from None
            except ChipError as error:
                raise CommandError(f"the chip gave no result: {error}") from error
    departed = [run for run in runs if run.departed is not None]
    verdict = "fail" if departed else "pass"
    on_chip = {"chip": chip, "form": program, "latency": profile.latency} if chip != INTEGER else {}
    if json_path != "-":
        rule = "no window" if kept_window is None else f"window {window}"
        title = f"{name}, {rule}, {sinks} sinks, {pool} pages of {page_size} rows, {steps} steps"
        shown_steps = "|".join(f"after {step}" for step in PAGES_AFTER if step <= steps)
        headings = f"start|tokens|rule|{shown_steps}|peak"
        if on_chip:
            title += f", on the chip's {chip}, {program}, latency {profile.latency}"
            headings += "|cycles|first step|last step"
        out = console()
        out.print(table(title, headings, (_cells(run, ruled) for run in runs)))
        out.print(f"verdict: {verdict}, {_reason(runs, departed, ruled)}")
    if json_path is not None:
        shape = {"window": kept_window, "sinks": sinks, "page_size": page_size, "pages": pool, "steps": steps}
        document = {"model": name, **shape, **on_chip, "runs": [_document(run) for run in runs], "verdict": verdict}
        write_json(json_path, document)
    return ExitCode.FAIL if departed else ExitCode.PASS


def _host(name: str, chip: str, form: Form, pages: int, page_size: int, profile: Profile) -> Host:
    """A host over an empty pool whose decoder has the standard model."""
    model = model_files.load(name)
    if chip == INTEGER:
        return Host(IntegerDecoder(model), PagedStore(KVCache(pages, page_size, width=model.width)))
    try:
        return host_on(form, model, ChipModel(model.width), pages, page_size, profile)
    except CompileError as error:
        raise click.UsageError(str(error)) from None


def _decoded(host: Host, steps: int, ruled: bool, tick: Callable[[int], None]) -> Run:
    """What request 0 decodes in so many steps; `tick` hears how many were done since it was last called."""
    chip = host.decoder if isinstance(host.decoder, DecoderOnChip) else None
    held: list[int] = []
    clock = [chip.cycles if chip else 0]
    a_tick = 1 if chip else STEPS_A_TICK
    for first in range(0, steps, a_tick):
        count = min(a_tick, steps - first)
        held.extend(host.step(0).pages for _ in range(count))
        if chip:
            clock.append(chip.cycles)
        tick(count)
    tokens = host.tokens(0)
    wrong = (step for step in range(1, steps + 1) if tokens[step] != successor(tokens[step - 1]))
    pages_after = {step: held[step - 1] for step in PAGES_AFTER if step <= steps}
    cycles = Cycles(clock[-1] - clock[0], clock[1] - clock[0], clock[-1] - clock[-2]) if chip else None
    return Run(tokens[0], tokens, next(wrong, None) if ruled else None, pages_after, host.peak_pages, cycles)


def _document(run: Run) -> dict[str, Any]:
    """The run as JSON values, without cycles where it has none."""
    values = asdict(run)
    if run.cycles is None:
        del values["cycles"]
    return values


def _cells(run: Run, ruled: bool) -> tuple[str, ...]:
    tokens = " ".join(map(str, run.tokens[:TOKENS_SHOWN])) + (" ..." if len(run.tokens) > TOKENS_SHOWN else "")
    rule = "-"
    if ruled:
        rule = "followed" if run.departed is None else f"left at step {run.departed}"
    cycles = () if run.cycles is None else astuple(run.cycles)
    return (str(run.start), tokens, rule, *map(str, run.pages_after.values()), str(run.peak_pages), *_grouped(cycles))


def _grouped(numbers: Iterable[int]) -> Iterator[str]:
    return (f"{number:,}" for number in numbers)


def _reason(runs: Sequence[Run], departed: Sequence[Run], ruled: bool) -> str:
    if not ruled:
        return f"{len(runs)} starts decoded, and no rule to follow"
    if departed:
        return f"{len(departed)} of {len(runs)} starts depart from t -> (5 t + 3) mod {VOCABULARY}"
    return f"{len(runs)} of {len(runs)} starts follow t -> (5 t + 3) mod {VOCABULARY}"
