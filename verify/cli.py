"""The command line of `python -m verify`: its commands by name, each in a module of its own."""

import click

from impl.command import EPILOG, HELP, VERSION, LazyGroup

COMMANDS = {
    "campaign": "verify.campaign.cli:campaign",
    "chips": "verify.chips.rate:chip_rates",
    "conformance": "verify.conformance.cli:conformance",
    "decode": "verify.chips.decode_cli:decode",
    "explore": "verify.explore_cli:explore",
    "fuzz": "verify.fuzz_cli:fuzz",
    "fuzz-chip": "verify.fuzz.cli:fuzz_chip",
    "new-target": "verify.remote.new_target:new_target",
    "pin-chip": "verify.chips.pin_cli:pin_chip",
    "replay": "verify.replay_cli:replay",
    "show": "verify.view.cli:show_witness",
    "targets": "verify.conformance.setup_cli:set_up_targets",
}
"""Command -> where it is, `module:name`."""


@click.group("verify", cls=LazyGroup, commands_at=COMMANDS, epilog=EPILOG, context_settings=HELP)
@click.version_option(VERSION, prog_name="kvproof verify")
def main() -> None:
    """Hold a paged KV cache against the oracle.

    \b
    Examples:
      python -m verify explore --pages 4 --page-size 2 --requests 3 --length 4
      python -m verify fuzz --seed 7 --minutes 5
      python -m verify replay verify/witnesses/fill-the-pool.json
      python -m verify show verify/witnesses/fill-the-pool.json --html page.html
      python -m verify replay trace.jsonl --requests 2000 --page 16 --window 4096
      python -m verify new-target ../mine
      python -m verify fuzz --seed 7 --minutes 5 --target adapter:make --target-path ../mine
      python -m verify campaign night.db --seeds 500 --minutes 60
      python -m verify conformance --target vllm --profile dev
      python -m verify decode --chip all --window 8 --latency 1,4,16
      python -m verify fuzz-chip --seed 7 --minutes 5 --chip spec,model

    Without --target it is the cache that ships. The whole suite with its closing summary is `pytest verify/`.
    """
