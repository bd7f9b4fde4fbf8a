"""How a run is carried out: where it is judged, and where verdicts are taken from and kept."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mutants.client import ForkServer
from mutants.farm.cache import Cache
from mutants.farm.folder import RunFolder
from mutants.farm.job import Finding, Job, Json, digest
from mutants.farm.judging import SERIAL
from mutants.farm.surroundings import Surroundings
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
    around: Surroundings | None = None
    found: list[tuple[Job, Finding]] = field(default_factory=list)

    def begin(self, plan: str, server: ForkServer) -> None:
        """Open what the run needs; `plan` is a hash, and the server has read what it rests on. Raises CommandError."""
        if self.cache is None and self.kind is None and self.resume is None:
            return
        self.around = Surroundings.of(server)
        plan = digest([plan, self.around.digest(server.sources)])
        if self.resume is not None:
            self.folder = RunFolder.resumed(self.resume, plan)
        elif self.kind is not None:
            self.folder = RunFolder.begun(self.kind, plan)

    def recall(self, what: str, stages: Sequence[str]) -> Json | None:
        """What an earlier run, where just this holds for these stages, kept of the original."""
        return (
            self.cache.recall(digest([what, stages, self.around.seen_by(stages)]))
            if self.cache and self.around
            else None
        )

    def remember(self, what: str, stages: Sequence[str], said: Json) -> None:
        """Keep something of the original, in these stages, for later runs."""
        if self.cache is not None and self.around is not None:
            self.cache.remember(digest([what, stages, self.around.seen_by(stages)]), said)

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
        return self.cache.known(jobs, self.around) if self.cache and self.around else []

    def keep(self, pairs: Iterable[tuple[Job, Finding]]) -> None:
        """Keep findings as they come."""
        pairs = list(pairs)
        self.found += pairs
        if self.folder:
            self.folder.keep(finding for _, finding in pairs)

    def end(self) -> None:
        """Hand what was found over to later runs."""
        if self.cache is not None and self.around is not None:
            self.cache.keep(self.found, self.around)

    def finished(self, complete: bool) -> Path | None:
        """Where the reports of a complete run belong; an incomplete one stays without, and so can be resumed."""
        return self.folder.path if self.folder and complete else None

    def costs(self) -> dict[str, float]:
        """What mutants have cost, in seconds of CPU by id."""
        return self.cache.costs() if self.cache else {}
