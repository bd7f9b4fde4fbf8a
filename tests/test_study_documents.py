"""A document that says something else than the studies print is seen."""

import pytest

from impl.studies.study import Column, Findings, StudyTable
from verify.studies.documents import differences

TABLE = StudyTable("sizes", "Sizes", (Column("page", "rows"), Column("wasted", "%", 1)), ((1, 0.0), (64, 10.09)))
STUDY = Findings("memory", "How much?", {}, (TABLE,), ())
SOUND = """# Title

<!-- memory/sizes -->
| page [rows] | wasted [%] |
| --- | --- |
| 1 | 0.0 |
| 64 | 10.1 |

More.
"""


def test_a_document_with_what_is_printed_is_sound() -> None:
    assert differences(SOUND, [STUDY]) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("10.1", "10.2", "line 7: memory/sizes has | 64 | 10.1 |"),
        ("| 64 | 10.1 |\n", "", "line 7: memory/sizes has | 64 | 10.1 |"),
        ("| 64 | 10.1 |\n", "| 64 | 10.1 |\n| 65 | 1.0 |\n", "line 8: memory/sizes has nothing"),
        ("wasted [%]", "wasted", "line 4: memory/sizes has | page [rows] | wasted [%] |"),
        ("memory/sizes", "memory/shapes", "line 3: no study prints memory/shapes"),
        ("<!-- memory/sizes -->\n", "", "no table is marked"),
    ],
)
def test_a_document_that_differs_is_rejected_with_its_line(old: str, new: str, says: str) -> None:
    assert differences(SOUND.replace(old, new), [STUDY]) == [says]
