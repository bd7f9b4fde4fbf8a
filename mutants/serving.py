"""Answers orders, each by a child that judges one mutant.

From the second mutant of a module in a row a process beside the server answers, which has also imported what cannot see that
module, until an order comes that is not for it: a child of it imports only what its mutant may be seen in.
"""

import gc
import importlib
import json
import os
import sys
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import BinaryIO

from mutants.child import judge
from mutants.held import Held, blind
from mutants.mutant import Project
from mutants.wire import Order
from verify.sandbox import Limits, Note, die_with, run_noted


@dataclass(frozen=True, slots=True)
class Serving:
    """Answers orders. `before` are the seconds of CPU that were used before this process began; `pipes` are none of a child's
    business."""

    orders: BinaryIO
    answers: BinaryIO
    held: Held
    project: Project
    before: float = 0.0
    pipes: tuple[int, ...] = ()

    def serve_all(self) -> None:
        """Answer orders until there are no more."""
        last: Order | None = None
        line = self.orders.readline()
        while line:
            order = Order.of_json(json.loads(line))
            if (
                last is not None
                and order.module is not None
                and order.module == last.module
                and order.code != last.code
            ):
                line, last = self.serve_beside(order.module, line), None
            else:
                self.serve(order)
                line, last = self.orders.readline(), order

    def serve_beside(self, module: str, line: bytes) -> bytes:
        """Have a process that has imported what cannot see the module answer this order, and those that follow for the module.

        The first other line comes back, empty at the end of all; how that process is lost is how this one ends.
        """
        reader, writer = os.pipe()
        parent, before = os.getpid(), self.cpu_seconds()
        beside = os.fork()
        if beside == 0:
            code = 1
            try:
                die_with(parent)
                os.close(reader)
                ahead = Serving(self.orders, self.answers, self.held, self.project, before, (writer,))
                rest = ahead.serve_module(module, line)
                while rest:
                    rest = rest[os.write(writer, rest) :]
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writer)
        with os.fdopen(reader, "rb") as back:
            other = back.read()
        _, status = os.waitpid(beside, 0)
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if status:
            raise SystemExit(os.waitstatus_to_exitcode(status))
        return other

    def serve_module(self, module: str, line: bytes) -> bytes:
        """Import what cannot see the module, then answer the order, and those that follow, as long as they are for it."""
        unseeing = blind(self.held, (module,))
        for name in unseeing:
            importlib.import_module(name)
        check_clean(set(self.held).difference(unseeing))
        keep()
        while line:
            order = Order.of_json(json.loads(line))
            if order.module != module:
                break
            self.serve(order)
            line = self.orders.readline()
        return line

    def serve(self, order: Order) -> None:
        """Fork a child for the order, and say how it ended."""
        cpu = sum(order.budgets[stage].cpu_seconds for stage in order.stages)
        ended = run_noted(
            partial(_judge, order, self.project, self.held, (self.orders.fileno(), self.answers.fileno(), *self.pipes)),
            Limits(cpu, order.memory_bytes, order.wall_seconds),
        )
        send(self.answers, asdict(ended) | {"used": self.cpu_seconds()})

    def cpu_seconds(self) -> float:
        """What all processes of the server have used so far."""
        return self.before + sum(os.times()[:4])


def check_clean(seeing: Iterable[str]) -> None:
    """No module that a mutant could change may have been imported: children would go on using the original."""
    early = [name for name in seeing if name in sys.modules]
    if early:
        raise RuntimeError(f"imported before any mutant: {', '.join(sorted(early))}")


def keep() -> None:
    """Everything so far is every child's: the collector need not look at it again, nor copy its pages by touching it."""
    gc.collect()
    gc.freeze()


def send(answers: BinaryIO, message: dict[str, object]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


def _judge(order: Order, project: Project, held: Held, descriptors: Iterable[int], note: Note) -> dict[str, object]:
    """In the child: close the engine's pipes, which are not a mutant's business, and judge."""
    for descriptor in descriptors:
        os.close(descriptor)
    return judge(order, project, held, note)
