"""Each survivor through every way to tell whether it is a new program: bytecode, all paths, lock-step, the surest first."""

import hashlib
import importlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

from impl.command import write_atomically
from mutants.client import ForkServer, Source
from mutants.equivalence.all_paths import CPU_SECONDS, PROVED, REFUTED, UNKNOWN, Compared, Pair, compare_all, controls
from mutants.equivalence.claims import OF
from mutants.equivalence.lock_step import FAMILIES, TRANSCRIPTS, NoEvidence, baseline, plant, walk
from mutants.making import Made, make
from mutants.mutant import Mutant, Project
from mutants.verdicts import Status
from mutants.wire import Run

CACHE = Path(".builds", "equivalence")
COUNTS_AS_SOURCE = ("impl", "spec", "verify/contracts", "verify/sandbox.py", "mutants/equivalence")
"""What a comparison may depend on: a verdict in the cache is of these, byte for byte."""

Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of a mutant: the verdict, by which way, in words; what a proof takes as given, what scopes count."""

    mutant: Mutant
    verdict: str
    way: str
    detail: str
    given: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


def examine(
    mutants: Sequence[Mutant],
    project: Project,
    announce: Announce,
    proofs_alone: bool = False,
    cpu_seconds: float = CPU_SECONDS,
    suite: str = TRANSCRIPTS,
) -> list[Finding]:
    """One finding a mutant, in order; with `proofs_alone` lock-step, which proves nothing, is left out."""
    modules = {mutant.module for mutant in mutants}
    walked: dict[str, Run] = {}
    with ForkServer(replace(project, suite=suite, family_stages={}), modules) as server:
        announce("bytecode")
        made = make(mutants, server.sources, project)
        found = {mutant.id: by_bytecode(mutant, made[mutant.id]) for mutant in mutants}
        announce("all paths")
        found |= over_all_paths(
            [mutant for mutant in mutants if found[mutant.id].verdict == UNKNOWN and made[mutant.id].code],
            made,
            server.sources,
            project,
            cpu_seconds,
        )
        stages = () if proofs_alone else tuple(importlib.import_module(suite).STAGES)
        for mutant in mutants if stages else ():
            if found[mutant.id].verdict == UNKNOWN and made[mutant.id].code:
                announce(f"lock-step of {mutant.id}")
                found[mutant.id] = in_lock_step(server, walked, mutant, made[mutant.id], found[mutant.id], stages)
    return [found[mutant.id] for mutant in mutants]


def by_bytecode(mutant: Mutant, made: Made) -> Finding:
    """PROVED when it compiles to the original's instructions, UNKNOWN otherwise."""
    if made.verdict is None:
        return Finding(mutant, UNKNOWN, "", "")
    if made.verdict.status is Status.EQUIVALENT_BYTECODE:
        return Finding(mutant, PROVED, "bytecode", made.verdict.detail)
    return Finding(mutant, UNKNOWN, "bytecode", f"{made.verdict.status}: {made.verdict.detail}")


def over_all_paths(
    mutants: Iterable[Mutant],
    made: Mapping[str, Made],
    sources: Mapping[str, Source],
    project: Project,
    cpu_seconds: float = CPU_SECONDS,
) -> dict[str, Finding]:
    """What CrossHair says of each, UNKNOWN where no claim is about its function or the controls are not as they must be."""
    found: dict[str, Finding] = {}
    pairs: dict[str, Pair] = {}
    for mutant in mutants:
        claim, spliced = OF.get((mutant.module, mutant.function)), made[mutant.id].spliced
        if claim is None or spliced is None:
            found[mutant.id] = Finding(mutant, UNKNOWN, "all paths", f"no claim is about {mutant.function or 'it'}")
        else:
            pair = Pair(mutant.id, claim, sources[mutant.module].source, spliced.source, cpu_seconds)
            pairs[mutant.id] = pair
            found[mutant.id] = Finding(mutant, UNKNOWN, "all paths", "", claim.given)
    checks = {pair.claim.name: controls(pair) for pair in pairs.values()}
    compared = cached([*(one for both in checks.values() for one in both), *pairs.values()], project)
    for id, pair in pairs.items():
        itself, off = (compared[control.name] for control in checks[pair.claim.name])
        came = compared[id]
        if itself.verdict != PROVED or off.verdict != REFUTED:
            detail = (
                f"the controls are not as they must be: {itself.verdict}: {itself.detail}; {off.verdict}: {off.detail}"
            )
            came = Compared(UNKNOWN, detail, 0.0)
        found[id] = Finding(found[id].mutant, came.verdict, "all paths", came.detail, pair.claim.given)
    return found


def in_lock_step(
    server: ForkServer,
    walked: dict[str, Run],
    mutant: Mutant,
    made: Made,
    before: Finding,
    every_stage: Sequence[str],
) -> Finding:
    """What lock-step adds to a finding that is UNKNOWN; what the other ways said stays in the detail.

    `walked` keeps the original's transcripts by family.
    """
    spliced, code = made.spliced, made.code
    assert spliced is not None and code is not None
    family = FAMILIES.get(mutant.module)
    try:
        stages = tuple(name for name in every_stage if family and name.startswith(f"{family}, "))
        if family is None or not stages:
            raise NoEvidence(f"{mutant.module} has no transcripts")
        source = server.sources[mutant.module]
        planted = plant(source.source, source.path, spliced.start)
        if family not in walked:
            walked[family] = baseline(server, stages)
        came = walk(server, walked[family], mutant.module, code, planted)
    except NoEvidence as error:
        return Finding(mutant, UNKNOWN, "lock-step", f"{before.detail}; lock-step: {error}")
    detail = came.detail if came.verdict == REFUTED else f"{before.detail}; lock-step: {came.detail}"
    return Finding(mutant, came.verdict, "lock-step", detail, scopes=came.scopes)


def cached(pairs: Sequence[Pair], project: Project) -> dict[str, Compared]:
    """The comparisons by name; those that end in a proof or a refutation are kept by the content that they depend on."""
    place = Path(project.root, CACHE)
    common = _depends_on(Path(project.root))
    files = {pair.name: place / f"{_hash(common, json.dumps(asdict(pair), sort_keys=True))}.json" for pair in pairs}
    known: dict[str, Compared] = {}
    for name, file in files.items():
        with suppress(OSError, ValueError, TypeError):
            known[name] = Compared(**json.loads(file.read_text(encoding="utf-8")))
    fresh = compare_all([pair for pair in pairs if pair.name not in known])
    for name, came in fresh.items():
        if came.verdict != UNKNOWN:
            place.mkdir(parents=True, exist_ok=True)
            write_atomically(files[name], json.dumps(asdict(came)))
    return known | fresh


def _depends_on(root: Path) -> str:
    """A hash of every source and version that a comparison may depend on."""
    files = sorted(file for place in COUNTS_AS_SOURCE for file in ([root / place, *(root / place).rglob("*.py")]))
    parts = [f"{file.relative_to(root)} {_hash(file.read_text(encoding='utf-8'))}" for file in files if file.is_file()]
    versions = [platform.python_version(), version("crosshair-tool"), version("z3-solver")]
    return _hash(*versions, *parts)


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
