"""`python -m impl study`: what memory, sharing, windows, pages and admission cost, as tables, files and figures."""

from pathlib import Path

import click

from impl.chip import Profile
from impl.command import EPILOG
from impl.decode_cli import LONGEST_LATENCY
from impl.decoder import LONGEST_CONTEXT
from impl.studies import serving as chips
from impl.studies.accuracy import AccuracyInputs, accuracy_findings
from impl.studies.admission import AdmissionInputs, admission_findings
from impl.studies.cycles import CyclesInputs, cycles_findings
from impl.studies.memory import MemoryInputs, memory_findings
from impl.studies.pages import PagesInputs, pages_findings
from impl.studies.running import Job, run
from impl.studies.self_check import self_check_findings
from impl.studies.serving import ServingInputs, serving_findings
from impl.studies.sharing import SharingInputs, sharing_findings
from impl.studies.study_options import number, numbers, places, size
from impl.studies.trace_cli import TRACE, trace_job, traces
from impl.studies.trace_study import TraceInputs
from impl.studies.window import WindowInputs, window_findings
from impl.tiny_lm import VOCABULARY
from spec.isa import LANES


@click.group(epilog=EPILOG)
def study() -> None:
    """Run studies of the cache: tables on the terminal, and their figures as JSON, CSV, SVG and PNG.

    A study runs the cache that ships, and nothing in its tables is written down beforehand. Each has options for other
    sizes than those of docs/studies.md. STUDY.json has the inputs, tables and charts of a study, STUDY-TABLE.csv a table
    with all digits, STUDY-CHART.svg and .png a figure; the same inputs give the same bytes.

    \b
    Examples:
      python -m impl study all                      everything below reports/studies/
      python -m impl study memory --pages 8,32      how much of a pool is wasted
      python -m impl study serving --layers 61 --heads 1 --head-width 576 --contexts 65536
      python -m impl study self-check               questions and answers
    """


study.add_command(traces)


@study.command("memory", short_help="What pages of each size waste of a pool.", epilog=EPILOG)
@number("--pool-rows", MemoryInputs().pool_rows, "Rows of the pool.", most=10_000_000)
@numbers("--pages", MemoryInputs().page_sizes, "Rows of a page.")
@number("--reserve", MemoryInputs().reserve, "Rows reserved for each request without pages; none is longer.", 16)
@number("--requests", MemoryInputs().requests, "Requests that ask to be admitted.", most=100_000)
@number("--seed", MemoryInputs().seed, "Seed of their lengths.", 0)
@places
def memory(
    pool_rows: int, pages: tuple[int, ...], reserve: int, requests: int, seed: int, out: Path, figures: bool
) -> None:
    """How many requests a pool holds, and how much of it is reserved for nothing, by the size of a page.

    \b
    Examples:
      python -m impl study memory
      python -m impl study memory --pool-rows 65536 --pages 16,32,128 --requests 2000
    """
    for rows in (reserve, *pages):
        if rows > pool_rows:
            raise click.UsageError(f"a pool of {pool_rows} rows has no room for a page of {rows}")
    inputs = MemoryInputs(pool_rows, pages, reserve, requests, seed)
    run([lambda progress: memory_findings(inputs, progress)], out, figures)


@study.command("sharing", short_help="What requests with one prompt save by sharing it.", epilog=EPILOG)
@number("--requests", SharingInputs().requests, "Requests that share a prompt.", most=1_000)
@numbers("--prompts", SharingInputs().prompts, "Rows of the prompt.", most=10_000)
@numbers("--pages", SharingInputs().page_sizes, "Rows of a page.", most=10_000)
@number("--own-rows", SharingInputs().own_rows, "Rows that each request adds.", most=10_000)
@number("--pool-pages", SharingInputs().pool_pages, "Pages of the pool.", most=100_000)
@places
def sharing(
    requests: int,
    prompts: tuple[int, ...],
    pages: tuple[int, ...],
    own_rows: int,
    pool_pages: int,
    out: Path,
    figures: bool,
) -> None:
    """How many pages requests with one prompt save by sharing it: forked, forked at a page boundary, served a prefix.

    \b
    Examples:
      python -m impl study sharing
      python -m impl study sharing --requests 32 --prompts 1000 --pages 16,64 --pool-pages 4000
    """
    inputs = SharingInputs(requests, own_rows, prompts, pages, pool_pages)
    run([lambda progress: sharing_findings(inputs, progress)], out, figures)


