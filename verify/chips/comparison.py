"""Several chips decode the same steps: each integer against the definition, each counter of one against the others.

Every chip gets the same token, the same rows gathered from the same pages and the same memory, so whatever differs is the
chip's own. Source: docs/chip.md; docs/reference.md section 4.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from impl.admission import peak_pages
from impl.chip import Chip, ChipError, Counters, Profile, Result
from impl.chip_forms import Form, decoder_on
from impl.decoder import Context, Step
from impl.host import Host
from impl.integer_model import IntegerModel
from impl.kv_cache import KVCache
from impl.row_store import PagedStore
from spec.decode import Parameters, step_from_rows, step_from_tokens
from verify.chips.waves import RememberingChip, write_waves
from verify.decode.integer_checks import step_differences
from verify.decode.oracle import parameters
from verify.refinement import Difference


@dataclass(frozen=True, slots=True)
class DecodeCase:
    """One request that is decoded: `steps` tokens from `start`, rows in pages of `page_size`."""

    model: IntegerModel
    window: int | None
    page_size: int
    start: int
    steps: int
    latency: int = 4
    form: Form = Form.HOST_GATHER

    def __str__(self) -> str:
        window = "no window" if self.window is None else f"window {self.window}"
        return f"{self.model.name}, {self.form}, {window}, start {self.start}, latency {self.latency}"


@dataclass(slots=True)
class DecodeTally:
    """What chips did in all cases so far: steps, cycles of those that count them, and the differences found.

    A step that repeats one counts as that one did. `failed` is where the first difference was, the case and its step, and
    `waves` lines on the waves of that step.
    """

    steps: int = 0
    cycles: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    failed: tuple[DecodeCase, int] | None = None
    waves: list[str] = field(default_factory=list)


Agreed = dict[tuple[int, bytes, bytes], tuple[Step, dict[str, Counters]]]
"""Steps without a difference, by token and past rows: the definition's, and the counters of the chips that count."""


class ComparingDecoder:
    """A decoder that is several chips at once; it goes on with the definition's answer, whatever they said.

    `differing` are the chips that differ from the definition, or one from another. What is in `agreed` is not asked again:
    each run is a life from power-on, so that the same request is the same run.
    """

    def __init__(self, case: DecodeCase, chips: Mapping[str, Chip], agreed: Agreed | None = None) -> None:
        model = case.model
        self.definition: Parameters = parameters(model)
        self.vocabulary, self.width = model.embedding.shape
        self.chips = {name: RememberingChip(chip) for name, chip in chips.items()}
        profile = Profile(case.latency)
        self.decoders = {
            name: decoder_on(case.form, model, chip, case.page_size, profile) for name, chip in self.chips.items()
        }
        self.differences: list[Difference] = []
        self.differing: set[str] = set()
        self.counters: dict[str, Counters] = {}
        self._agreed = agreed

    def step(self, token: int, context: Context) -> Step:
        """The definition's step; what any chip did otherwise is in `differences`, the last counters in `counters`."""
        asked = token, context.keys.tobytes(), context.values.tobytes()
        if self._agreed and asked in self._agreed:
            step, self.counters = self._agreed[asked]
            return step
        expected = step_from_rows(self.definition, token, context.keys, context.values)
        results: dict[str, Result] = {}
        for name, decoder in self.decoders.items():
            try:
                said = decoder.step(token, context)
            except ChipError as error:
                self.differences.append(Difference("CHIP-INT", f"{name}: a step", f"{type(error).__name__}: {error}"))
                self.differing.add(name)
                continue
            found = step_differences("CHIP-INT", expected, said, name)
            self.differences += found
            if found:
                self.differing.add(name)
            if decoder.last is not None:
                results[name] = decoder.last
        self.differences += memory_differences(results)
        self.differences += counter_differences(results)
        self.counters = {name: result.counters for name, result in results.items() if result.counters is not None}
        self.differing |= differing(results, memory_differences)
        self.differing |= differing({name: results[name] for name in self.counters}, counter_differences)
        step = Step(expected.token, expected.logits, expected.key, expected.value)
        if self._agreed is not None and not self.differences:
            self._agreed[asked] = step, self.counters
        return step


