"""A witness as JSON replayed on what ships, as the data of a page: what is asked of a process that has a mutant in place."""

from dataclasses import replace
from typing import Any

from verify.managers.witness import from_json as manager_witness
from verify.remote.choice import TargetOptions
from verify.targets.shipped import ShippedCache
from verify.view.html_page import page_data
from verify.view.manager_walkthrough import walk_prefix_cache
from verify.view.walkthrough import walk
from verify.witness import from_json


def witness_page(witness: dict[str, Any], source: str, most_steps: int) -> dict[str, Any]:
    """The last `most_steps` steps of the witness, on the cache or the prefix cache that ships, as JSON values.

    `source` says where the witness is from; no command replays it, since none has the mutant. Raises ValueError for what is no
    witness of either.
    """
    if witness.get("kvproof") == "manager witness":
        walkthrough = walk_prefix_cache(manager_witness(witness), source, TargetOptions())
    else:
        walkthrough = walk(from_json(witness), ShippedCache, source, most_steps=most_steps)
    return page_data(replace(walkthrough, steps=walkthrough.steps[-most_steps:], command=""))
