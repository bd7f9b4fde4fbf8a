"""The command line of `python -m impl`: its commands by name, each in a module of its own."""

import click

from impl.command import EPILOG, HELP, VERSION, LazyGroup

COMMANDS = {
    "bench": "impl.bench_cli:bench",
    "cycles": "impl.cycles_cli:cycles",
    "decode": "impl.decode_cli:decode",
    "models": "impl.models_cli:models",
    "study": "impl.studies.studies_cli:study",
    "trace": "impl.trace_cli:trace",
}
"""Command -> where it is, `module:name`."""


@click.group("impl", cls=LazyGroup, commands_at=COMMANDS, context_settings=HELP, epilog=EPILOG)
@click.version_option(VERSION, prog_name="kvproof impl")
def main() -> None:
    """The paged KV cache that kvproof ships: pages of rows, block tables, copy-on-write forks, windows, and a host that
    decodes a tiny language model over it.

    \b
    From Python:
      from impl.kv_cache import KVCache
      cache = KVCache(pages=64, page_size=16, layers=2, width=128)
      cache.new(7)                    start request 7
      cache.append(7, rows)           rows of shape (layers, 2, k, width), K before V
      cache.fork(7, 8)                request 8 shares every page; the first write copies one
      cache.rows(8, 0, 10)            a fresh array of rows 0 .. 9
      cache.trim(7, keep_from=100)    give back the pages wholly before row 100
      cache.release(8)

    \b
    Examples:
      python -m impl trace                      a window, a fork and an exhausted pool, event by event
      python -m impl trace --window 4 --steps 9
      python -m impl trace --json - | jq .window.steps[6]
      python -m impl decode --window 8 --page 4 --steps 32
      python -m impl decode --chip model --starts 0   the same on the chip's cycle model
      python -m impl cycles                     cycles of a decode step beside what its port allows
      python -m impl models --check             the models are what their float models give
      python -m impl study memory               what pages of each size waste; and other studies
      python -m impl bench --json bench.json    speed beside its targets
    """
