"""A run as one HTML page that needs nothing else: no network, no other file. It reads like the step-by-step pages and holds some.

The summary is there without a script. The mutants are data, of which the script draws what a reader looks at: a page of
thousands opens at once. Nothing from outside becomes markup: it is escaped here and text there.
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from mutants.reports.data import OPEN, Json, JudgedMutant, MutationRun, Outcome, counts
from mutants.reports.history import Past, chart
from mutants.reports.steps import Steps
from verify.view.html_page import FOLDER as SHOW
from verify.view.html_page import embedded, fill, frame_html, text_of

FOLDER = Path(__file__).resolve().parent / "page"

MARKS: Mapping[Outcome, str] = {
    Outcome.SURVIVED: "\u2717",
    Outcome.NO_VERDICT: "?",
    Outcome.WRONG_RULE: "\u2260",
    Outcome.LEDGER: "\u00a7",
    Outcome.KILLED: "\u2713",
    Outcome.EQUIVALENT: "=",
}
"""A sign for each outcome, for readers without colours."""


def report_html(run: MutationRun, steps: Steps, history: Sequence[Past]) -> str:
    """The page. `steps` are the pictures of witnesses by mutant, `history` the runs of this kind, this one last."""
    parts = {
        "title": text(title(run)),
        "verdict": run.code.name.lower(),
        "facts": " \u00b7 ".join(map(text, _facts(run))),
        "reasons": _reasons(run),
        "tiles": _tiles(run),
        "areas": _by(run, "area", "Area", lambda mutant: mutant.area),
        "operators": _by(run, "operator", "Operator", lambda mutant: mutant.operator or "by hand"),
        "history": chart(history) if history else "",
        "last": text(_since(history)),
        "ablation": _ablation(run),
        "run": _run(run),
        "style": text_of(SHOW / "page.css", FOLDER / "page.css"),
        "script": text_of(SHOW / "elements.js", FOLDER / "page.js"),
        "data": embedded(page_data(run, steps)),
    }
    return fill(FOLDER / "page.html", parts)


def title(run: MutationRun) -> str:
    """What became of the run, in one line."""
    found = counts(run.mutants)
    left = sum(found[outcome] for outcome in OPEN)
    killed = f"{found[Outcome.KILLED]} of {len(run.mutants)} mutants killed"
    return f"{run.kind}: {run.code.name.lower()}, {killed}, {f'{left} to look at' if left else 'none left to look at'}"


def page_data(run: MutationRun, steps: Steps) -> Json:
    """What the script draws: the mutants, those to look at first, and the steps of their witnesses."""
    order = list(Outcome)
    mutants = sorted(run.mutants, key=lambda mutant: order.index(mutant.outcome))
    return {
        "marks": {outcome.value: mark for outcome, mark in MARKS.items()},
        "stages": list(run.stages),
        "mutants": [_mutant(mutant) for mutant in mutants],
        "steps": steps,
        "frame": frame_html() if steps else "",
    }


def _mutant(mutant: JudgedMutant) -> Json:
    return {
        "id": mutant.id,
        "title": mutant.title,
        "area": mutant.area,
        "operator": mutant.operator or "by hand",
        "module": mutant.module,
        "function": mutant.function,
        "place": f"{mutant.path}:{mutant.start.line}" if mutant.start else mutant.path,
        "outcome": mutant.outcome.value,
        "status": mutant.status.value if mutant.status else "did not run",
        "detail": mutant.detail,
        "accepted": mutant.accepted,
        "expected": mutant.expectation,
        "rules": dict(mutant.rules or {}),
        "stage": mutant.stage,
        "cpu": round(mutant.cpu_ms, 1),
        "diff": mutant.diff,
        "trials": [
            [trial.stage, trial.outcome, dict(trial.broken), trial.steps, round(trial.cpu_ms, 1), trial.detail]
            for trial in mutant.trials
        ],
        "witness": calls(mutant.witness),
    }


def calls(witness: object) -> list[str]:
    """A witness as plain calls, one a line, where it is a list of operations; what else it is in one line."""
    if not isinstance(witness, dict) or not isinstance(witness.get("operations"), list):
        return [str(witness)] if witness else []
    lines = []
    for operation in witness["operations"]:
        (_, name), (_, first), *rest = operation.items()
        words = [str(first), *(str(value) if isinstance(value, list) else f"{key}={value}" for key, value in rest)]
        lines.append(f"{name}({', '.join(words)})")
    return lines


def text(words: str) -> str:
    """The words as text, in an attribute too."""
    return html.escape(words)


def _facts(run: MutationRun) -> list[str]:
    same = "=" if run.executed == len(run.mutants) else "\u2260"
    facts = [run.tool, run.time, f"revision {run.revision}" if run.revision else ""]
    facts.append(f"planned {len(run.mutants)} {same} executed {run.executed}")
    facts.append(f"{run.seconds:.1f} s, median {run.median_cpu_ms:.1f} ms of CPU a mutant")
    return [fact for fact in facts if fact]


def _reasons(run: MutationRun) -> str:
    """Why it is no pass; the first of many, since the mutants below say it one by one."""
    lines = [f"<li>{text(reason)}</li>" for reason in run.reasons[:8]]
    if len(run.reasons) > 8:
        lines.append(f"<li>and {len(run.reasons) - 8} more</li>")
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _tiles(run: MutationRun) -> str:
    """How many mutants have each outcome; a tile shows its own."""
    return "".join(
        f'<button type="button" class="tile {_class(outcome)}" data-filter="status" data-value="{text(outcome)}"'
        f"{'' if number else ' disabled'}><b>{number}</b> <span><i>{MARKS[outcome]}</i> {text(outcome)}</span></button>"
        for outcome, number in ((outcome, counts(run.mutants)[outcome]) for outcome in Outcome)
    )


def _by(run: MutationRun, name: str, heading: str, key: Callable[[JudgedMutant], str]) -> str:
    """A table of outcomes by area, operator or the like, those with most to look at first; a row shows its own."""
    groups: dict[str, list[JudgedMutant]] = {}
    for mutant in run.mutants:
        groups.setdefault(key(mutant), []).append(mutant)
    met = [outcome for outcome in Outcome if any(mutant.outcome is outcome for mutant in run.mutants)]
    head = "".join(f'<th class="number" title="{text(one)}">{MARKS[one]}</th>' for one in met)
    rows = []
    for group, members in sorted(groups.items(), key=lambda item: -sum(one.outcome in OPEN for one in item[1])):
        found = counts(members)
        cells = "".join(f'<td class="number">{found[outcome] or ""}</td>' for outcome in met)
        button = f'<button type="button" data-filter="{name}" data-value="{text(group)}">{text(group)}</button>'
        rows.append(f"<tr><th>{button}</th>{cells}<td>{_bar(found, met, len(members))}</td></tr>")
    return f"<table><thead><tr><th>{heading}</th>{head}<th></th></tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _bar(found: Mapping[str, int], met: Iterable[Outcome], total: int) -> str:
    parts = "".join(
        f'<span class="{_class(outcome)}" style="flex-grow:{found[outcome]}"></span>'
        for outcome in met
        if found[outcome]
    )
    return f'<span class="share" title="{total} in all">{parts}</span>'


def _class(outcome: Outcome) -> str:
    return f"is-{outcome.name.lower().replace('_', '-')}"


def _since(history: Sequence[Past]) -> str:
    """The last run beside the one before it."""
    if len(history) < 2:
        return "The first run of its kind here."
    before, now = history[-2:]
    then = f"{before.planned} planned, {before.open} to look at, {before.seconds:.1f} s"
    return f"The run before: {then}; now {now.open} to look at."


def _ablation(run: MutationRun) -> str:
    """What survives when groups of rules are left out."""
    if not run.ablation:
        return ""
    rows = "".join(
        f'<tr class="{"" if set(row.survivors) == set(row.expected) else "differs"}"><th>{text(row.name)}</th>'
        f"<td>{text(', '.join(row.survivors) or 'none')}</td><td>{text(', '.join(row.expected) or 'none')}</td></tr>"
        for row in run.ablation
    )
    head = "<tr><th>Rules</th><th>Survivors</th><th>Expected</th></tr>"
    return f"<section><h2>Ablation</h2><table><thead>{head}</thead><tbody>{rows}</tbody></table></section>"


def _run(run: MutationRun) -> str:
    """What the verdict stands on: the controls, the original before and after, versions."""
    rows = [("suite", run.suite), *(("summary", line) for line in run.summary)]
    rows += [(f"control {one.id}", f"{one.status}: {one.detail}") for one in run.controls]
    for when, attempt in run.originals.items():
        trials = attempt.trials if attempt else ()
        said = ", ".join(f"{trial.stage} {trial.outcome} ({trial.steps} steps)" for trial in trials)
        rows.append((f"original {when}", said or "did not run"))
    rows += [("seed", str(run.seed))] if run.seed is not None else []
    rows.append(("versions", ", ".join(f"{name} {version}" for name, version in run.versions.items())))
    return "".join(f"<tr><th>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in rows)
