"""Holds a document to the studies: a table below the line `<!-- study/table -->` is what that study prints."""

import re
from collections.abc import Sequence

from impl.studies.running import shown
from impl.studies.study import Findings, StudyTable
from impl.studies.writing import heading

MARK = re.compile(r"<!-- ([\w-]+)/([\w-]+) -->")


def markdown(table: StudyTable) -> list[str]:
    """The table's lines in a document, with the digits of the terminal."""
    rows = [[shown(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    lines = [[heading(column) for column in table.columns], ["---"] * len(table.columns), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def differences(document: str, findings: Sequence[Findings]) -> list[str]:
    """Where the document says something else than the studies, one line each; a document without tables is one too."""
    known = {(found.study, table.name): markdown(table) for found in findings for table in found.tables}
    lines = document.splitlines()
    wrong = []
    marked = [(at, mark) for at, line in enumerate(lines) if (mark := MARK.fullmatch(line))]
    for at, mark in marked:
        expected = known.get((mark[1], mark[2]))
        if expected is None:
            wrong.append(f"line {at + 1}: no study prints {mark[1]}/{mark[2]}")
            continue
        end = next((i for i in range(at + 1, len(lines)) if not lines[i].startswith("|")), len(lines))
        stands = lines[at + 1 : end]
        if stands != expected:
            shared = zip(stands, expected, strict=False)
            first = next((i for i, (one, other) in enumerate(shared) if one != other), min(len(stands), len(expected)))
            wanted = expected[first] if first < len(expected) else "nothing"
            wrong.append(f"line {at + first + 2}: {mark[1]}/{mark[2]} has {wanted}")
    return wrong if marked else ["no table is marked"]
