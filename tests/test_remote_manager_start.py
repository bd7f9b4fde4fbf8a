"""How a manager behind the pipe is started: what keeps it from it is one line, and faults are planted before it begins."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spec.operations import Admit, Release
from verify.managers.target import ManagerSnapshot
from verify.remote.children import BrokenTargetError
from verify.remote.choice import WrongOptionsError
from verify.remote.managers import ManagerOptions, Managers, manager
from verify.target import Raised

Open = Callable[..., Managers]


@pytest.fixture
def open_manager(hostile_managers: Path) -> Iterator[Open]:
    """Opens a manager; its processes end with the test."""
    with ExitStack() as running:

        def opened(target: str, **options: Any) -> Managers:
            return running.enter_context(manager(ManagerOptions(target, path=str(hostile_managers), **options)))

        yield opened


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        ("hostile:made", {}, "hostile has no made"),
        ("hostile:Little", {"fault": "hostile:none"}, "hostile.FAULTS has no none: lose a page, fail"),
        ("hostile:Little", {"fault": "hostile"}, "hostile.FAULTS has no name: lose a page, fail"),
        ("hostile:Little", {"fault": "nowhere:x"}, "cannot import nowhere"),
        ("hostile:Little", {"fault": "os:x"}, "os has no FAULTS"),
        ("hostile:Little", {"fault": "hostile:fail"}, "the fault hostile:fail raised RuntimeError: no such method"),
        ("wrong:Method", {}, "wrong:Method has no method commit"),
        ("wrong:Unnamed", {}, "configurations of wrong:Unnamed need names, each its own: None"),
        ("wrong:Twice", {}, "configurations of wrong:Twice need names, each its own: 'small'"),
        ("wrong:Without", {}, "capabilities of wrong:Without have no list of configurations"),
        ("wrong:Strange", {}, "capabilities of wrong:Strange are no JSON"),
        ("wrong:Key", {}, 'hello has an unknown key "page_size"'),
        ("wrong:PageTable", {}, 'is no hello: "kvproof" is not "manager"'),
    ],
)
def test_a_manager_that_cannot_be_asked_is_broken_in_one_line(
    target: str, options: dict[str, Any], says: str, hostile_managers: Path
) -> None:
    (hostile_managers / "wrong.py").write_text(
        "from hostile import Little\n"
        "def changed(**keys): return {**Little.capabilities, **keys}\n"
        "class Method(Little): capabilities = changed(operations=['admit', 'commit'])\n"
        "class Unnamed(Little): capabilities = changed(configurations=[{}])\n"
        "class Twice(Little): capabilities = changed(configurations=Little.capabilities['configurations'][:1] * 2)\n"
        "class Without(Little): capabilities = changed(configurations={})\n"
        "class Strange(Little): capabilities = changed(name=object())\n"
        "class Key(Little): capabilities = changed(page_size=2)\n"
        "class PageTable(Little):\n"
        "    capabilities = {'name': 'x', 'operations': []}\n"
    )
    with (
        pytest.raises(BrokenTargetError) as caught,
        manager(ManagerOptions(target, path=str(hostile_managers), **options)),
    ):
        pass
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_configuration_is_named_by_both_sides(open_manager: Open) -> None:
    managers = open_manager("hostile:Little")
    with pytest.raises(WrongOptionsError, match="there is no configuration medium; there are small, large"):
        managers.open("medium")
    other = replace(managers.hello.configurations["small"], name="medium")
    ((answer, state),) = managers.open(other).run([Admit(0, (1,))])
    assert answer == state == Raised("ValueError", "there is no configuration 'medium'")


def test_a_command_has_no_faults_to_plant() -> None:
    with pytest.raises(WrongOptionsError), manager(ManagerOptions("stdio:cat", fault="x:y")):
        pass


def test_a_fault_changes_the_manager_before_its_first_instance(open_manager: Open) -> None:
    walk = (Admit(0, (1, 2, 3)), Release(0))
    for options, left in (({}, 4), ({"fault": "hostile:lose a page"}, 3)):
        target = open_manager("hostile:Little", **options).open("small")
        for _ in range(2):
            (_, (_, state)) = target.run(walk)
            assert isinstance(state, ManagerSnapshot)
            assert state.available == left


def test_a_manager_runs_in_the_environment_that_it_is_given(hostile_managers: Path, open_manager: Open) -> None:
    (hostile_managers / "wary.py").write_text(
        "import os\nfrom hostile import Little\nassert os.environ['HF_HUB_OFFLINE'] == '1'\n"
        "def make(configuration): return Little(configuration)\n"
        "capabilities = {**Little.capabilities, 'name': os.environ.get('WHO', 'nobody')}\n"
    )
    named = {"environment": {"HF_HUB_OFFLINE": "1", "WHO": "me"}}
    for options, name in (({}, "nobody"), (named, "me")):
        managers = open_manager("wary:make", **options)
        assert managers.hello.name == name
        assert managers.open("large").offer.operations == {Admit, Release}
