"""The rules of the source suite and the groups that an ablation leaves out. Data alone: how a rule is checked is elsewhere.

The source suite (verify/source/suite.py) holds the weak rules of a suite that looks reasonable beside the exact ones that
close its gaps. Rules that are not listed here are those of spec/rules.py.
"""

from collections.abc import Mapping

BOUND, OUTCOME, CLOSE, STEP, TABLES = "SRC-BOUND", "SRC-OUTCOME", "SRC-CLOSE", "SRC-STEP", "SRC-TABLES"

SENTENCES: Mapping[str, str] = {
    BOUND: "A request holds at most one page more than its bound at any time, and at most its bound at the end.",
    OUTCOME: "An operation is accepted or refused as the target's own free and held pages demand.",
    CLOSE: "Integer logits differ from the windowed float ones by at most 15 % (relative L2) in the mean of 16 steps.",
    STEP: "A step of the host or of a decoder ends without an exception.",
    TABLES: "The recorded tables, and the recorded peaks, are reproduced literally.",
}

EXACT_PAGES, SCRATCH, EXACT_INTEGERS = "exact pages", "scratch recomputation", "exact integers"

GROUPS: Mapping[str, frozenset[str]] = {
    EXACT_PAGES: frozenset({"PT-PAGES", "PT-HOLE", "PT-SHARE", "OutOfPages", "RowsReleased", "WIN-4", TABLES}),
    SCRATCH: frozenset({"DEC-FLOAT"}),
    EXACT_INTEGERS: frozenset({"DEC-INT", "DEC-ERROR"}),
}
"""Rules that follow from the exact set of held pages; from the token ids; from the integers themselves. Every other rule
belongs to the suite that looks reasonable."""
