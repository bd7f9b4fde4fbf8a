"""The options that the commands of `python -m impl study` have in common, and the kinds of value that they take."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from impl.studies.writing import check_folder

F = TypeVar("F", bound=Callable[..., Any])

LARGEST = 100_000_000
"""Rows, pages and requests taken for meant."""
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30, "T": 10**12, "TI": 2**40}
SIZE = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,2})?)\s*([kmgt]i?)?b?", re.IGNORECASE)
MOST_BYTES = 10**15


class Numbers(click.ParamType[tuple[int, ...]]):
    """Ascending or not, but different, numbers separated by commas, from `least` to `most`."""

    name = "N,N,..."

    def __init__(self, least: int = 1, most: int = LARGEST) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The numbers, or a usage error."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        numbers = tuple(int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 19)
        if len(numbers) < len(parts) or len(set(numbers)) < len(numbers) or not all(map(self._fits, numbers)):
            self.fail(
                f"different numbers of {self.least} .. {self.most:,} separated by commas, not {value!r}", param, ctx
            )
        return numbers

    def _fits(self, number: int) -> bool:
        return self.least <= number <= self.most


class Bytes(click.ParamType[int]):
    """A number of bytes as 262144, 80e9, 256KiB or 7GB."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number, or a usage error."""
        found = SIZE.fullmatch(str(value).strip())
        count = float(found[1]) * UNITS[(found[2] or "").upper()] if found else 0
        if not 0 < count <= MOST_BYTES or count != int(count):
            self.fail(
                f"a whole number of bytes up to 1e15, such as 262144, 80e9, 256KiB or 7GB, not {value!r}", param, ctx
            )
        return int(count)


def number(name: str, default: int, text: str, least: int = 1, most: int = LARGEST) -> Callable[[F], F]:
    """An option that takes one number."""
    return click.option(name, type=click.IntRange(least, most), default=default, show_default=True, help=text)


def numbers(name: str, default: tuple[int, ...], text: str, least: int = 1, most: int = LARGEST) -> Callable[[F], F]:
    """An option that takes numbers separated by commas."""
    shown = ",".join(map(str, default))
    return click.option(name, type=Numbers(least, most), default=shown, show_default=True, help=text)


def size(name: str, default: int, text: str, shown: str) -> Callable[[F], F]:
    """An option that takes a number of bytes."""
    return click.option(name, type=Bytes(), default=default, show_default=shown, help=text)


def places(command: F) -> F:
    """The options that say where a study's files go and whether figures are among them."""
    out = click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default="reports/studies",
        show_default=True,
        callback=_folder,
        help="Folder of the JSON, CSV, SVG and PNG files; it is made if it is not there.",
    )
    figures = click.option("--figures/--no-figures", default=True, show_default=True, help="Draw the figures too.")
    return out(figures(command))


def _folder(_context: click.Context, _parameter: click.Parameter, value: Path) -> Path:
    check_folder(value)
    return value
