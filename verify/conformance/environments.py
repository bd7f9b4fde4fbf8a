"""Making the environment of a target in stages: what is done stays done, what was interrupted is done again.

.venvs/vllm/made-from     the folder and the pins; an environment made from anything else is made anew
.venvs/vllm/stages/NAME   written when the stage has ended; NAME.begun while it runs, so that a half is never taken for whole
.venvs/vllm/log.txt       all that pip said
"""

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from impl.command import write_atomically
from verify.conformance.pip import CommandFailedError, Resolved, Run, Say, pip, resolve, run_command
from verify.conformance.targets import KnownTarget

PLENTY = 1.2
"""The disk asked for, as a multiple of what the environment takes: pip needs room to unpack."""


class SetUpError(Exception):
    """An environment cannot be made, for a reason that the user can act on."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the set-up, by its name and what it does in words."""

    name: str
    words: str
    do: Callable[["SetUp", bool], None]


@dataclass(slots=True)
class SetUp:
    """The set-up of one target; `say` takes what goes on, in lines, and `run` runs commands.

    `allow_accelerator` takes a wheel for an accelerator, too. `python` makes the environment.
    """

    target: KnownTarget
    say: Say
    python: Path = field(default_factory=lambda: Path(sys.executable))
    allow_accelerator: bool = False
    run: Run = run_command

    @property
    def folder(self) -> Path:
        return self.target.environment

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def pip(self, *arguments: str, **variables: str) -> None:
        """Run pip in the environment."""
        path = f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        self.run(pip(self.target.python, *arguments), {"PIP_USER": "0", "PATH": path, **variables}, self.log, self.say)


def stages(target: KnownTarget) -> Iterator[Stage]:
    """The stages of a target, in order."""
    recipe = target.recipe
    yield Stage("environment", "an empty environment", make_environment)
    if recipe.alone:
        yield Stage("alone", f"{recipe.alone}, alone, once its wheel has been looked at", install_alone)
    yield Stage("packages", f"the packages that {recipe.pins.name} pins", install_packages)
    if recipe.source:
        yield Stage("wheel", f"{recipe.source}, built from its source", build_wheel)
        yield Stage("source", f"the wheel of {recipe.source}", install_wheel)
    yield Stage("check", "importing what the adapter needs", check_import)


def installed(target: KnownTarget) -> bool:
    """Whether the environment is whole and made from today's pins; one without a recipe's folder is the user's affair."""
    if target.interpreter is not None:
        return target.interpreter.exists()
    return is_from(target) and not list(left(target))


def left(target: KnownTarget) -> Iterator[Stage]:
    """The stages that are still to do."""
    return (stage for stage in stages(target) if not stamp(target, stage).exists())


def set_up(work: SetUp, begin: Callable[[Stage, int, int], None]) -> int:
    """Do what is left of the set-up and return the number of stages done; `begin` hears of each with its place.

    Raises SetUpError; an interrupt leaves the stage that it hit to be done again.
    """
    target = work.target
    folder = target.environment
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise SetUpError(f"{folder} is no folder of its own: remove it, and it is made anew")
    if folder.exists() and not is_from(target):
        work.say(f"{folder.name} was not made from these pins, or its interpreter is gone; it is made anew")
        shutil.rmtree(folder)
    ordered = list(stages(target))
    todo = list(left(target))
    if todo:
        check_room(target)
    for stage in todo:
        begin(stage, ordered.index(stage) + 1, len(ordered))
        do(work, stage)
    return len(todo)


def do(work: SetUp, stage: Stage) -> None:
    """Do one stage and write its stamp last."""
    target = work.target
    begun = stamp(target, stage).with_suffix(".begun")
    again = begun.exists()
    begun.parent.mkdir(parents=True, exist_ok=True)
    begun.touch()
    try:
        stage.do(work, again)
    except CommandFailedError as error:
        raise SetUpError(f"{target.name}: {stage.words}: it failed; its last words, of {work.log}:\n{error}") from None
    stamp(target, stage).touch()
    begun.unlink()


def stamp(target: KnownTarget, stage: Stage) -> Path:
    """The file that says that the stage is done."""
    return target.environment / "stages" / stage.name


def made_from(target: KnownTarget) -> str:
    """What the environment is made from."""
    recipe = target.recipe
    pins = hashlib.sha256(recipe.pins.read_bytes()).hexdigest()
    variables = sorted(recipe.variables.items())
    return f"{target.environment}\n{pins}\n{recipe.alone} {recipe.source} {variables}\n"