@study.command("accuracy", short_help="What a window costs in logits and tokens.", epilog=EPILOG)
@numbers("--windows", AccuracyInputs().windows, "Rows that a step attends.", most=LONGEST_CONTEXT)
@numbers("--sinks", AccuracyInputs().sinks, "First rows that stay in the window.", most=LONGEST_CONTEXT)
@number("--steps", AccuracyInputs().steps, "Tokens that each model decodes from each start.", most=LONGEST_CONTEXT)
@number("--starts", AccuracyInputs().starts, "Tokens to start from.", most=VOCABULARY)
@places
def accuracy(
    windows: tuple[int, ...], sinks: tuple[int, ...], steps: int, starts: int, out: Path, figures: bool
) -> None:
    """How far logits and tokens of a windowed model move from full attention, in floats and in integers over pages.

    Three random models are fed the tokens that full attention gives; the error is relative L2 of the logits. A window with
    sinks keeps its size: the sinks take the place of later rows.

    \b
    Examples:
      python -m impl study accuracy
      python -m impl study accuracy --windows 16,32,64 --sinks 4 --steps 96 --starts 4
    """
    inputs = AccuracyInputs(starts=starts, steps=steps, windows=windows, sinks=sinks)
    run([lambda progress: accuracy_findings(inputs, progress)], out, figures)


@study.command("serving", short_help="How many requests a chip serves at once.", epilog=EPILOG)
@size("--chip-bytes", ServingInputs().chip_bytes, "Memory of the chip.", "80e9")
@size("--weights", ServingInputs().weight_bytes, "Bytes of it that the weights take.", "7e9")
@size("--token-bytes", ServingInputs().token_bytes, "Keys and values of one token.", "256KiB")
@number("--layers", 0, "Layers of a model, instead of --token-bytes; with --heads and --head-width.", 0, 10_000)
@number("--heads", 0, "Heads of a layer that keep keys and values.", 0, 10_000)
@number("--head-width", 0, "Elements of a head's key.", 0, 100_000)
@number("--element-bytes", 1, "Bytes of an element.", 1, 16)
@numbers("--contexts", ServingInputs().contexts, "Rows of a request.")
@numbers("--windows", ServingInputs().windows, "Windows to set beside none.")
@number("--page", ServingInputs().page_size, "Rows of a page.", most=1_000_000)
@places
@click.pass_context
def serving(
    context: click.Context,
    chip_bytes: int,
    weights: int,
    token_bytes: int,
    layers: int,
    heads: int,
    head_width: int,
    element_bytes: int,
    contexts: tuple[int, ...],
    windows: tuple[int, ...],
    page: int,
    out: Path,
    figures: bool,
) -> None:
    """How many requests a chip serves at once, by context and window, counted in a page table that is really filled.

    The defaults are a model of 7e9 int8 weights with 32 layers of 32 heads of 128.

    \b
    Examples:
      python -m impl study serving
      python -m impl study serving --chip-bytes 141e9 --weights 70GB --layers 80 --heads 8 --head-width 128 --element-bytes 2
      python -m impl study serving --contexts 4096,1048576 --windows 1024,8192
    """
    if layers or heads or head_width:
        if not (layers and heads and head_width):
            raise click.UsageError("a model is --layers, --heads and --head-width together")
        if context.get_parameter_source("token_bytes") is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError("--token-bytes follows from --layers, --heads and --head-width")
        token_bytes = chips.bytes_a_token(layers, heads, head_width, element_bytes)
    if weights >= chip_bytes:
        raise click.UsageError(f"weights of {weights:,} bytes leave no room in a memory of {chip_bytes:,}")
    inputs = ServingInputs(chip_bytes, weights, token_bytes, contexts, windows, page)
    run([lambda progress: serving_findings(inputs, progress)], out, figures)


@study.command("pages", short_help="What the size of a page costs under a window.", epilog=EPILOG)
@numbers("--pages", PagesInputs().page_sizes, "Rows of a page.", most=10_000)
@number("--window", PagesInputs().window, "Rows a step attends.", most=LONGEST_CONTEXT)
@number("--steps", PagesInputs().steps, "Tokens to decode.", most=100_000)
@places
def pages(pages: tuple[int, ...], window: int, steps: int, out: Path, figures: bool) -> None:
    """How many rows a request with a window keeps reserved, by the size of a page.

    \b
    Examples:
      python -m impl study pages
      python -m impl study pages --pages 4,16,64 --window 128 --steps 1000
    """
    inputs = PagesInputs(window, steps, pages)
    run([lambda progress: pages_findings(inputs, progress)], out, figures)


