"""What a study answers with: its question, its inputs, tables of figures and the charts that are drawn from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Cell = str | int | float | None
Progress = Callable[[str, int, int], None]
"""Told of every piece of work that is done: what, how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `digits` is how many stand after the point when a float is printed, all of them when None."""

    name: str
    unit: str = ""
    digits: int | None = None


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Figures in rows; the name is safe in a file name."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A line through points, or one bar a category when the chart has bars; `step` draws the line as a stair."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    step: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over common axes, whose labels carry the unit in brackets; bars stand at `categories`."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "bars"] = "lines"
    categories: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of a picture with a text in it; the fill names what it stands for, as the legend says."""

    x: float
    y: float
    width: float
    height: float
    text: str = ""
    fill: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A text of a picture at a point; `align` says which part of it lies there."""

    x: float
    y: float
    text: str
    align: Literal["left", "center", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow of a picture, from a point to another."""

    x: float
    y: float
    to_x: float
    to_y: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing to scale, y downwards: boxes, words and arrows; `fills` are the kinds of box in the legend's order."""

    name: str
    title: str
    boxes: tuple[Box, ...]
    words: tuple[Words, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    fills: tuple[str, ...] = ()
    x_label: str = ""
    y_label: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a study found: `inputs` are what it was run with, `notes` what a reader of the tables has to know."""

    study: str
    question: str
    inputs: Mapping[str, object]
    tables: tuple[StudyTable, ...]
    charts: tuple[Chart | Picture, ...]
    notes: tuple[str, ...] = ()
