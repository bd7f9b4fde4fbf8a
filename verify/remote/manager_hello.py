"""What a manager says of itself: docs/target-protocol.md, Managers. Whatever is not as documented is a MalformedReplyError."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

from spec.groups import Group
from spec.manager import Traits
from spec.operations import Admit, Commit, ManagerOperation
from verify.managers.configuration import Configuration, from_json
from verify.managers.target import Offer
from verify.remote.manager_format import SHOWS
from verify.remote.wire_format import VERSION, MalformedReplyError, check_keys, names, parsed, short, wanted

KINDS: Mapping[str, type[ManagerOperation]] = {kind.__name__.lower(): kind for kind in get_args(ManagerOperation)}
HELLO_KEYS = ("kvproof", "version", "name", "operations", "shows", "configurations")
TRAITS = tuple(field.name for field in fields(Traits))
NEEDED_TRAITS = ("pages", "page_size", "groups")
FLAGS = ("prefix", "commits", "recycles")
NUMBERS = ("pages", "page_size", "leaves")
GROUP_KEYS = tuple(field.name for field in fields(Group))


@dataclass(frozen=True, slots=True)
class ManagerHello:
    """A manager's name, what it offers whatever the configuration, the optional lists of its states, and its configurations."""

    name: str
    operations: frozenset[type[ManagerOperation]]
    shows: frozenset[str]
    configurations: Mapping[str, Configuration]

    def offer(self, configuration: Configuration) -> Offer:
        """What it offers in a configuration: commits only where they write, and what the configuration narrows it to."""
        offered = self.operations if configuration.traits.commits else self.operations - {Commit}
        if configuration.operations is not None:
            offered &= {KINDS[name] for name in configuration.operations}
        return Offer(self.name, offered, tuple(key for key in SHOWS if key not in self.shows))


def manager_hello(line: bytes) -> ManagerHello:
    """What the manager says of itself; MalformedReplyError names the key that is unknown, missing or wrong."""
    data = parsed(line)
    if type(data) is dict and isinstance(data.get("broken"), str):
        raise MalformedReplyError(data["broken"])
    if type(data) is not dict or data.get("kvproof") != "manager":
        raise MalformedReplyError(f'{short(data)} is no hello: "kvproof" is not "manager"')
    if data.get("version") != VERSION:
        raise MalformedReplyError(f"it speaks version {short(data.get('version'))} of the protocol, not {VERSION}")
    check_keys("hello", data, ("kvproof", "version", "name", "configurations"), HELLO_KEYS)
    name = wanted(data["name"], lambda value: type(value) is str and value != "", "name", "a text")
    operations = frozenset(KINDS[operation] for operation in names(data, "operations", tuple(KINDS)))
    shows = frozenset(names(data, "shows", SHOWS))
    items = wanted(
        data["configurations"], lambda value: type(value) is list and value != [], "configurations", "a list"
    )
    found: dict[str, Configuration] = {}
    for item in items:
        configuration = configuration_of(item)
        if configuration.name in found:
            raise MalformedReplyError(f"two configurations are called {short(configuration.name)}")
        found[configuration.name] = configuration
    hello = ManagerHello(name, operations, shows, found)
    for configuration in found.values():
        offered = hello.offer(configuration).operations
        needed = {Admit, Commit} if configuration.traits.commits else {Admit}
        for kind in sorted(needed - offered, key=lambda kind: kind.__name__):
            where = f"configuration {short(configuration.name)}"
            raise MalformedReplyError(f'{where} offers no "{kind.__name__.lower()}": nothing could be checked')
    return hello


def configuration_of(item: Any) -> Configuration:
    """The configuration that JSON values describe."""
    if type(item) is not dict or type(item.get("name")) is not str or not item["name"]:
        raise MalformedReplyError(f"a configuration has no name: {short(item)}")
    where = f"configuration {short(item['name'])}"
    check_keys(where, item, ("name", *NEEDED_TRAITS), (*TRAITS, "operations"))
    if "operations" in item:
        names(item, "operations", tuple(KINDS))
    for key, kind in ((key, kind) for keys, kind in ((FLAGS, bool), (NUMBERS, int)) for key in keys):
        if key in item and type(item[key]) is not kind:
            what = "true or false" if kind is bool else "an integer"
            raise MalformedReplyError(f'"{key}" of {where} is not {what}: {short(item[key])}')
    if type(item["groups"]) is not list or not item["groups"]:
        raise MalformedReplyError(f'"groups" of {where} is no list of groups: {short(item["groups"])}')
    for group in item["groups"]:
        check_keys(f"a group of {where}", group, ("kind",), GROUP_KEYS)
        if not all(type(group[key]) is int for key in group.keys() - {"kind"}):
            raise MalformedReplyError(f"a group of {where} has a size that is no integer: {short(group)}")
    try:
        return from_json(item)
    except ValueError as error:
        raise MalformedReplyError(f"{where}: {error}") from None
