"""The JSON form in which a model is kept: what it holds, and that nothing else is taken for one (DEC-MODEL)."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from impl.integer_model import IntegerModel, from_json, to_json
from verify.decode.model_checks import PROJECTIONS, TENSORS
from verify.decode.oracle import Found
from verify.refinement import Difference
from verify.target import Raised, answered

SCALES = (*TENSORS, "q", "k", "v", "y")
MULTIPLIERS = (*(f"requantisers/{name}" for name in PROJECTIONS), "exponent")
MOST_SAID = 200
"""Characters of a wrong value that a refusal repeats."""

Change = tuple[str, object]
"""A place in the form, keys joined by slashes, and what stands there instead; MISSING when nothing does."""

MISSING = object()


def check_form(model: IntegerModel) -> Found:
    """The form holds every number of the model in its place, as JSON alone, and gives the same model again."""
    due = {
        "kvproof": "model",
        "version": 1,
        "name": model.name,
        "width": model.embedding.shape[1],
        "residual": model.residual,
        "requantisers": {name: pair(getattr(model.requantisers, name)) for name in PROJECTIONS},
        "exponent": pair(model.exponent),
        "scales": {name: getattr(model.scales, name) for name in SCALES},
        "tensors": {name: getattr(model, name).tolist() for name in TENSORS},
    }
    shown = answered(to_json, model)
    again = answered(lambda: to_json(from_json(json.loads(json.dumps(due)))))
    differences = [
        Difference("DEC-MODEL", f"{model.name} {how}: {due}", f"{said}")
        for how, said in (("as JSON", shown), ("from JSON and as JSON again", again))
        if said != due
    ]
    back = answered(from_json, due)
    if not isinstance(back, Raised) and any(getattr(back, name).dtype != np.int8 for name in TENSORS):
        differences.append(Difference("DEC-MODEL", f"{model.name} from JSON: int8", "another type"))
    return differences, 2


def check_refused_forms(model: IntegerModel) -> Found:
    """The last number that fits a place is taken, and the first that does not is refused with that place (DEC-MODEL)."""
    form = to_json(model)
    differences: list[Difference] = []
    asked = 0
    for changes, due in ((accepted_forms(model), False), (refused_forms(model), True)):
        for change, place in changes:
            said = answered(from_json, changed(form, change))
            refused = (
                isinstance(said, Raised) and said.kind == "ValueError" and said.message.startswith(f"at {place}: ")
            )
            if refused != due or isinstance(said, Raised) != due:
                where = f"{model.name} with {str(change[1])[:MOST_SAID]} at {change[0]}"
                what = f"ValueError at {place}" if due else "a model"
                shown = f"{said}" if isinstance(said, Raised) else "a model"
                differences.append(Difference("DEC-MODEL", f"{where}: {what}", shown))
            asked += 1
    return differences, asked


def accepted_forms(model: IntegerModel) -> Iterator[tuple[Change, str]]:
    """Numbers at the ends of their ranges."""
    for multiplier in MULTIPLIERS:
        for key, value in (("m", 2**15), ("m", 2**16 - 1), ("shift", 1), ("shift", 40)):
            yield (f"{multiplier}/{key}", value), ""
    for value in (-(2**15), 2**15 - 1):
        yield ("residual", value), ""
    for value in (-128, 127):
        yield ("tensors/key/0/0", value), ""
    yield ("scales/q", 1e30), ""
    yield ("name", "a-9" + 61 * "z"), ""


def refused_forms(model: IntegerModel) -> Iterator[tuple[Change, str]]:
    """Numbers just beyond their ranges, other types, and parts that are missing or too many, each with its place."""
    for place, values in (
        ("kvproof", ("models",)),
        ("version", (0, 2)),
        ("name", ("", "A", "a b", "a\n", 65 * "z")),
        ("width", (15, 257, "16")),
        ("residual", (-(2**15) - 1, 2**15, 0.5)),
        *((f"{multiplier}/m", (2**15 - 1, 2**16)) for multiplier in MULTIPLIERS),
        *((f"{multiplier}/shift", (0, 41)) for multiplier in MULTIPLIERS),
        ("scales/q", (0, -1.0, "1", float(np.nextafter(1e30, math.inf)), math.inf, math.nan)),
        ("tensors/key/0/0", (-129, 128, 1.0, True, "1", None)),
        ("tensors/key", (5,)),
        ("tensors/key/0", (5,)),
    ):
        for value in values:
            yield (place, value), place
    # The widest that is taken for a width, but the tensors have another.
    yield ("width", 256), "tensors/embedding/0"
    for name in TENSORS:
        rows = getattr(model, name).tolist()
        yield (f"tensors/{name}", rows[1:]), f"tensors/{name}"
        yield (f"tensors/{name}", [*rows, rows[0]]), f"tensors/{name}"
        yield (f"tensors/{name}/1", rows[1][1:]), f"tensors/{name}/1"
    form = to_json(model)
    for whole in ("", "requantisers", *MULTIPLIERS, "scales", "tensors"):
        inside = whole + "/" if whole else ""
        for key in part(form, whole):
            yield (f"{inside}{key}", MISSING), whole or "the top level"
        yield (f"{inside}more", 1), whole or "the top level"


def check_said_values(model: IntegerModel) -> Found:
    """A refusal repeats a wrong element or scale, and of a long one its first characters."""
    form, differences = to_json(model), []
    longest = 10 ** (MOST_SAID - 1)
    for value, due in ((longest, f"{longest} "), (10 * longest, f"{longest} ... ")):
        for place in ("tensors/key/0/0", "scales/q"):
            said = answered(from_json, changed(form, (place, value)))
            if not isinstance(said, Raised) or not said.message.startswith(f"at {place}: {due}is "):
                differences.append(Difference("DEC-MODEL", f"a refusal at {place} says {due}", f"{said}"))
    return differences, 4


def changed(form: Any, change: Change) -> Any:
    """The form with the change; what is on the way to it is copied."""
    place, value = change
    key, _, rest = place.partition("/")
    copy = form.copy()
    at = int(key) if isinstance(copy, list) else key
    if rest:
        copy[at] = changed(copy[at], (rest, value))
    elif value is MISSING:
        del copy[at]
    else:
        copy[at] = value
    return copy


def part(form: dict[str, Any], place: str) -> Any:
    """What stands at that place of the form."""
    found: Any = form
    for key in place.split("/") if place else ():
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


def pair(multiplier: Any) -> dict[str, int]:
    """A multiplier as JSON."""
    return {"m": multiplier.m, "shift": multiplier.shift}
