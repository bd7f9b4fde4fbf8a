"""Witnesses survive the way to disk and back, and a malformed one is refused with the place of the mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from impl.command import CommandError
from impl.exit_codes import ExitCode
from spec.operations import Append, Fork, New, Operation, Read, Release, Trim, Truncate
from verify.shrink import shrink
from verify.stage import SAVED_WITNESSES
from verify.witness import Witness, calls, from_json, to_json
from verify.witness_files import load, save

EVERY: tuple[Operation, ...] = (
    New(0, 2),
    Append(0, (1, 2, 3)),
    Fork(0, 1, 2),
    Trim(0, 3),
    Truncate(1, 0),
    Read(0, 0, 1),
    Release(1),
)
ROOT = Path(__file__).resolve().parent.parent
WITNESS = Witness(4, 2, EVERY, ("PT-LEAK",))


def test_a_witness_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "witness.json"
    save(path, WITNESS)
    assert load(path) == WITNESS
    assert [file.name for file in path.parent.iterdir()] == ["witness.json"]


def test_operations_read_as_plain_calls() -> None:
    assert calls(EVERY) == [
        "new(0, sinks=2)",
        "append(0, [1, 2, 3])",
        "fork(0, to=1, at=2)",
        "trim(0, keep_from=3)",
        "truncate(1, length=0)",
        "read(0, lo=0, hi=1)",
        "release(1)",
    ]


def changed(**values: Any) -> dict[str, Any]:
    """The witness's JSON with other values at the top."""
    return {**to_json(WITNESS), **values}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ([], "the top level"),
        (changed(version=2), "version"),
        (changed(kvproof="trace"), "kvproof"),
        (changed(pages=0), "pages"),
        (changed(page_size="2"), "page_size"),
        (changed(operations=[{"op": "steal", "request": 0}]), "operations/0/op"),
        (changed(operations=[{"op": "release"}]), "operations/0"),
        (changed(operations=[{"op": "append", "request": 0, "tokens": [1, "2"]}]), "operations/0/tokens/1"),
        (changed(operations=[{"op": "release", "request": 0, "force": True}]), "operations/0"),
        (changed(operations=[7]), "operations/0"),
    ],
)
def test_a_malformed_witness_names_the_place(data: object, where: str) -> None:
    with pytest.raises(ValueError, match=f"at {where}:"):
        from_json(data)


@pytest.mark.parametrize("text", ["", "{", '{"kvproof": "witness"}', "[" * 100_000])
def test_a_file_that_is_no_witness_is_a_broken_input(tmp_path: Path, text: str) -> None:
    path = tmp_path / "witness.json"
    path.write_text(text)
    with pytest.raises(CommandError, match="is no witness") as caught:
        load(path)
    assert caught.value.code is ExitCode.BROKEN


def test_a_witness_of_a_later_version_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(changed(version=99)))
    with pytest.raises(CommandError, match="version"):
        load(path)


def test_the_shrinker_keeps_only_what_breaks() -> None:
    operations: list[Operation] = [
        New(0),
        Append(0, (1, 2, 3)),
        New(1),
        Append(1, (4,)),
        Fork(0, 2, 1),
        Release(1),
        Release(0),
    ]

    def breaks(candidate: object) -> bool:
        assert isinstance(candidate, tuple)
        return Release(0) in candidate and any(isinstance(operation, Append) for operation in candidate)

    small = shrink(operations, breaks)
    assert len(small) == 2
    assert isinstance(small[0], Append)
    assert len(small[0].tokens) == 1


def test_the_shrinker_stops_after_its_tries() -> None:
    tried = []

    def breaks(candidate: object) -> bool:
        tried.append(candidate)
        return True

    shrink([Release(number) for number in range(64)], breaks, most_tries=3)
    assert len(tried) == 3


def test_the_checked_in_witnesses_are_well_formed_and_in_the_form_that_is_written(tmp_path: Path) -> None:
    paths = sorted((ROOT / "verify" / "witnesses").glob("*.json"))
    assert paths
    assert {path.stem: load(path) for path in paths} == SAVED_WITNESSES
    for path in paths:
        save(tmp_path / path.name, load(path))
        assert (tmp_path / path.name).read_text() == path.read_text()
