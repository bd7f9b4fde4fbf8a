"""Replaying the witness of a manager on a target, step by step."""

from pathlib import Path

from rich.console import Console

from impl.command import CommandError
from verify.conformance.targets import KnownTarget
from verify.conformance.work import opened
from verify.remote.children import BrokenTargetError
from verify.view.manager_walkthrough import walk_manager
from verify.view.terminal import render_walkthrough, walked_verdict
from verify.witness_files import load_of_manager


def replay_witness(out: Console, file: Path, target: KnownTarget) -> int:
    """Replay the witness and print its last steps; CommandError for what is none, or a configuration that is not there."""
    witness = load_of_manager(file)
    name = witness.configuration.name
    try:
        with opened(target) as found:
            if found.hello.configurations.get(name) != witness.configuration:
                raise CommandError(f"{target.name} has no configuration like the witness's {name}")
            walked = walk_manager(witness, lambda: found.open(name), str(file), options=f" --target {target.name}")
    except BrokenTargetError as error:
        raise CommandError(f"the target is broken: {error}") from None
    render_walkthrough(out, walked)
    return walked_verdict(out, walked)
