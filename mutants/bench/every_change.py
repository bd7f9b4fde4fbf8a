"""Prints what cosmic-ray's mutants of a session make of their files, a JSON line [file, mutated source] each.

Its interpreter runs this, as `every_change.py SESSION FUNCTION...`: only mutants in functions of those names.
"""

from __future__ import annotations

import json
import sys

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db


def main(session: str, functions: list[str]) -> None:
    """Print the changes in the session's order."""
    sources: dict[str, str] = {}
    with use_db(session, WorkDB.Mode.open) as base:
        mutations = [mutation for item in base.work_items for mutation in item.mutations]
    for mutation in mutations:
        file = str(mutation.module_path)
        if mutation.definition_name not in functions:
            continue
        if file not in sources:
            with open(file, encoding="utf-8") as opened:
                sources[file] = opened.read()
        operator = get_operator(mutation.operator_name)(**mutation.operator_args)
        print(json.dumps([file, mutate_code(sources[file], operator, mutation.occurrence)]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
