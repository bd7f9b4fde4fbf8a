"""A walkthrough in the terminal: the calls, then the steps asked for, each readable at 100 columns. Data only, as in show.py."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from impl.exit_codes import ExitCode
from verify.show import broken_table, read_more, verdict
from verify.view.steps import FreePage, LogicalPage, Owner, Pair, PoolPage, RequestStep, Row, Slot, Step, Walkthrough

WRONG, CHANGED, QUIET = "bold red", "yellow", "dim"
FEW_STEPS = 6
"""Steps of a witness that is shown whole."""
LEGEND = (
    "* changed by this step · ! differs, or a broken rule names it · . released · ~ stale: written once, nobody's row now "
    "· - never written · ? not known"
)


def render_walkthrough(console: Console, walkthrough: Walkthrough, numbers: Sequence[int] | None = None) -> None:
    """Print the calls and these steps; by default every step of a short witness, the last two of a longer one."""
    steps = walkthrough.steps
    pool = f"{walkthrough.pages} pages of {walkthrough.page_size} rows"
    console.print(Text(walkthrough.title, style=WRONG if walkthrough.broken else "bold green"))
    console.print(Text(f"{walkthrough.target} · {pool} · {walkthrough.source}"), soft_wrap=True)
    for number, call in enumerate(walkthrough.calls, start=1):
        console.print(call_line(walkthrough, number, call), soft_wrap=True)
    shown = steps if len(steps) <= FEW_STEPS else steps[-2:]
    if numbers is not None:
        shown = tuple(step for step in steps if step.number in numbers)
    for step in shown:
        console.print()
        render_step(console, step, walkthrough.pages)
    console.print(Text(LEGEND, style=QUIET))
    if numbers is None and len(shown) < len(steps):
        first, last = steps[0].number, steps[-1].number
        console.print(
            f"steps {first} to {last} can be shown: --step N, --all, or --html PATH for all of them on a page"
        )


def call_line(walkthrough: Walkthrough, number: int, call: str) -> Text:
    """One call of the list, marked where the run ended."""
    ran = number <= len(walkthrough.calls) - len(walkthrough.not_run)
    here = walkthrough.broken and number == walkthrough.last.number
    return Text.assemble(
        (f"{number:>5}  ", QUIET),
        (call, WRONG if here else "" if ran else QUIET),
        ("  <- here" if here else "" if ran else "  (not run)", WRONG if here else QUIET),
    )


def render_step(console: Console, step: Step, pages: int) -> None:
    """Print one step: what was answered, what changed, the requests, the pool, the free list and the broken rules."""
    console.rule(Text(f"step {step.number}: {step.call}", style="bold"), align="left", style=QUIET)
    if step.outcome != Pair("-", "-"):
        style = "" if step.outcome.same else WRONG
        console.print(Text(f"oracle: {step.outcome.oracle} · target: {step.outcome.target}", style=style))
    for line in step.changes:
        console.print(Text(f"* {line}", style=CHANGED))
    if step.unseen is not None:
        console.print(Text(f"the target cannot be looked at: {step.unseen}", style=WRONG))
    else:
        if step.requests:
            console.print(requests_table(step.requests))
        console.print(pool_table(step.pool))
        if len(step.pool) < pages:
            console.print(Text(f"({len(step.pool)} of {pages} pages are drawn)", style=QUIET))
        console.print(free_line(step))
    if step.broken:
        console.print(broken_table(step.broken))
        for line in read_more(step.broken):
            console.print(Text(line), soft_wrap=True)


def requests_table(requests: Sequence[RequestStep]) -> Table:
    """One line a request: its rows by logical page, each with the physical page that holds it."""
    table = Table("request", "rows", "pages", "block table and rows", box=SIMPLE_HEAD, pad_edge=False)
    for request in requests:
        name = marked(f"{request.request} {request.part}".rstrip(), request.changed, request.wrong)
        table.add_row(name, pair_text(request.length), pair_text(request.held), table_text(request))
    return table


def table_text(request: RequestStep) -> Text:
    """The block table with its rows, and what is released or kept for sinks."""
    parts = [page_text(page) for page in request.table] or [Text("empty", style=QUIET)]
    for position, (left, right) in reversed(list(enumerate(pairwise(request.table), start=1))):
        if right.logical > left.logical + 1:
            parts.insert(position, Text(f"... {right.logical - left.logical - 1} more", style=QUIET))
    if not request.released.same:
        parts.append(Text(f"released: oracle {request.released.oracle}, target {request.released.target}", style=WRONG))
    if request.sinks:
        parts.append(Text(f"sinks {request.sinks}", style=QUIET))
    return Text("  ").join(parts)


def page_text(page: LogicalPage) -> Text:
    """One logical page: "2x2[5 6]" is page 2, shared by two, with the tokens 5 and 6."""
    if page.released:
        return marked("[.]", page.changed, False, QUIET)
    sharing = f"x{page.owners}" if page.owners > 1 else ""
    if page.owners != page.owners_due:
        sharing = f"x{page.owners} (oracle x{page.owners_due})"
    name = f"{'no page' if page.page is None else page.page}{sharing}"
    head = marked(name, page.changed, page.owners != page.owners_due, "bold")
    return Text.assemble(head, "[", Text(" ").join(row_text(row) for row in page.rows), "]")


def row_text(row: Row) -> Text:
    """The token; where the target has another than the oracle, both."""
    if row.oracle != row.target:
        return Text(f"{row.target or 'nothing'}!={row.oracle or 'nothing'}", style=WRONG)
    return marked(row.target, row.changed, False)


def pool_table(pool: Sequence[PoolPage]) -> Table:
    """One line a physical page; neighbours that are free, never written and untouched share one."""
    table = Table("page", "count", "held by", "free list", "slots", box=SIMPLE_HEAD, pad_edge=False)
    for run in page_runs(pool):
        page = run[0]
        if len(run) > 1:
            count, free = "?" if page.count is None else "0", "" if page.free is None else "yes"
            table.add_row(*(Text(text, style=QUIET) for text in (f"{page.page}-{run[-1].page}", count, "", free, "-")))
            continue
        place = ", ".join(str(position) for position in page.free or ())
        table.add_row(
            marked(str(page.page), page.changed, page.wrong),
            Text("?" if page.count is None else str(page.count), style=WRONG if page.wrong else ""),
            owners_text(page.owners),
            f"at {place}" if place else "",
            Text.assemble(slots_text(page.slots), (f"  {page.note}" if page.note else "", QUIET)),
        )
    return table


def page_runs(pool: Sequence[PoolPage]) -> Iterator[list[PoolPage]]:
    """The pages one by one, but the untouched ones that follow each other together."""
    run: list[PoolPage] = []
    for page in pool:
        if run and not (untouched(run[-1]) and untouched(page) and page.page == run[-1].page + 1):
            yield run
            run = []
        run.append(page)
    if run:
        yield run


def untouched(page: PoolPage) -> bool:
    """Nobody's, not known to be written, and of no interest in this step."""
    idle = not page.count and not page.owners and not page.note and not page.changed and not page.wrong
    return (
        idle and (page.free is None or len(page.free) == 1) and all(s.state in ("never", "unknown") for s in page.slots)
    )


