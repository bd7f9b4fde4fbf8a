"""The adapter of the prefix cache that ships: what it answers and shows, in literal values."""

from dataclasses import replace

import pytest

from spec.groups import Group
from spec.manager import Traits
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Reason,
    Refused,
    Release,
    Truncate,
)
from verify.managers.target import ManagerSnapshot, ManagerTarget, ManagerView
from verify.targets.prefix import PrefixManager

A, B = 0, 1
ONE_GROUP = Traits(pages=4, page_size=2, groups=(Group("full"),), prefix=True, commits=True)
TWO_GROUPS = replace(ONE_GROUP, pages=8, groups=(Group("full"), Group("window", 2)))
R5, R56, R567, R5678 = 697531302401, 918271790850, 213476039683, 358852946180
"""The rows of 5, 6, 7, 8: crc32 of the bytes up to each, and its number."""


def run(target: ManagerTarget, *operations: ManagerOperation) -> list[Outcome]:
    """What it answers to each."""
    return [target.apply(operation) for operation in operations]


def test_a_snapshot_shows_every_request_and_page() -> None:
    target = PrefixManager(ONE_GROUP)
    assert run(target, Admit(A, (5, 6, 7)), Commit(A), Admit(B, (5, 6, 7)), Append(A, (8,))) == [
        Accepted(served=0),
        Accepted(),
        Accepted(served=2),
        Accepted(),
    ]
    assert target.observe() == ManagerSnapshot(
        requests={
            A: ManagerView(4, ((0, 1),), ((R5, R56, R567, None),)),
            B: ManagerView(3, ((0, 2),), ((R5, R56, None),)),
        },
        counts=(2, 1, 1, 0),
        free=(3,),
        available=1,
        published=((0, 0, R56),),
    )
    assert run(target, Commit(A), Release(A), Release(B)) == [Accepted()] * 3
    assert target.observe() == ManagerSnapshot({}, (0, 0, 0, 0), (2, 3, 1, 0), 4, ((0, 0, R56), (1, 0, R5678)))


def test_rows_that_a_group_let_go_are_not_shown() -> None:
    target = PrefixManager(TWO_GROUPS)
    run(target, Admit(A, (5, 6, 7)), Commit(A), Append(A, (8,)), Commit(A))
    view = target.observe().requests[A]
    assert view.tables == ((0, 1), (None, 3))
    assert view.rows == ((R5, R56, R567, R5678), (None, None, R567, R5678))


def test_refusals_are_the_reasons_of_the_vocabulary() -> None:
    target = PrefixManager(TWO_GROUPS)
    run(target, Admit(A, (5, 6, 7, 8)), Commit(A))
    before = target.image()
    assert run(
        target,
        Commit(B),
        Admit(A, (5,)),
        Fork(A, B, 5),
        Truncate(A, 1),
        Append(A, (1,) * 9),
    ) == [Refused(reason) for reason in Reason]
    assert target.image() == before


@pytest.mark.parametrize("place", [(0, 0, 0, 0, 0), (0, 0, 1, 1, 2), (1, 0, 0, 0, 4), (1, 0, 1, 1, 3)])
def test_a_row_is_shown_only_when_layers_keys_and_values_agree(place: tuple[int, ...]) -> None:
    target = PrefixManager(ONE_GROUP)
    run(target, Admit(A, (5, 6)), Commit(A))
    assert target.observe().requests[A].rows == ((R5, R56),)
    target.cache.pool.kv[place] ^= 1
    shown = [R5, R56]
    shown[place[3]] = None  # type: ignore[call-overload]
    assert target.observe().requests[A].rows == (tuple(shown),)


def test_a_slot_that_was_never_written_and_a_row_of_another_group_are_no_values() -> None:
    target = PrefixManager(TWO_GROUPS)
    run(target, Admit(A, (5,)), Commit(A))
    pool = target.cache.pool.kv
    pool[:, 0] = pool[:, 1]
    assert target.observe().requests[A].rows == ((None,), (R5,))
    pool[:, 1] = 0
    assert target.observe().requests[A].rows == ((None,), (None,))


def test_an_image_tells_states_apart_and_a_clone_stands_alone() -> None:
    target = PrefixManager(ONE_GROUP)
    run(target, Admit(A, (5, 6, 7)), Commit(A))
    other = target.clone()
    image, shown = target.image(), target.observe()
    assert (other.image(), other.observe()) == (image, shown)
    run(other, Append(A, (8,)), Commit(A), Release(A))
    assert other.image() != image
    assert (target.image(), target.observe()) == (image, shown)


@pytest.mark.parametrize(
    "other",
    [
        {"prefix": False},
        {"leaves": 2},
        {"commits": False},
        {"tail": "copied"},
        {"trims": "before"},
        {"granule": "row"},
        {"groups": (Group("window", 4, keeps=1),)},
    ],
)
def test_traits_of_another_cache_are_refused(other: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="cache"):
        PrefixManager(replace(ONE_GROUP, **other))  # type: ignore[arg-type]
