"""Waves of a run in which a chip differed, from the simulators: the run is done again, with waves, in a process of its own."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from impl.chip import Chip, ChipError, MemoryWords, Profile, Result, Start
from verify.chips.builds import BuildFailedError
from verify.chips.own_chip import OwnChip
from verify.chips.simulated import SimulatedChip
from verify.chips.tools import ToolMissing

FOLDER = Path("reports/waves")
MOST_CYCLES = 50_000
"""Of each start with waves. A run that does not end would fill the disk with them, and shows what it does long before."""


class RememberingChip:
    """A chip that keeps what it was asked last, so that it can be asked again."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.asked: tuple[Sequence[Start], MemoryWords, Profile] | None = None

    @property
    def lanes(self) -> int:
        return self.chip.lanes

    @property
    def words(self) -> int:
        return self.chip.words

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """What the chip says."""
        self.asked = tuple(starts), memory.copy(), profile  # the caller may change its own in place
        return self.chip.run(starts, memory, profile)


def simulator(chip: Chip) -> SimulatedChip | None:
    """What can write waves of the chip, when something can."""
    inner = chip.inner if isinstance(chip, OwnChip) else chip
    return inner if isinstance(inner, SimulatedChip) else None


def write_waves(name: str, chips: Mapping[str, RememberingChip], folder: Path = FOLDER) -> list[str]:
    """Waves of the last run of each of the chips that is in a simulator; a line about each, the file or why there is none.

    Files are called after `name` and the chip. FST for Icarus, VCD for Verilator.
    """
    said: list[str] = []
    for label, chip in chips.items():
        running = simulator(chip.chip)
        if running is None or chip.asked is None:
            continue
        limit = running.cycle_limit
        path = folder / (re.sub(r"[^\w.-]+", "-", f"{name}-{label}") + running.waves_suffix)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # an old one must never pass for a new one
            running.cycle_limit = min(limit, MOST_CYCLES)
            with contextlib.suppress(ChipError):  # they are written all the same
                running.run(*chip.asked, waves=path)
        except (ToolMissing, BuildFailedError, OSError) as error:
            said.append(f"no waves of {label}: {error}")
            continue
        finally:
            running.cycle_limit = limit
        said.append(f"waves of {label}: {path}" if path.exists() else f"no waves of {label}: it did not come so far")
    return said