def is_from(target: KnownTarget) -> bool:
    """Whether the environment is made from what it would be made from now, by an interpreter that is still there."""
    try:
        same = (target.environment / "made-from").read_text(encoding="utf-8") == made_from(target)
    except OSError:
        return False
    return same and target.python.exists()


def check_room(target: KnownTarget) -> None:
    """SetUpError when the disk has too little room for what is left."""
    home = target.environment.parent
    home.mkdir(parents=True, exist_ok=True)
    used = sum(path.lstat().st_size for path in target.environment.rglob("*")) if target.environment.exists() else 0
    wanted = int(target.recipe.disk * PLENTY) - used
    free = shutil.disk_usage(home).free
    if free < wanted:
        raise SetUpError(f"{target.name} needs {size(wanted)} of disk, and {home} has {size(free)} left")


def make_environment(work: SetUp, again: bool) -> None:
    """Make the environment, and say what it is made from."""
    work.run((str(work.python), "-I", "-m", "venv", str(work.folder)), {}, work.log, work.say)
    write_atomically(work.folder / "made-from", made_from(work.target))


def install_alone(work: SetUp, again: bool) -> None:
    """Install the large package, unless pip chose a wheel for an accelerator."""
    package = work.target.recipe.alone
    assert package is not None
    report = work.folder / "resolved.json"
    found = resolve(work.run, work.target.python, package, report, work.log, work.say)
    why = refusal(package, found)
    if why and not work.allow_accelerator:
        raise SetUpError(why)
    chosen = next(item for item in found if same_name(item.name, package))
    work.say(f"{chosen} is {chosen.file}{f', {size(chosen.size)}' if chosen.size else ''}")
    work.pip("install", "--no-deps", *forced(again), package)


def refusal(package: str, found: list[Resolved]) -> str | None:
    """Why what pip would install for the package is not wanted; None when it is."""
    chosen = [item for item in found if same_name(item.name, package)]
    if not chosen:
        return f"pip found no wheel for {package}"
    heavy = [item for item in found if item.accelerated]
    if not heavy:
        return None
    known = sum(item.size or 0 for item in heavy)
    return (
        f"pip would install {package} for an accelerator, several GB{f' ({size(known)} of it here)' if known else ''}: "
        f"{chosen[0].file}, with {', '.join(str(item) for item in heavy if item is not chosen[0]) or 'no other package'}. "
        "Only a CPU build is needed: point pip at one (PIP_INDEX_URL, PIP_FIND_LINKS or its configuration), or take what it "
        "found with --allow-cuda"
    )


def install_packages(work: SetUp, again: bool) -> None:
    """Install what the requirements file pins, and nothing that those packages ask for."""
    work.pip("install", "--no-deps", *forced(again), "--requirement", str(work.target.recipe.pins))


def build_wheel(work: SetUp, again: bool) -> None:
    """Build the wheel from its source, with the tools that are in the environment."""
    recipe = work.target.recipe
    assert recipe.source is not None
    name = recipe.source.partition("==")[0]
    wheels = work.folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    arguments = ("--no-deps", "--no-binary", name, "--no-build-isolation", "--wheel-dir", str(wheels))
    work.pip("wheel", *arguments, recipe.source, **recipe.variables)


def install_wheel(work: SetUp, again: bool) -> None:
    """Install the wheel that was built."""
    wheels = sorted(str(wheel) for wheel in (work.folder / "wheels").glob("*.whl"))
    work.pip("install", "--no-deps", "--force-reinstall", *wheels)


def check_import(work: SetUp, again: bool) -> None:
    """SetUpError unless the target can be imported and is of its version."""
    target = work.target
    command = (str(target.python), "-I", "-c", f"print({target.recipe.check})")
    version = work.run(command, target.variables, work.log, work.say).split()[-1:]
    if version != [target.version]:
        raise SetUpError(f"{target.name}: version {' '.join(version)} is installed, not {target.version}")


def forced(again: bool) -> tuple[str, ...]:
    """What has pip lay the files again that an interrupted run may have left half."""
    return ("--force-reinstall",) if again else ()


def same_name(name: str, package: str) -> bool:
    """Whether the pinned package has this name."""
    return name.lower().replace("_", "-") == package.partition("==")[0].lower().replace("_", "-")


def size(count: int) -> str:
    """Bytes as a person reads them."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
