"""The corpus: small programs for the chip that together meet what matters, chosen by the faults of a cycle model that they show.

corpus.json has each as a program witness (verify/fuzz/witness.py) without chips and rules. Most were found at random, and each
was kept for a fault that no other program showed; what each leaves is pinned, see verify/chips/pinned.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from verify.fuzz.case import FuzzCase
from verify.fuzz.witness import case_of

CORPUS = Path(__file__).with_name("corpus.json")


def corpus() -> Iterator[FuzzCase]:
    """The cases, in the order of the file."""
    yield from map(case_of, json.loads(CORPUS.read_text(encoding="utf-8"))["cases"])
