"""Opens a manager: its adapter runs in a child under the interpreter of the system it belongs to, with room for a framework."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from verify.managers.configuration import Configuration
from verify.remote.children import BrokenTargetError, Children
from verify.remote.choice import STDIO, WALL_FOR_CPU, TargetOptions, WrongOptionsError, launch_of
from verify.remote.connection import Launch, Limits
from verify.remote.manager import RemoteManager
from verify.remote.manager_format import StateReader
from verify.remote.manager_hello import ManagerHello, manager_hello

MOST_SECONDS, MOST_MEMORY = 10.0, 16 << 10
"""Seconds of CPU time of one reply, which may be of the first instance, and MiB of address space: what torch maps."""

HURRIED_SECONDS = 2.0
"""The seconds of a reply once one has hung: making the first instance of a framework takes some of them."""

OFFLINE: Mapping[str, str] = {"HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True, slots=True)
class ManagerOptions:
    """Which manager: module:factory or stdio:COMMAND, the interpreter of module:factory, and the folder that it runs in.

    `seconds` of CPU time a reply, `memory` in MiB of address space, `fault` module:NAME to plant one, and what is added to the
    environment.
    """

    target: str
    python: str | None = None
    path: str | None = None
    seconds: float = MOST_SECONDS
    memory: int = MOST_MEMORY
    fault: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: OFFLINE)


class Managers(NamedTuple):
    """What a manager says of itself, and what makes a fresh instance of one of its configurations, also by name."""

    hello: ManagerHello
    open: Callable[[Configuration | str], RemoteManager]


def launch_of_manager(options: ManagerOptions) -> Launch:
    """How to start the manager; WrongOptionsError, BrokenTargetError for what is not there."""
    launch, _ = launch_of(TargetOptions(target=options.target, python=options.python, path=options.path))
    command = launch.command
    if options.fault is not None:
        if options.target.startswith(STDIO):
            raise WrongOptionsError("a fault is planted in module:factory, not in stdio:COMMAND")
        command = (*command, "--fault", options.fault)
    return replace(launch, command=command, environment={**launch.environment, **options.environment})


@contextmanager
def manager(options: ManagerOptions, workers: int = 1) -> Iterator[Managers]:
    """The manager, ready to be asked by this process and so many workers; its processes end with the block.

    WrongOptionsError, BrokenTargetError.
    """
    launch = launch_of_manager(options)
    limits = Limits(options.seconds, options.seconds * WALL_FOR_CPU, options.memory << 20)
    spares = workers if workers > 1 else 0
    try:
        children = Children(launch, limits, manager_hello, spares, HURRIED_SECONDS)
    except BrokenTargetError as error:
        raise BrokenTargetError(f"{options.target}: {error}") from None

    readers: dict[Configuration, StateReader] = {}

    def opened(configuration: Configuration | str) -> RemoteManager:
        if isinstance(configuration, str):
            known = children.hello.configurations
            if configuration not in known:
                raise WrongOptionsError(f"there is no configuration {configuration}; there are {', '.join(known)}")
            configuration = known[configuration]
        if configuration not in readers:
            readers[configuration] = StateReader(children.hello.shows, configuration.traits)
        return RemoteManager(children, configuration, readers[configuration])

    try:
        yield Managers(children.hello, opened)
    finally:
        children.close()
