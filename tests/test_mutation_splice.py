"""A mutant is spliced where its pattern matches exactly once, and nowhere else."""

import ast

import pytest

from mutants.mutant import Mutant
from mutants.splice import DoesNotApply, Position, Spliced, splice

SOURCE = '''\
"""Größe der Seiten."""


class Table:
    def drop(self, page):
        # One owner fewer.
        self.counts[page]   -= 1
        if self.counts[page] == 0:
            self.free.append(page)
        return "ö", self.counts[page] * 2

    def twice(self, page):
        self.free.append(page)
        self.free.append(page)
        label = f"page {page}"

        def inner(size):
            return size * 2
        return inner(page), label


def drop(page):
    return page
'''


def mutate(function: str, before: str, after: str, source: str = SOURCE) -> Spliced:
    return splice(source, "impl/table.py", Mutant("m", "", "", "impl.table", function, before, after))


def test_a_statement_is_replaced_and_the_rest_stays_byte_for_byte() -> None:
    spliced = mutate("Table.drop", "self.counts[page] -= 1", "pass")
    assert spliced.source == SOURCE.replace("self.counts[page]   -= 1", "pass")
    assert (spliced.start, spliced.end) == (Position(7, 9), Position(7, 33))


def test_columns_count_characters_not_bytes() -> None:
    spliced = mutate("Table.drop", "self.counts[page] * 2", "0")
    assert spliced.start == Position(10, 21)
    assert 'return "ö", 0\n' in spliced.source


def test_an_expression_gets_parentheses_where_it_needs_them() -> None:
    spliced = mutate("Table.twice.inner", "size", "size + 1")
    assert "return (size + 1) * 2" in spliced.source
    assert spliced.replacement == "(size + 1)"


def test_statements_are_indented_to_their_place() -> None:
    after = "if page:\n    self.free.append(page)\nself.free.append(0)"
    spliced = mutate("Table.drop", "if self.counts[page] == 0:\n    self.free.append(page)", after)
    assert "        if page:\n            self.free.append(page)\n        self.free.append(0)\n" in spliced.source


def test_a_run_of_statements_is_one_pattern() -> None:
    spliced = mutate("Table.twice", "self.free.append(page)\nself.free.append(page)", "self.free.append(page)")
    assert spliced.source.count("self.free.append(page)") == 2


def test_an_expression_may_become_a_statement() -> None:
    assert "            pass\n" in mutate("Table.drop", "self.free.append(page)", "pass").source


def test_the_diff_shows_the_change_alone() -> None:
    diff = mutate("Table.drop", "self.counts[page] == 0", "self.counts[page] >= 0").diff.splitlines()
    changed = [line for line in diff if line[0] in "+-" and not line.startswith(("+++", "---"))]
    assert changed == ["-        if self.counts[page] == 0:", "+        if self.counts[page] >= 0:"]
    assert diff[:2] == ["--- a/impl/table.py", "+++ b/impl/table.py"]


@pytest.mark.parametrize(
    ("function", "before", "why"),
    [
        ("Table.drop", "self.counts[page] += 1", "matches 0 times"),
        ("Table.twice", "self.free.append(page)", "matches 2 times"),
        ("Table.drop", "self.counts[page]", "matches 2 times"),
        ("Table.gone", "page", "0 definitions of gone"),
        ("Table.drop.inner", "page", "0 definitions of inner"),
        ("drop", "self.counts[page] -= 1", "matches 0 times"),
        ("Table.drop", "", "an empty pattern"),
    ],
)
def test_a_pattern_that_does_not_match_once_does_not_apply(function: str, before: str, why: str) -> None:
    with pytest.raises(DoesNotApply, match=why):
        mutate(function, before, "pass" if before.endswith("1") else "0")


def test_a_function_defined_twice_is_no_target() -> None:
    with pytest.raises(DoesNotApply, match="2 definitions of f"):
        mutate("f", "1", "2", "def f():\n    return 1\n\n\ndef f():\n    return 1\n")


def test_a_splice_that_is_not_the_transformed_tree_does_not_apply() -> None:
    after = 'label = """two\n    lines"""\npass'
    with pytest.raises(DoesNotApply, match="does not parse as the transformed tree"):
        mutate("Table.twice", 'label = f"page {page}"', after)


def test_the_result_always_parses_as_the_transformed_tree() -> None:
    spliced = mutate("Table.twice", "inner(page), label", "label, inner(page)")
    assert ast.dump(ast.parse(spliced.source)) == ast.dump(
        ast.parse(SOURCE.replace("inner(page), label", "label, inner(page)"))
    )
