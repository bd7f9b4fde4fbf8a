"""A difference made ready for a bug report: its script in the target's own calls, run before anything is called a finding."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from impl.command import write_atomically, write_json
from spec.operations import ManagerOperation
from verify.conformance.report import Broken, Finding
from verify.conformance.scripts import RAISED, Ran, run_script
from verify.conformance.targets import KnownTarget
from verify.conformance.work import healthy
from verify.findings import broken_rules
from verify.managers.configuration import Configuration
from verify.managers.configuration import to_json as configuration_to_json
from verify.managers.facts import Facts, facts_of
from verify.managers.lockstep import ManagerReplayed, replay
from verify.managers.walks import ManagerFailure
from verify.managers.witness import ManagerWitness, to_json
from verify.refinement import Difference
from verify.view.html_page import page_html
from verify.view.manager_walkthrough import walk_manager
from verify.witness import calls
from verify.witness_files import name_of

Script = Callable[[Mapping[str, Any], Sequence[ManagerOperation], Facts], str]
"""What verify/targets/*_script.py write: a file that repeats the operations and exits with 1 when the facts do not hold."""

NOT_AGAIN = "it did not come again on a fresh target"
NO_SCRIPT = "no script can be written for it"


def investigate(target: KnownTarget, name: str, failure: ManagerFailure, folder: Path) -> Finding:
    """The difference with its witness, its page and its script in `folder`, and whether the script shows it.

    It is judged by what the failure does on a fresh target, which the last of its operations may not be the last to show.
    """
    found = healthy(target)
    configuration = found.hello.configurations[name]
    run = replay(failure.operations, configuration.traits, lambda traits: found.open(configuration))
    operations = run.applied if run.differences else failure.operations
    differences = run.differences or failure.differences
    rules = tuple(dict.fromkeys(difference.rule for difference in differences))
    witness = ManagerWitness(configuration, operations, rules)
    stem = f"{target.name}-{name_of(witness)}"
    write_json(str(folder / f"{stem}.json"), to_json(witness))
    source, options = str(folder / f"{stem}.json"), f" --target {target.name}"
    walked = walk_manager(witness, lambda: found.open(configuration), source, options=options)
    write_atomically(folder / f"{stem}.html", page_html(walked))
    script, ran, why = None, None, NOT_AGAIN
    if run.differences:
        script = write_script(target, configuration, run, folder / f"{stem}.py")
        why = NO_SCRIPT
        if script is not None:
            ran = run_script(target.python, folder / script, target.variables)
            why = "" if shows(ran, run.differences) else f"its script does not show it ({ran.ended})"
    return Finding(
        stem,
        "unknown" if why else "finding",
        why,
        name,
        tuple(calls(operations)),
        tuple(Broken(item.rule, item.sentence, item.oracle, item.target) for item in broken_rules(differences)),
        script,
        ran.says if ran else "",
        f"{stem}.json",
        f"{stem}.html",
    )


def write_script(target: KnownTarget, configuration: Configuration, run: ManagerReplayed, path: Path) -> str | None:
    """The name of the script; None without operations, or for some that the target's own calls do not have."""
    if run.outcome is None:  # a fresh target differs before anything is asked of it
        return None
    write: Script = import_module(target.script).script
    facts = facts_of(run.before, run.after, run.outcome)
    try:
        text = write(configuration_to_json(configuration), run.applied, facts)
    except ValueError:
        return None
    write_atomically(path, text)
    return path.name


def shows(ran: Ran, differences: Sequence[Difference]) -> bool:
    """Whether the script shows the difference: it says that what it found differs, or raises what the target raised here."""
    if ran.shows:
        return True
    last = ran.says.splitlines()[-1:]
    kind = last[0].partition(":")[0].rpartition(".")[2].strip() if last else ""
    return (
        ran.code == RAISED and bool(kind) and any(f"raised {kind}" in difference.target for difference in differences)
    )
