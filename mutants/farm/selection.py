"""Which stages a mutant goes through: those that call its function, as the original was seen to do, and can tell the two apart.

Each stage is watched in a child of its own, since what an earlier stage has cached a later one need not call. A change
outside functions, and one to a function that runs while modules are imported, can be seen by every stage.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from mutants.client import ForkServer, ServerError
from mutants.mutant import Mutant
from mutants.wire import Budget, Order, Reach

WATCHED_CPU_SECONDS = 600.0


def watch(server: ForkServer, stage: str) -> Reach:
    """What the stage calls when it runs on the original. Raises ServerError when it cannot be watched."""
    run = server.run(Order((stage,), {stage: Budget(None, WATCHED_CPU_SECONDS)}, 1, reach=True))
    if run.reach is None or any(one.outcome != "pass" for one in run.stages):
        raise ServerError(f"stage {stage} cannot be watched: {run.ended}: {run.detail}")
    return run.reach


def stages_that_see(
    mutant: Mutant,
    stages: Sequence[str],
    seen: Mapping[str, Reach],
    alike: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Those of the stages that can tell the mutant from the original, in their order; none when no stage calls it.

    `alike` are the mutants, by id, that are known to do just what the original does in a stage.
    """
    function = f"{mutant.module}:{mutant.function.replace('<locals>.', '')}"
    if not mutant.function or any(function in reach.importing for reach in seen.values()):
        return tuple(stages)
    return tuple(stage for stage in stages if function in seen[stage].called and mutant.id not in alike.get(stage, ()))