def owners_text(owners: Sequence[Owner]) -> str:
    """The table entries that name a page, as request.logical page, and the group where there are several."""
    return " ".join(f"{owner.request}.{owner.logical}{f' {owner.part}' if owner.part else ''}" for owner in owners)


def slots_text(slots: Sequence[Slot]) -> Text:
    """The slots with the token of the row in each, a tilde before a stale one."""
    parts = []
    for slot in slots:
        token = "?" if slot.token is None else str(slot.token)
        text = {"live": token, "stale": f"~{token}", "never": "-"}.get(slot.state, "?")
        parts.append(marked(text, slot.changed, False, "" if slot.state == "live" else QUIET))
    for position, (left, right) in reversed(list(enumerate(pairwise(slots), start=1))):
        if right.slot > left.slot + 1:
            parts.insert(position, Text("..."))
    return Text(" ").join(parts)


def free_line(step: Step) -> Text:
    """The free list in the target's order, and the pages in use."""
    nothing = "the target shows none" if step.free_total is None else "empty"
    parts = [marked(str(entry.page), entry.changed, False) for entry in step.free] or [Text(nothing, style=QUIET)]
    for position in gaps(step.free):
        parts.insert(position, Text("..."))
    if step.free_total is not None and len(step.free) < step.free_total:
        parts.append(Text(f"({len(step.free)} of {step.free_total} are drawn)", style=QUIET))
    used = Text(f" · in use: {step.used.target}")
    if not step.used.same:
        used = Text(f" · in use: oracle {step.used.oracle}, target {step.used.target}", style=WRONG)
    return Text.assemble("free list: ", Text(" ").join(parts), used)


def gaps(free: Sequence[FreePage]) -> list[int]:
    """Where entries of the free list are left out, the last gap first."""
    found = [index for index, (a, b) in enumerate(pairwise(free), start=1) if b.position > a.position + 1]
    return found[::-1]


def pair_text(pair: Pair) -> Text:
    """The fact, or both sides of it where they differ."""
    if pair.same:
        return Text(pair.target)
    return Text(f"oracle {pair.oracle}, target {pair.target}", style=WRONG)


def marked(text: str, changed: bool, wrong: bool, style: str = "") -> Text:
    """The text with its marks, which say the same as the colours."""
    if wrong:
        return Text(f"{text}!", style=WRONG)
    return Text(f"{text}*", style=CHANGED) if changed else Text(text, style=style)


def walked_verdict(out: Console, walkthrough: Walkthrough) -> int:
    """The closing line of a walkthrough, and its exit code."""
    if walkthrough.broken:
        return verdict(out, walkthrough.title, ExitCode.FAIL)
    return verdict(out, walkthrough.title, ExitCode.PASS if walkthrough.applied else ExitCode.UNKNOWN)