@study.command("admission", short_help="Who runs out when admitted by an expected length.", epilog=EPILOG)
@number("--pool-rows", AdmissionInputs().pool_rows, "Rows of the pool.", most=1_000_000)
@numbers("--pages", AdmissionInputs().page_sizes, "Rows of a page; the first also goes with every seed.")
@numbers("--expected", AdmissionInputs().expected, "Rows that a request is expected to hold.")
@number("--longest", AdmissionInputs().longest, "Rows of the longest request.", 16, 100_000)
@number("--requests", AdmissionInputs().requests, "Requests that ask to be admitted.", most=100_000)
@numbers("--seeds", AdmissionInputs().seeds, "Seeds of their lengths; the first goes with every page.", 0)
@places
def admission(
    pool_rows: int,
    pages: tuple[int, ...],
    expected: tuple[int, ...],
    longest: int,
    requests: int,
    seeds: tuple[int, ...],
    out: Path,
    figures: bool,
) -> None:
    """How many requests a pool admits by an expected length, and how many of them run out of pages later.

    \b
    Examples:
      python -m impl study admission
      python -m impl study admission --expected 100,274,500 --pages 16 --seeds 1,2,3
    """
    if max(pages) > pool_rows:
        raise click.UsageError(f"a pool of {pool_rows} rows has no room for a page of {max(pages)}")
    inputs = AdmissionInputs(pool_rows, pages, expected, longest, requests, seeds)
    run([lambda progress: admission_findings(inputs, progress)], out, figures)


@study.command("cycles", short_help="Cycles of each step on the chip.", epilog=EPILOG)
@click.option(
    "--width",
    type=click.Choice([str(width) for width in LANES]),
    default="16",
    show_default=True,
    help="Width of the model.",
)
@number("--latency", Profile().latency, "Cycles from a read to its answer.", most=LONGEST_LATENCY)
@places
def cycles(width: str, latency: int, out: Path, figures: bool) -> None:
    """How many cycles each step of a decode takes on the chip's cycle model, without a window and with 8 and 4.

    \b
    Examples:
      python -m impl study cycles
      python -m impl study cycles --width 32 --latency 16
    """
    inputs = CyclesInputs(int(width), latency)
    run([lambda progress: cycles_findings(inputs, progress)], out, figures)


@study.command("window", short_help="Rows, pages and pool of a windowed request.", epilog=EPILOG)
@number("--pool-pages", WindowInputs().pool_pages, "Pages of the pool.", most=24)
@number("--page", WindowInputs().page_size, "Rows of a page.", most=16)
@number("--window", WindowInputs().window, "Rows a step attends.", most=40)
@number("--steps", WindowInputs().steps, "Tokens of the request.", most=40)
@places
def window(pool_pages: int, page: int, window: int, steps: int, out: Path, figures: bool) -> None:
    """Which rows a windowed request reads, which pages it holds, and which page is used again: two pictures.

    \b
    Examples:
      python -m impl study window
      python -m impl study window --page 2 --window 5 --steps 12
    """
    inputs = WindowInputs(pool_pages, page, window, steps)
    run([lambda progress: window_findings(inputs, progress)], out, figures)


@study.command("self-check", short_help="Questions about the cache, answered by running it.", epilog=EPILOG)
@places
def self_check(out: Path, figures: bool) -> None:
    """Questions about the cache, each with the answer that running it gives; docs/self-check.md explains them.

    \b
    Example:
      python -m impl study self-check
    """
    run([self_check_findings], out, figures)


@study.command("all", short_help="Every study with its defaults.", epilog=EPILOG)
@click.option("--trace", type=TRACE, help="Also the studies of this request trace.")
@places
def every_study(trace: Path | None, out: Path, figures: bool) -> None:
    """Run every study with its defaults.

    \b
    Examples:
      python -m impl study all --out /tmp/studies
      python -m impl study all --trace conversation.jsonl
    """
    jobs: list[Job] = [
        lambda progress: window_findings(WindowInputs(), progress),
        lambda progress: memory_findings(MemoryInputs(), progress),
        lambda progress: sharing_findings(SharingInputs(), progress),
        lambda progress: pages_findings(PagesInputs(), progress),
        lambda progress: admission_findings(AdmissionInputs(), progress),
        lambda progress: accuracy_findings(AccuracyInputs(), progress),
        lambda progress: cycles_findings(CyclesInputs(), progress),
        lambda progress: serving_findings(ServingInputs(), progress),
        self_check_findings,
    ]
    if trace is not None:
        jobs.append(trace_job(TraceInputs(trace)))
    run(jobs, out, figures)
