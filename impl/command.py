"""What every command line program here does the same way: run, end with one exit code, write its files whole."""

import contextlib
import importlib
import json
import os
import secrets
import stat
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from impl.exit_codes import ExitCode
from impl.interrupts import one_interrupt

DEBUG_VARIABLE = "KVPROOF_DEBUG"
VERSION = "0.1.0"
PLAIN_WIDTH = 180
"""Columns of a table that goes to a file or a pipe."""

EPILOG = "Exit codes: 0 pass, 1 fail, 2 usage, 3 unknown, 4 broken input, target or output, 70 internal error, 130 interrupted."
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
"""What every group's context settings are."""


class CommandError(Exception):
    """A command cannot go on, for a reason that its user can act on: one clear line and the exit code that says why."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BROKEN) -> None:
        super().__init__(message)
        self.code = code


class LazyGroup(click.Group):
    """A group that imports a command when it is called for: the others' libraries would cost a second at each start.

    `commands_at` says where each command is, `module:name`. The help of the group imports them all, for their first lines.
    """

    def __init__(self, *arguments: Any, commands_at: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands_at, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands_at and cmd_name not in self.commands:
            module, _, name = self.commands_at[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), name)
            _offer_debug(command)
            self.add_command(command, cmd_name)
        return super().get_command(ctx, cmd_name)


def run(group: click.Command, argv: Sequence[str] | None = None) -> NoReturn:
    """Run the program and end the process with its exit code; the command's name is that of the package run with -m.

    A command returns an exit code, or None for PASS. Usage errors end with 2, an interrupt with 130, a CommandError
    with its own code, a failing file or device with 4, and anything else with 70. Each prints one line on standard
    error; the traceback is added under --debug or KVPROOF_DEBUG=1. A reader that closes the pipe early gets no
    verdict, hence 3.
    """
    _offer_debug(group)
    try:
        with one_interrupt():
            code = _invoke(group, sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.UsageError as error:
        error.show()
        code = ExitCode.USAGE
    except click.ClickException as error:
        code = _fail(error.format_message(), ExitCode.BROKEN)
    except (KeyboardInterrupt, click.Abort):
        code = _fail("interrupted", ExitCode.INTERRUPTED)
    except CommandError as error:
        code = _fail(str(error), error.code)
    except BrokenPipeError:
        code = ExitCode.UNKNOWN
    except OSError as error:
        code = _fail(f"{error.filename or 'output'}: {error.strerror or error}", ExitCode.BROKEN)
    except MemoryError as error:
        code = _fail(f"out of memory, choose smaller sizes: {_first_line(error)}", ExitCode.BROKEN)
    except SystemExit as error:
        # rich answers a closed pipe by leaving with 1, which would read as a failed check.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        code = ExitCode.UNKNOWN
    except Exception as error:
        code = _fail(f"internal error: {type(error).__name__}: {_first_line(error)}", ExitCode.INTERNAL)
    _discard_unwritable_output()
    sys.exit(code)


def console(to_stderr: bool = False) -> Console:
    """Where a program prints; a file or a pipe gets lines of a fixed width instead of a terminal's, unless COLUMNS is set."""
    plain = Console(highlight=False, stderr=to_stderr)
    if plain.is_terminal or "COLUMNS" in os.environ:
        return plain
    return Console(width=PLAIN_WIDTH, highlight=False, stderr=to_stderr)


def check_place(path: str) -> None:
    """A CommandError when no file can be written there: better said before a run than after it. "-" is standard output."""
    if path == "-":
        return
    target = Path(path)
    in_place = target.exists() and not target.is_file()  # a device or a pipe
    place = target if in_place else target.parent
    if not path or target.is_dir() or not (in_place or place.is_dir()) or not os.access(place, os.W_OK):
        raise CommandError(f"nothing can be written to {path!r}: choose a file in a folder that is there")


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Replace the file by the bytes, or the text in UTF-8, or leave it as it was: a reader never sees half of it.

    A device or a pipe is written in place, since renaming over it would remove it. Raises OSError.
    """
    data = content.encode() if isinstance(content, str) else content
    target = Path(path).resolve()
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        try:
            target.write_bytes(data)
        except OSError as error:
            error.filename = str(path)
            raise
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)  # the caller knows no other name
        raise


def write_json(path: str, document: object) -> None:
    """Write the document as indented JSON to the file, whole or not at all; "-" is standard output. Raises OSError."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if path != "-":
        write_atomically(path, text)
    elif sys.stdout is None:
        raise CommandError("standard output is closed")
    else:
        # Line by line: CPython can miss that the reader has gone in the middle of one large write to a pipe.
        sys.stdout.writelines(text.splitlines(keepends=True))


def _invoke(group: click.Command, argv: Sequence[str]) -> int:
    try:
        with group.make_context(f"python -m {group.name}", list(argv)) as context:
            result = group.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    return ExitCode.PASS if result is None else ExitCode(result)


def _offer_debug(command: click.Command) -> None:
    """Give the command and its subcommands --debug, unless they have it."""
    if all(parameter.name != "debug" for parameter in command.params):
        command.params.append(
            click.Option(
                ["--debug"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_remember_debug,
                help="Show the traceback of an error.",
            )
        )
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            _offer_debug(subcommand)


def _remember_debug(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        os.environ[DEBUG_VARIABLE] = "1"  # child processes follow


def _fail(message: str, code: ExitCode) -> ExitCode:
    """Report the exception being handled on standard error, which may be gone too."""
    with contextlib.suppress(OSError):
        if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
            click.echo(traceback.format_exc(), err=True, nl=False)
        click.echo(f"error: {message}", err=True)
    return code


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


def _discard_unwritable_output() -> None:
    """Point standard streams that cannot be flushed at the null device, or the interpreter fails on them at its end."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
