"""QDIV: a lane a cycle enters, and leaves as a byte after 8 steps of restoring division. Source: docs/chip.md section 2, o_l."""

QUOTIENT_BITS = 8
ZERO_POINT = 128

Division = tuple[int, int, int]
"""Remainder, denominator, and the quotient's bits so far."""


class Divider:
    """A pipeline of a numerator and a denominator, then 8 stages of a quotient bit each."""

    __slots__ = ("_lane_in", "_lane_out", "_lanes", "_stages", "running")

    _lane_in: int
    _lane_out: int

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._stages: list[Division | None] = [None] * (QUOTIENT_BITS + 1)
        self.running = False

    def start(self) -> None:
        """Pass the edge of an AV's last S1."""
        self.running = True
        self._lane_in = self._lane_out = 0

    def flush(self) -> None:
        """Forget the divisions."""
        self.running = False
        self._stages = [None] * (QUOTIENT_BITS + 1)

    def byte(self) -> tuple[int, int] | None:
        """The lane and the byte that are packed in this cycle, if the last stage holds one."""
        done = self._stages[-1]
        return None if done is None else (self._lane_out, done[2] - ZERO_POINT)

    def clock(self, sums: list[int], z: int) -> None:
        """Pass an edge while running."""
        stages = self._stages
        if stages[-1] is not None:
            self._lane_out += 1
            self.running = self._lane_out < self._lanes
        entering: Division | None = None
        if self._lane_in < self._lanes:
            entering = 2 * sums[self._lane_in] + 257 * z, 2 * z, 0
            self._lane_in += 1
        later = [division and step(division, QUOTIENT_BITS - 1 - bit) for bit, division in enumerate(stages[:-1])]
        self._stages = [entering, *later]


def step(division: Division, bit: int) -> Division:
    """A step of restoring division, which finds this bit of the quotient."""
    remainder, denominator, quotient = division
    trial = remainder - (denominator << bit)
    return (remainder, denominator, quotient) if trial < 0 else (trial, denominator, quotient | 1 << bit)
