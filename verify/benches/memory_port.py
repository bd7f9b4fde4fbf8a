"""The memory port: a monitor that checks its protocol in every cycle, and a driver that is a memory behind it."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import cycle
from typing import NamedTuple

from spec.isa import MOST_OUTSTANDING
from verify.benches.clocking import Clocking, Pins
from verify.benches.patterns import Traffic


class Request(NamedTuple):
    """What the chip asks for: a write of `data` or, when not `write`, a read."""

    write: bool
    address: int
    data: int


class Edge(NamedTuple):
    """The port at one rising edge: the request that is raised, whether it is accepted, and an answer, if there is one."""

    cycle: int
    request: Request | None
    accepted: bool
    answer: int | None


class ProtocolError(AssertionError):
    """A rule of the memory port was broken."""


class MemoryPortMonitor:
    """Samples the port before every edge, raises ProtocolError for what docs/chip.md section 3 does not allow.

    It drives nothing. `listeners` get every Edge; `most_outstanding`, `held` and `accepted` say what was met.
    """

    def __init__(self, pins: Pins, clocking: Clocking) -> None:
        self._pins = pins
        self._clocking = clocking
        self._waiting: Request | None = None
        self.listeners: list[Callable[[Edge], None]] = []
        self.outstanding = 0
        self.most_outstanding = 0
        self.held = 0
        self.accepted: list[Request] = []
        clocking.samples.append(self.sample)

    def sample(self) -> None:
        """Check this cycle's edge and tell it to the listeners."""
        pins = self._pins
        request = None
        if pins["mem_req_valid"]:
            request = Request(bool(pins["mem_req_we"]), pins["mem_req_addr"], pins["mem_req_wdata"])
        answer = pins["mem_rsp_data"] if pins["mem_rsp_valid"] else None
        edge = Edge(self._clocking.cycle, request, bool(request and pins["mem_req_ready"]), answer)
        self.check(edge)
        for listener in self.listeners:
            listener(edge)

    def check(self, edge: Edge) -> None:
        """Raise ProtocolError if the chip broke a rule at this edge, else remember what the next one depends on."""
        request, where = edge.request, f"at cycle {edge.cycle}"
        if self._waiting is not None and request != self._waiting:
            raise ProtocolError(f"{where} {request} is raised, but {self._waiting} was not accepted yet")
        if request is not None and request.write and self.outstanding:
            raise ProtocolError(f"{where} {request} is raised with {self.outstanding} reads outstanding (CHIP-QUIET)")
        if request is not None and not request.write and self.outstanding == MOST_OUTSTANDING:
            raise ProtocolError(f"{where} {request} is raised with {MOST_OUTSTANDING} reads outstanding")
        if request is not None and not request.write and request.data:
            raise ProtocolError(f"{where} {request} is a read, whose data is 0")
        self._waiting = None if edge.accepted else request
        if request is not None and edge.accepted:
            self.accepted.append(request)
            self.outstanding += not request.write
        elif request is not None:
            self.held += 1
        self.outstanding -= edge.answer is not None
        self.most_outstanding = max(self.most_outstanding, self.outstanding)

    def reads(self) -> list[int]:
        """Addresses of the accepted reads, in order."""
        return [request.address for request in self.accepted if not request.write]

    def writes(self) -> list[tuple[int, int]]:
        """Addresses and data of the accepted writes, in order."""
        return [(request.address, request.data) for request in self.accepted if request.write]


class MemoryDriver:
    """A memory of `words`, ready and answering as `traffic` says. It learns of requests from the monitor.

    Reads take their data at the acceptance, so a read accepted after a write sees it. Answers come in order, each at the
    earliest in the cycle after its acceptance. With no answer, the data lines carry noise that must not matter.
    """

    NOISE = 0xDEADBEEF

    def __init__(
        self, pins: Pins, clocking: Clocking, monitor: MemoryPortMonitor, words: int, traffic: Traffic
    ) -> None:
        self.words = [0] * words
        self._pins = pins
        self._clocking = clocking
        self.behave(traffic)
        self._answers: deque[tuple[int, int]] = deque()
        self._free_from = 0
        monitor.listeners.append(self.accept)
        clocking.drives.append(self.drive)
        self.drive()

    def behave(self, traffic: Traffic) -> None:
        """Be ready and answer as `traffic` says from the next cycle on; answers that are planned already stay so."""
        self._ready = cycle(traffic.ready)
        self._gaps = cycle(traffic.gaps)

    def fill(self, address: int, words: Iterable[int]) -> None:
        """Put words at an address, behind the chip's back."""
        words = list(words)
        self.words[address : address + len(words)] = words

    def accept(self, edge: Edge) -> None:
        """Act on an accepted request: write, or plan the answer."""
        if not edge.accepted or edge.request is None:
            return
        if edge.request.write:
            self.words[edge.request.address] = edge.request.data
            return
        due = max(edge.cycle + 1 + next(self._gaps), self._free_from)
        self._free_from = due + 1
        self._answers.append((due, self.words[edge.request.address]))

    def drive(self) -> None:
        """Set ready and the answer of this cycle."""
        due = bool(self._answers) and self._answers[0][0] <= self._clocking.cycle
        data = self._answers.popleft()[1] if due else self.NOISE
        self._pins.drive(mem_req_ready=next(self._ready), mem_rsp_valid=int(due), mem_rsp_data=data)
