"""Shards go out to an executor of `verify.campaign.executors`, and findings come in."""

from collections.abc import Callable, Iterable
from contextlib import closing

from mutants.farm.job import Finding, Shard
from mutants.farm.work import judge_shard
from verify.campaign.executors import ExecutorMissing, Lost, Place, finished

SERIAL = Place()

Deliver = Callable[[list[Finding]], None]
"""Told the findings of a shard as it comes in."""


class WorkersLostError(Exception):
    """A shard was lost with one worker after the other, or there is nobody any more who could judge it."""


def judge_all(shards: Iterable[Shard], place: Place, deliver: Deliver) -> dict[str, float]:
    """Have every shard judged and its findings delivered; the CPU seconds that each worker has used so far, by its name.

    A worker that is killed takes its shard with it, which then goes out again. Raises ServerError when a worker cannot
    judge, and WorkersLostError.
    """
    used: dict[str, float] = {}
    try:
        with closing(finished(place, judge_shard, shards)) as judged:
            for shard, done in judged:
                if isinstance(done, Lost):
                    raise WorkersLostError(
                        f"a shard of {len(shard.jobs)} mutants was lost with each worker that had it; the last: {done.detail}"
                    )
                deliver([Finding.of_json(found) for found in done["findings"]])
                used[done["worker"]] = max(done["cpu_seconds"], used.get(done["worker"], 0.0))
    except ExecutorMissing as error:
        raise WorkersLostError(str(error)) from None
    return used
