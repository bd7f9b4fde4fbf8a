"""The controls of each area: a mutant that its stages must let pass, and one that they must not."""

from collections.abc import Mapping

from mutants.generic.surface import FAMILY
from mutants.mutant import Mutant

Pair = tuple[Mutant, Mutant]


def _pair(area: str, module: str, function: str, same: tuple[str, str], broken: tuple[str, str]) -> tuple[str, Pair]:
    """The area's family, and its controls, each as what is there and what takes its place."""
    family = FAMILY.format(area)

    def control(name: str, title: str, change: tuple[str, str]) -> Mutant:
        return Mutant(f"{name}, {area}", f"control: {title}", family, f"impl.{module}", function, *change)

    return family, (
        control("no-op", "another spelling of the same step", same),
        control("broken", "a rule broken", broken),
    )


CONTROLS: Mapping[str, Pair] = dict(
    (
        _pair(
            "page table",
            "page_table",
            "PageTable._drop",
            ("self.counts[page] -= 1", "self.counts[page] = self.counts[page] - 1"),
            ("self.counts[page] -= 1", "pass"),
        ),
        _pair(
            "window",
            "window",
            "context",
            ("step if window is None else min(step, window)", "min(step, window) if window is not None else step"),
            ("min(step, window)", "min(step, window + 1)"),
        ),
        _pair(
            "decoder",
            "decoder",
            "IntegerDecoder.step",
            ("int(logits.argmax())", "int(np.argmax(logits))"),
            ("int(logits.argmax())", "int(logits.argmin())"),
        ),
        _pair(
            "host",
            "host",
            "Host._append",
            ("session.rows += len(fed)", "session.rows = session.rows + len(fed)"),
            ("session.rows += len(fed)", "session.rows = len(fed)"),
        ),
        _pair(
            "prefix cache",
            "shared_pages",
            "SharedPages._let_go",
            ("self.counts[page] -= 1", "self.counts[page] = self.counts[page] - 1"),
            ("self.counts[page] -= 1", "pass"),
        ),
        _pair(
            "chip",
            "chip_model.requantise",
            "Requantiser.shifted",
            ("max(-128, min(127, self.product >> entry.sh))", "min(127, max(-128, self.product >> entry.sh))"),
            ("self.product >> entry.sh", "(self.product >> entry.sh) + 1"),
        ),
    )
)
"""By family: the one that must survive, and the one that must not."""
