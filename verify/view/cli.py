"""`python -m verify show`: a witness step by step, in the terminal and as an HTML page."""

from pathlib import Path

import click
from rich.text import Text

from impl.command import EPILOG, check_place, console, write_atomically
from verify.remote.choice import TargetOptions, command_target, target_options
from verify.view.html_page import page_html
from verify.view.manager_walkthrough import walk_prefix_cache
from verify.view.terminal import render_walkthrough, walked_verdict
from verify.view.walkthrough import walk
from verify.witness_files import is_of_manager, load, load_of_manager


@click.command("show", epilog=EPILOG)
@click.argument("file", metavar="WITNESS", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--html", "html_path", metavar="PATH", help="Also write all steps as one HTML page.")
@click.option("--step", "steps", type=click.IntRange(0), multiple=True, help="Show this step; may be repeated.")
@click.option("--last", is_flag=True, help="Show the last step alone: the one that broke a rule, when one did.")
@click.option("--all", "every", is_flag=True, help="Show every step.")
@target_options
def show_witness(
    file: Path, html_path: str | None, steps: tuple[int, ...], last: bool, every: bool, target: TargetOptions
) -> int:
    """Walk through WITNESS step by step.

    Each step shows the block tables with their rows, the physical pages with counts, owners and slots, the free list, what
    changed, and the rules that broke. A long witness shows its calls and its last two steps. A witness of a manager is walked
    through on the prefix cache that ships; `python -m verify conformance --witness` has those of others.
    """
    if bool(steps) + last + every > 1:
        raise click.UsageError("--step, --last and --all exclude each other.")
    if html_path is not None:
        check_place(html_path)
    out = console()
    source = click.format_filename(file)
    if is_of_manager(file):
        walkthrough = walk_prefix_cache(load_of_manager(file), source, target)
    else:
        witness = load(file)
        with command_target(target) as choice:
            walkthrough = walk(witness, choice.factory, source, options=choice.spelling.options)
    kept = [step.number for step in walkthrough.steps]
    missing = [number for number in steps if number not in kept]
    if missing:
        raise click.UsageError(f"There is no step {missing[0]}; steps {kept[0]} to {kept[-1]} can be shown.")
    if html_path is not None:
        write_atomically(html_path, page_html(walkthrough))
    render_walkthrough(out, walkthrough, steps or (kept[-1:] if last else kept if every else None))
    if html_path is not None:
        out.print(Text(f"all steps on a page: {click.format_filename(html_path)}"), soft_wrap=True)
    return walked_verdict(out, walkthrough)
