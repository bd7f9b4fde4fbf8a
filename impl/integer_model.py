"""A model as the integers that a decoder needs, and its JSON form. Source: docs/reference.md sections 4 and 5."""

from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from impl.schema import Schema
from impl.tiny_lm import VOCABULARY

VERSION = 1
MOST_WIDTH = 256
"""The widest model taken for a real one; its sums still fit the 64 bits of the decoder by far."""

MOST_SCALE = 1e30
"""The largest scale taken for a real one; infinities and NaN are beyond it."""

TENSORS = ("embedding", "query", "key", "value", "output", "unembedding")
SMALLEST, LARGEST = -128, 127
RESIDUALS = range(-(2**15), 2**15)
SHIFTS = range(1, 41)

Tensor = npt.NDArray[np.int8]


class Requantiser(NamedTuple):
    """The factor m / 2**shift, applied with one rounding; m has 16 bits, the highest set, and the shift is 1 .. 40."""

    m: int
    shift: int


class Requantisers(NamedTuple):
    """What brings the sums of each projection back to 8 bits."""

    query: Requantiser
    key: Requantiser
    value: Requantiser
    output: Requantiser


@dataclass(frozen=True, slots=True)
class Scales:
    """What one unit is worth: of the tensors by their names, then of the projected q, k, v and y.

    The layer's input has the embedding's scale, and the attention's result that of v.
    """

    embedding: float
    query: float
    key: float
    value: float
    output: float
    unembedding: float
    q: float
    k: float
    v: float
    y: float

    @property
    def logit_scale(self) -> float:
        """What one unit of a logit is worth."""
        return self.y * self.unembedding


@dataclass(frozen=True, slots=True, eq=False)
class IntegerModel:
    """A quantised model of width d: embedding and unembedding are (VOCABULARY, d), the four others (d, d).

    `residual` is the factor of the layer's input beside the output projection's sums, 0 without a residual; `exponent`
    scales a score's distance from the largest to an index of the table of exponentials.
    """

    name: str
    embedding: Tensor
    query: Tensor
    key: Tensor
    value: Tensor
    output: Tensor
    unembedding: Tensor
    requantisers: Requantisers
    residual: int
    exponent: Requantiser
    scales: Scales

    @property
    def width(self) -> int:
        """Elements of a key or a value."""
        width: int = self.embedding.shape[1]
        return width


def _object(**properties: Any) -> dict[str, Any]:
    """The schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _integer(lowest: int, highest: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": lowest, "maximum": highest}


_REQUANTISER = _object(m=_integer(2**15, 2**16 - 1), shift=_integer(SHIFTS.start, SHIFTS.stop - 1))

SCHEMA = Schema(
    _object(
        kvproof={"const": "model"},
        version={"const": VERSION},
        name={"type": "string", "pattern": r"^[a-z0-9-]{1,64}\Z"},
        width=_integer(VOCABULARY, MOST_WIDTH),
        residual=_integer(RESIDUALS.start, RESIDUALS.stop - 1),
        requantisers=_object(query=_REQUANTISER, key=_REQUANTISER, value=_REQUANTISER, output=_REQUANTISER),
        exponent=_REQUANTISER,
        scales=_object(**{field.name: {"type": "number", "exclusiveMinimum": 0} for field in fields(Scales)}),
        tensors=_object(**{name: {"type": "array", "items": {"type": "array"}} for name in TENSORS}),
    )
)
"""All but the elements of tensors, thousands of them, which a schema would take longer to look at than a check may take."""


def to_json(model: IntegerModel) -> dict[str, Any]:
    """The model as JSON values."""
    return {
        "kvproof": "model",
        "version": VERSION,
        "name": model.name,
        "width": model.width,
        "residual": model.residual,
        "requantisers": {name: each._asdict() for name, each in model.requantisers._asdict().items()},
        "exponent": model.exponent._asdict(),
        "scales": asdict(model.scales),
        "tensors": {name: getattr(model, name).tolist() for name in TENSORS},
    }


def from_json(data: object) -> IntegerModel:
    """The model that the JSON values describe; ValueError says where they are malformed."""
    SCHEMA.check(data)
    assert isinstance(data, dict)
    for name, scale in data["scales"].items():
        if not scale <= MOST_SCALE:
            raise ValueError(f"at scales/{name}: {_short(repr(scale))} is not at most {MOST_SCALE:g}")
    width = int(data["width"])
    tensors = {name: _tensor(name, data["tensors"][name], width) for name in TENSORS}
    return IntegerModel(
        name=data["name"],
        **tensors,
        requantisers=Requantisers(*(_requantiser(data["requantisers"][name]) for name in Requantisers._fields)),
        residual=int(data["residual"]),
        exponent=_requantiser(data["exponent"]),
        scales=Scales(**{name: float(scale) for name, scale in data["scales"].items()}),
    )


def _requantiser(data: dict[str, int]) -> Requantiser:
    return Requantiser(int(data["m"]), int(data["shift"]))


def _tensor(name: str, rows: list[list[Any]], width: int) -> Tensor:
    height = VOCABULARY if name in ("embedding", "unembedding") else width
    if len(rows) != height:
        raise ValueError(f"at tensors/{name}: {len(rows)} rows, not {height}")
    for row, values in enumerate(rows):
        if len(values) != width:
            raise ValueError(f"at tensors/{name}/{row}: {len(values)} elements, not {width}")
        for column, value in enumerate(values):
            if type(value) is not int or not SMALLEST <= value <= LARGEST:
                where = f"tensors/{name}/{row}/{column}"
                raise ValueError(f"at {where}: {_short(repr(value))} is no integer of {SMALLEST} .. {LARGEST}")
    return np.array(rows, np.int8)


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]} ..."