def memory_differences(results: Mapping[str, Result]) -> Iterator[Difference]:
    """Where a chip left other memory, another token, status or ERRPC than the first one (CHIP-ISA)."""
    if not results:
        return
    (first, expected), *others = results.items()
    for name, result in others:
        words = np.flatnonzero(result.memory != expected.memory)
        if len(words):
            at = int(words[0])
            yield Difference(
                "CHIP-ISA",
                f"{first}: word {at:#x} is {int(expected.memory[at]):#010x}",
                f"{name}: {int(result.memory[at]):#010x}, and {len(words) - 1} other words differ",
            )
        ends, end = ((one.token, one.status, one.error_pc) for one in (expected, result))
        if ends != end:
            yield Difference("CHIP-ISA", f"{first}: token, status, ERRPC {ends}", f"{name}: {end}")


def counter_differences(results: Mapping[str, Result]) -> Iterator[Difference]:
    """Counters of a chip that are not those of the first one that counts (CHIP-CYCLE)."""
    timed = [(name, result.counters) for name, result in results.items() if result.counters is not None]
    for name, counters in timed[1:]:
        first, expected = timed[0]
        for label, right, said in zip(Counters._fields, expected, counters, strict=True):
            if right != said:
                yield Difference("CHIP-CYCLE", f"{first}: {label} {right}", f"{name}: {said}")


def differing(
    results: Mapping[str, Result], compare: Callable[[Mapping[str, Result]], Iterator[Difference]]
) -> set[str]:
    """The chips that differ from the first one by that comparison, and the first one when there are any."""
    if not results:
        return set()
    (first, expected), *others = results.items()
    found = {name for name, result in others if any(compare({first: expected, name: result}))}
    return found | {first} if found else found


def compare_decode(
    case: DecodeCase,
    chips: Mapping[str, Chip],
    tally: DecodeTally,
    waves: Path | None = None,
    agreed: Agreed | None = None,
) -> None:
    """Decode the case on all chips, through one host over pages; what was found is added to the tally.

    A case ends at its first step with a difference; the folder `waves` gets waves of the first one of the tally, from the
    simulators that differ. Logits are held against the definition from the token ids as well, so that a gather which hands
    every chip the same wrong rows is seen (CHIP-INT).
    """
    decoder = ComparingDecoder(case, chips, agreed)
    pages = peak_pages(case.steps, case.page_size, case.window)
    host = Host(decoder, PagedStore(KVCache(pages, case.page_size, width=decoder.width)))
    host.admit(0, [case.start], case.window)
    for number in range(1, case.steps + 1):
        record = host.step(0)
        expected = step_from_tokens(decoder.definition, host.tokens(0)[:number], case.window)
        found = list(decoder.differences)
        if not np.array_equal(record.logits, expected.logits):
            found.append(
                Difference("CHIP-INT", "logits of the definition from the token ids", "others from these rows")
            )
        tally.steps += 1
        for name, counters in decoder.counters.items():
            tally.cycles[name] = tally.cycles.get(name, 0) + counters.total
        if found:
            if tally.failed is None:
                tally.failed = (case, number)
                if waves is not None:
                    differ = {name: chip for name, chip in decoder.chips.items() if name in decoder.differing}
                    tally.waves += write_waves(f"{case}, step {number}", differ, waves)
            tally.differences += [
                Difference(one.rule, f"{case}, step {number}: {one.oracle}", one.target) for one in found
            ]
            return


def compare_decodes(cases: Iterable[DecodeCase], chips: Mapping[str, Chip]) -> DecodeTally:
    """What was found in all of the cases, on chips that are as wide as their models.

    A decode soon repeats itself, and others: with a window the same rows come again, so that most steps are there already.
    """
    tally = DecodeTally()
    agreed: dict[DecodeCase, Agreed] = defaultdict(dict)
    for case in cases:
        any_request = replace(case, window=None, start=0, steps=0)
        compare_decode(case, chips, tally, agreed=agreed[any_request])
    return tally


def decode_cases(
    models: Sequence[IntegerModel],
    windows: Sequence[int | None],
    starts: Sequence[int],
    latencies: Sequence[int],
    page_size: int,
    steps: int,
    form: Form = Form.HOST_GATHER,
) -> list[DecodeCase]:
    """Every combination, those of one model together."""
    return [
        DecodeCase(model, window, page_size, start, steps, latency, form)
        for model in models
        for window in windows
        for latency in latencies
        for start in starts
    ]
