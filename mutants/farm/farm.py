"""How a run is carried out: where it is judged, and where verdicts are taken from and kept."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mutants.farm.cache import Cache, surroundings
from mutants.farm.folder import RunFolder
from mutants.farm.job import Finding, Job, Json, digest
from mutants.farm.judging import SERIAL
from mutants.mutant import Project
from verify.campaign.executors import Place


@dataclass(slots=True)
class Farm:
    """Where the mutants of a run are judged, its cache, and its folder.

    A run of some `kind` begins a folder of that kind, or goes on with the one to `resume`; without a kind it has none.
    """

    place: Place = SERIAL
    cache: Cache | None = None
    kind: str | None = None
    resume: Path | None = None
    folder: RunFolder | None = None
    run: str = field(default_factory=partial(secrets.token_hex, 8))
    around: str = ""
    found: list[tuple[Job, Finding]] = field(default_factory=list)

    def begin(self, plan: str, project: Project, sources: str, versions: Mapping[str, str]) -> None:
        """Open what the run needs; `plan` and `sources` are hashes. Raises CommandError."""
        if self.cache is None and self.kind is None and self.resume is None:
            return
        self.around = surroundings(project, sources, versions)
        plan = digest([plan, self.around])
        if self.resume is not None:
            self.folder = RunFolder.resumed(self.resume, plan)
        elif self.kind is not None:
            self.folder = RunFolder.begun(self.kind, plan)

    def recall(self, what: object) -> Json | None:
        """What an earlier run, of just these surroundings, kept of the original."""
        return self.cache.recall(digest([self.around, what])) if self.cache else None

    def remember(self, what: object, said: Json) -> None:
        """Keep something of the original for later runs of just these surroundings."""
        if self.cache is not None:
            self.cache.remember(digest([self.around, what]), said)

    def known(self, jobs: Sequence[Job]) -> dict[str, Finding]:
        """Findings of this run before it was interrupted, and of earlier runs, by mutant id."""
        wanted = {job.mutant.id for job in jobs}
        resumed = [finding for finding in self.folder.known() if finding.id in wanted] if self.folder else []
        before = {finding.id for finding in resumed}
        fresh = [finding for finding in self.cached(jobs) if finding.id not in before]
        if self.folder and fresh:
            self.folder.keep(fresh)
        return {finding.id: finding for finding in (*resumed, *fresh)}

    def cached(self, jobs: Sequence[Job]) -> list[Finding]:
        """Findings of earlier runs."""
        return self.cache.known(jobs, self.around) if self.cache else []

    def keep(self, pairs: Iterable[tuple[Job, Finding]]) -> None:
        """Keep findings as they come."""
        pairs = list(pairs)
        self.found += pairs
        if self.folder:
            self.folder.keep(finding for _, finding in pairs)

    def end(self) -> None:
        """Hand what was found over to later runs."""
        if self.cache is not None and self.around:
            self.cache.keep(self.found, self.around)

    def finished(self, complete: bool) -> Path | None:
        """Where the reports of a complete run belong; an incomplete one stays without, and so can be resumed."""
        return self.folder.path if self.folder and complete else None

    def costs(self) -> dict[str, float]:
        """What mutants have cost, in seconds of CPU by id."""
        return self.cache.costs() if self.cache else {}
