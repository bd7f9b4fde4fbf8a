"""All that is seen of a manager at one moment, sorted by who owns what: the ground on which a step is drawn.

A manager shows values of rows, each of a whole token prefix; what prefix a value is of is known from the oracle's requests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spec.groups import Group
from spec.manager import State
from verify.managers.target import ManagerSnapshot
from verify.managers.values import values
from verify.view.sight import NOBODY, SlotState
from verify.view.steps import Owner

Prefixes = dict[int, tuple[int, ...]]
"""The token prefix of each value that a request ever had, or was asked to have."""


@dataclass(frozen=True, slots=True)
class ManagerSight:
    """A snapshot, the table entries of each named page, and each page's slots; `parts` name the groups."""

    snapshot: ManagerSnapshot
    parts: tuple[str, ...]
    tables: Mapping[int, tuple[Owner, ...]]
    slots: Mapping[int, tuple[SlotState, ...]]
    notes: Mapping[int, str] = field(default_factory=dict)


def learn(prefixes: Prefixes, tokens: tuple[int, ...]) -> None:
    """Remember the value of every row of a request with these tokens."""
    for end, told in enumerate(values(tokens), start=1):
        prefixes.setdefault(told, tokens[:end])


def part_names(groups: Sequence[Group]) -> tuple[str, ...]:
    """What each group is called; nothing when there is only one."""
    if len(groups) == 1:
        return ("",)
    return tuple(f"g{number} {group_words(group)}" for number, group in enumerate(groups))


def group_words(group: Group) -> str:
    """A group in a few words."""
    words = {"full": "full", "window": f"window {group.size}", "chunk": f"chunk {group.size}"}[group.kind]
    return words + (f" sinks {group.sinks}" if group.sinks else "") + (f" keeps {group.keeps}" if group.keeps else "")


def manager_sight(
    snapshot: ManagerSnapshot, state: State, prefixes: Prefixes, before: ManagerSight | None
) -> ManagerSight:
    """What is seen now; `before` is what was seen an operation ago, None of a fresh manager."""
    traits = state.traits
    parts = part_names(traits.groups)
    tables: dict[int, tuple[Owner, ...]] = {}
    rows: dict[int, list[tuple[int | None, ...]]] = {}
    size = traits.page_size
    for request, view in sorted(snapshot.requests.items()):
        for table, read, part in zip(view.tables, view.rows, parts, strict=False):
            for logical, page in enumerate(table):
                if page is not None:
                    tables[page] = (*tables.get(page, NOBODY), Owner(request, logical, part))
                    rows.setdefault(page, []).append(read[logical * size : (logical + 1) * size])
    slots = {
        page: page_slots(page, size, rows.get(page, []), prefixes, before) for page in {*range(traits.pages), *tables}
    }
    notes = {
        page: f"published: {prefix_words(prefixes, told)}{f', group {group}' if len(parts) > 1 else ''}"
        for page, group, told in snapshot.published or ()
    }
    return ManagerSight(snapshot, parts, tables, slots, notes)


def page_slots(
    page: int, size: int, rows: Sequence[tuple[int | None, ...]], prefixes: Prefixes, before: ManagerSight | None
) -> tuple[SlotState, ...]:
    """The slots of one page: rows of live requests, then what was read there last."""
    old = before.slots.get(page, ()) if before is not None else ()
    states: list[SlotState] = []
    for slot in range(size):
        read = {row[slot] for row in rows if slot < len(row) and row[slot] is not None}
        if read:
            states.append(("live", token_of(prefixes, read.pop()) if len(read) == 1 else None))
        elif slot < len(old) and old[slot][0] in ("live", "stale"):
            states.append(("stale", old[slot][1]))
        else:
            states.append(("unknown", None))
    return tuple(states)


def token_of(prefixes: Prefixes, told: int | None) -> int | None:
    """The token of the row that has this value; None when no request had such a row."""
    prefix = prefixes.get(told) if told is not None else None
    return None if prefix is None else prefix[-1]


def prefix_words(prefixes: Prefixes, told: int) -> str:
    """The prefix of a value in words."""
    prefix = prefixes.get(told)
    return f"value {told}" if prefix is None else f"[{' '.join(map(str, prefix))}]"
