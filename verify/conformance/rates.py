"""How much of a target's own speed is left when everything is checked: the same operations, here and in its own interpreter."""

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from verify.conformance.known import Classifier, Known
from verify.conformance.report import Rates
from verify.conformance.targets import KnownTarget
from verify.conformance.work import opened
from verify.managers.configuration import Configuration, to_json
from verify.managers.walks import ManagerTally, search_at_random, walk
from verify.remote.choice import environment_of_target
from verify.remote.manager_format import operation_text

RAW_RATE = Path(__file__).with_name("raw_rate.py")
MOST_SECONDS = 600.0
REPEATS = 5
"""As in raw_rate.py: each run is measured so often, and the fastest counts."""


class UnmeasuredError(Exception):
    """The raw rate could not be measured; the text says why."""


def measure(target: KnownTarget, seed: int, walks: int, known: Sequence[Known]) -> Rates | None:
    """The rates over up to so many walks of every configuration, none that ends early; None when none is left.

    UnmeasuredError, BrokenTargetError. The walks of a configuration are written, told, checked and compared as in a search, one
    after the other.
    """
    seconds = 0.0
    runs: list[list[object]] = []
    with opened(target) as found:
        for name, configuration in found.hello.configurations.items():
            traits = configuration.traits
            classifier = Classifier(name, found.hello.configurations, known)

            def searched(
                first: int, stop: int, configuration: Configuration = configuration, classifier: Classifier = classifier
            ) -> ManagerTally:
                """What a search over these walks did."""
                return search_at_random(
                    lambda traits: found.open(configuration),
                    configuration.traits,
                    seed,
                    stop,
                    avoid=classifier.ending(),
                    known=classifier.known,
                    shrinking=False,
                    tally=ManagerTally(configuration.traits, seed, walks=first),
                )

            first, stop = longest_run([whole(searched(number, number + 1)) for number in range(walks)])
            if first == stop:
                continue
            best = float("inf")
            for _ in range(REPEATS):
                began = time.perf_counter()
                searched(first, stop)
                best = min(best, time.perf_counter() - began)
            seconds += best
            for number in range(first, stop):
                steps, _ = walk(traits, found.hello.offer(configuration), seed, number, avoid=classifier.ending())
                runs.append([to_json(configuration), [json.loads(operation_text(step.operation)) for step in steps]])
    if not runs:
        return None
    raw = raw_seconds(target, runs)
    count = int(raw["operations"])
    return Rates(count, count / seconds, count / raw["raw"], count / raw["calls"])


def whole(tally: ManagerTally) -> bool:
    """Whether the walk was followed to its end."""
    return tally.failure is None and not tally.known


def longest_run(flags: Sequence[bool]) -> tuple[int, int]:
    """The first longest run of true flags, as (first, stop); equal when there is none."""
    best = start = 0
    found = (0, 0)
    for number, flag in enumerate([*flags, False]):
        if flag:
            continue
        if number - start > best:
            best, found = number - start, (start, number)
        start = number + 1
    return found


def raw_seconds(target: KnownTarget, runs: list[list[object]]) -> dict[str, float]:
    """What raw_rate.py measures of these runs; UnmeasuredError."""
    command = (str(target.python), str(RAW_RATE), target.adapter, "--path", str(target.folder))
    try:
        done = subprocess.run(
            command,
            input=json.dumps(runs),
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            cwd=target.folder,
            env={**environment_of_target(), **target.variables},
        )
        found: dict[str, float] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise UnmeasuredError(f"the raw rate took more than {MOST_SECONDS:.0f} s") from None
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise UnmeasuredError(f"the raw rate was not measured: {last}") from None
    return found
