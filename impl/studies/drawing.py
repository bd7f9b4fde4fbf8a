"""Charts and pictures as SVG and PNG: the same bytes from the same data, the same look everywhere, readable in grey.

Letters become paths in the SVG, so that no machine draws them in another font. Nothing stands for something by colour
alone: lines differ by dash and marker, bars and boxes by hatch.
"""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from impl.studies.study import Chart, Picture

DOTS_AN_INCH = 120
SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 12,
    "figure.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 10,
    "grid.color": "0.87",
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "kvproof",
}
COLOURS = ("#1b4f8a", "#d07a2d", "#3f8f6b", "#8c3b6f", "#555555", "#b59b00")
FILLS = ("#c9d9ec", "#e9a15b", "#8fc3aa", "#ffffff", "#ffffff", "#b9a0b4")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = "osD^vP"
HATCHES = ("", "//", "..", "xx", "", "\\\\")

MOST_TICKS = 8
"""Different places on an axis up to which each has its tick."""
BAR_SHARE = 0.8
"""Of the room of a category, what its bars take."""
BOX = 0.42
"""Inches of a picture's unit."""


def drawn(chart: Chart | Picture) -> dict[str, bytes]:
    """The chart's files by their endings."""
    with matplotlib.rc_context():
        # Whatever the user's own settings are.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = _picture(chart) if isinstance(chart, Picture) else _chart(chart)
        files = {}
        for form, metadata in (("svg", {"Date": None, "Creator": "kvproof"}), ("png", {"Software": None})):
            file = io.BytesIO()
            figure.savefig(file, format=form, dpi=DOTS_AN_INCH, metadata=metadata)
            files[form] = file.getvalue()
    return files


def _chart(chart: Chart) -> Figure:
    width = max(8, 1.2 * len(chart.categories), 0.26 * len(chart.categories) * (len(chart.series) + 1))
    figure = Figure(figsize=(width, 4.6), layout="constrained")
    axes = figure.add_subplot()
    if chart.kind == "bars":
        _draw_bars(axes, chart)
    else:
        _draw_lines(axes, chart)
    if chart.log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(_number))
    if chart.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(_number))
    axes.set_title(chart.title)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if len(chart.series) > 1:
        # Below the axes, where no line or bar can lie under it.
        columns = _columns([series.label for series in chart.series])
        figure.legend(loc="outside lower center", ncols=columns, handlelength=3.2)
    return figure


def _draw_lines(axes: Axes, chart: Chart) -> None:
    for number, series in enumerate(chart.series):
        at = number % len(COLOURS)
        crowded = len(series.x) > 40
        axes.plot(
            series.x,
            series.y,
            color=COLOURS[at],
            linestyle=DASHES[at],
            marker="" if crowded else MARKERS[_beside(number)],
            markersize=5,
            markevery=max(1, len(series.x) // 12),
            drawstyle="steps-post" if series.step else "default",
            label=series.label,
        )
    places = {x for series in chart.series for x in series.x}
    if len(places) <= MOST_TICKS:
        axes.set_xticks(sorted(places))
    elif not chart.log_x and all(x == int(x) for x in places):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(_number))


def _draw_bars(axes: Axes, chart: Chart) -> None:
    width = BAR_SHARE / len(chart.series)
    for number, series in enumerate(chart.series):
        at = number % len(FILLS)
        places = [x + width * (number - (len(chart.series) - 1) / 2) for x in series.x]
        bars = axes.bar(
            places,
            series.y,
            width,
            color=FILLS[at],
            edgecolor="0.2",
            linewidth=0.8,
            hatch=HATCHES[_beside(number)],
            label=series.label,
        )
        axes.bar_label(
            bars, [_figure(y) for y in series.y], padding=2, fontsize=8 if len(places) * len(chart.series) < 22 else 7
        )
    axes.set_xticks(range(len(chart.categories)), chart.categories)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)


def _picture(picture: Picture) -> Figure:
    left = min(
        [box.x for box in picture.boxes] + [words.x - _length(words.text, words.align) for words in picture.words]
    )
    right = max(box.x + box.width for box in picture.boxes) + 0.3
    top = min([box.y for box in picture.boxes] + [words.y - 0.6 for words in picture.words])
    bottom = max(box.y + box.height for box in picture.boxes) + 0.3
    size = (max(8, (right - left) * BOX + 0.6), (bottom - top) * BOX + 1.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    for box in picture.boxes:
        fill = picture.fills.index(box.fill) if box.fill else None
        look = _look(fill)
        axes.add_patch(Rectangle((box.x, box.y), box.width, box.height, **look))
        backing = {"facecolor": look["facecolor"], "edgecolor": "none", "pad": 0.8} if look["hatch"] else None
        axes.text(
            box.x + box.width / 2, box.y + box.height / 2, box.text, ha="center", va="center", fontsize=9, bbox=backing
        )
    for words in picture.words:
        axes.text(words.x, words.y, words.text, ha=words.align, va="center", fontsize=10)
    for arrow in picture.arrows:
        axes.annotate("", (arrow.to_x, arrow.to_y), (arrow.x, arrow.y), arrowprops={"arrowstyle": "->", "color": "0.2"})
    figure.suptitle(picture.title, x=0.02, ha="left")
    axes.set_xlabel(picture.x_label)
    axes.set_ylabel(picture.y_label)
    names = [Patch(**_look(number), label=fill) for number, fill in enumerate(picture.fills)]
    figure.legend(handles=names, loc="outside lower center", ncols=_columns(picture.fills))
    return figure


def _look(fill: int | None) -> dict[str, Any]:
    """How a box of that fill is drawn."""
    at = None if fill is None else fill % len(FILLS)
    return {
        "facecolor": "white" if at is None else FILLS[at],
        "hatch": "" if at is None else HATCHES[at],
        "edgecolor": "0.25",
        "linewidth": 0.8,
    }


def _length(text: str, align: str) -> float:
    """Units of a picture that a text takes to the left of its point, about."""
    return {"left": 0.0, "center": 0.5, "right": 1.0}[align] * len(text) * 0.24


def _beside(number: int) -> int:
    """Which marker or hatch goes with that colour: another in every round of the colours."""
    return (number + number // len(COLOURS)) % len(COLOURS)


def _columns(labels: Sequence[str]) -> int:
    """Columns of a legend with these labels, as wide as the figure at most."""
    return 4 if len(labels) == 4 and len("".join(labels)) < 60 else 2 if len(labels) == 4 else min(3, len(labels))


def _number(value: float, _place: int) -> str:
    return _figure(value)


def _figure(value: float) -> str:
    """The value with commas, and digits behind the point only where it is small."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.2g}" if abs(value) < 1 else f"{value:,.1f}"
