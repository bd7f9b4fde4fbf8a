"""The documents are whole: no placeholder, every file that they or the code name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "DESIGN.md",
    "CHANGELOG.md",
    "docs/reference.md",
    "docs/self-check.md",
    "docs/studies.md",
    "docs/target-protocol.md",
    "docs/chip.md",
    "docs/trace-studies.md",
    "docs/your-rtl.md",
    "docs/farm.md",
)
PLACEHOLDER = re.compile(r"^[A-Z]{4,}$|TODO|FIXME|TBD", re.MULTILINE)
NAMED = re.compile(r"\b((?:docs|spec|impl|verify|mutants|tests)/[\w/.-]+\.(?:md|py|json))\b")
MODULE = re.compile(r"`([\w/]+\.py)`")


def test_a_placeholder_is_recognised() -> None:
    assert PLACEHOLDER.search("text\nFIGURES\ntext")
    assert not PLACEHOLDER.search("PT-LEAK is a rule")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_no_placeholder_and_names_only_files_that_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not PLACEHOLDER.search(text)
    assert [named for named in NAMED.findall(text) if not (ROOT / named).exists()] == []


def test_the_design_has_a_word_on_every_module_and_on_no_other() -> None:
    """A module goes by its path within its room, such as `refinement.py` or `host/oracle.py`."""
    named = set(MODULE.findall((ROOT / "DESIGN.md").read_text(encoding="utf-8")))
    rooms = [ROOT / room for room in ("spec", "impl", "verify", "mutants")]
    modules = {str(path.relative_to(room)) for room in rooms for path in room.rglob("*.py")}
    assert sorted(name for name in modules - named if not Path(name).name.startswith(("test_", "__"))) == []
    assert sorted(name for name in named - modules if not (ROOT / name).exists()) == []


@pytest.mark.parametrize("folder", ["spec", "impl", "verify", "mutants", "tests"])
def test_a_document_that_the_code_cites_exists(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        for named in re.findall(r"\bdocs/[\w-]+\.md\b", path.read_text(encoding="utf-8")):
            assert (ROOT / named).exists(), f"{path} cites {named}"
