"""Every rule has a check, and every citation has a rule.

A rule that no check cites is a promise nobody keeps; a citation of an id that is gone misleads whoever reads a verdict.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import impl.rules
import spec.rules
from spec.operations import Reason

ROOT = Path(__file__).parent.parent
FOLDERS = ("spec", "impl", "verify", "mutants", "tests")
RULES: Mapping[str, str] = spec.rules.RULES | impl.rules.RULES
CITATION = re.compile(r"\b(?:(?:PT|DEC|HOST|PRE|CHIP)-[A-Z0-9]+|WIN-[0-9]+)\b")
"""What can only be an id. An id that is also a plain word, such as a reason's, can be cited but not be out of date."""
WORD = re.compile(r"[A-Za-z]+(?:-[A-Z0-9]+)?")


def checked_ids(source: str) -> set[str]:
    """Words that a module of checks cites: in strings, in the docstrings of its checks (no others), and as Reason.X."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    cited: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose:
                cited.update(WORD.findall(text))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith(("test_", "check_")):
                cited.update(WORD.findall(ast.get_docstring(node) or ""))
            case ast.Attribute(value=ast.Name(id="Reason"), attr=name) if name in Reason.__members__:
                cited.add(Reason[name].value)
    return cited


def unchecked(rules: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Rules that no module of checks cites."""
    cited = {name for source in sources for name in checked_ids(source)}
    return sorted(set(rules) - cited)


def dead_citations(rules: Iterable[str], sources: Mapping[str, str]) -> list[str]:
    """Citations, comments and docstrings included, of ids that are no rule's; `sources` maps a path to its text."""
    known = set(rules)
    return [
        f"{path}:{number}: {name}"
        for path, source in sorted(sources.items())
        for number, line in enumerate(source.splitlines(), start=1)
        for name in CITATION.findall(line)
        if name not in known
    ]


def sources_of(*folders: str) -> dict[str, str]:
    """Every .py file of the folders, by its path relative to the root."""
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def test_every_rule_is_cited_by_a_check() -> None:
    assert unchecked(RULES, sources_of("verify").values()) == []


def test_every_citation_is_of_a_rule() -> None:
    assert dead_citations(RULES, sources_of(*FOLDERS)) == []


def test_every_reason_of_refusal_is_a_rule() -> None:
    assert {reason.value for reason in Reason} <= spec.rules.RULES.keys()


def test_a_rule_id_has_one_registry_and_one_sentence() -> None:
    assert not spec.rules.RULES.keys() & impl.rules.RULES.keys()
    assert [name for name, sentence in RULES.items() if not re.fullmatch(r"[^\n]*\w\.", sentence)] == []


def test_a_rule_that_only_prose_names_is_reported() -> None:
    rules = ("PT-OWN", "PT-FREE", "PT-LEAK", "PT-LEN", "WIN-1", "WIN-2", "OutOfPages", "BadArgument", "LIFO")
    source = '''
"""PT-FREE is looked at here, and LIFO, and Reason.BAD_ARGUMENT."""
def counts_of(table):
    """Counts that are right (PT-LEN)."""
    # BadArgument
    return [Difference("PT-OWN", "counts", table), f"{table} breaks WIN-1", Refused(Reason.OUT_OF_PAGES)]
def test_leaks_are_seen():
    """No page is lost (PT-LEAK)."""
    "WIN-2"
'''
    assert unchecked(rules, [source]) == ["BadArgument", "LIFO", "PT-FREE", "PT-LEN", "WIN-2"]
    assert unchecked(rules, []) == sorted(rules)


def test_a_citation_of_a_rule_that_is_gone_is_reported() -> None:
    sources = {"verify/a.py": "# PT-OWN\nx = 'PT-FREE and WIN-1'\n", "spec/b.py": '"""WIN-2, PT-OWN."""\n'}
    assert dead_citations(["PT-OWN", "WIN-1"], sources) == ["spec/b.py:1: WIN-2", "verify/a.py:2: PT-FREE"]


def test_the_registry_without_any_one_rule_is_found_broken() -> None:
    sources = sources_of(*FOLDERS)
    for gone in filter(CITATION.fullmatch, RULES):
        assert dead_citations(RULES.keys() - {gone}, sources), gone
