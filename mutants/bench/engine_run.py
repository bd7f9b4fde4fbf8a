"""One run of this engine without its reports, as `python -m mutants.bench.engine_run`: what judging costs, and nothing else.

It takes the surface of the folder it is in, one process and the cache there, and prints how many mutants got each status.
"""

import json
from collections import Counter
from dataclasses import replace

from mutants.engine import Record, carry_out
from mutants.farm.cache import Cache
from mutants.farm.farm import Farm
from mutants.farm.judging import SERIAL
from mutants.generic.command import ROOT, chosen, plan_of
from mutants.generic.surface import read_surface


def main() -> None:
    """Run it; a run that judges nothing ends with what is wrong."""
    surface = read_surface(ROOT)
    record = Record(replace(plan_of(surface, chosen(surface, (), None, None)), selects=True))
    # One process, which ends its fork server itself: what a killed worker's server had used would be counted nowhere.
    carry_out(record, lambda _: None, Farm(SERIAL, Cache()))
    if not record.complete:
        raise SystemExit("; ".join(record.problems))
    print(json.dumps(Counter(str(result.verdict.status) for result in record.results), sort_keys=True))


if __name__ == "__main__":
    main()
