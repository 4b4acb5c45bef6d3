"""The Typer program: its commands and exit codes.

Exit codes: 0 nothing to report, 1 something was found (or is left to do), 2 the call cannot be done
as asked or a file could not be handled, 130 interrupted.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kdoctor import __version__
from kdoctor.cli import exit_codes, habits
from kdoctor.errors import KdoctorError

# Each is the function or program of its name in the module of its name; the help has this order.
COMMANDS = (
    "scan",
    "fix",
    "baseline",
    "explain",
    "rules",
    "target",
    "config",
    "api",
    "env",
    "model",
    "migrate",
    "report",
    "run",
    "server",
    "reference",
    "verify",
)
# What follows the program is the program's own.
_PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}


class _Program(TyperGroup):
    """Ends every command the same way."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().make_context(*arguments, **options)
        except KeyboardInterrupt:
            sys.exit(exit_codes.interrupted())

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if _is_typers(error):
                raise
            code = exit_codes.report_error(error)
            if code is None:
                raise
            raise typer.Exit(code) from None
        return result


def _is_typers(error: BaseException) -> bool:
    """Tell whether Typer itself reports an error."""
    return hasattr(error, "exit_code") and not exit_codes.is_interrupt(error)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted:
        print(f"kdoctor {__version__}")
        raise typer.Exit


def program(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Find what breaks in Keras code on the Keras version it must run on, and fix it.

    \b
    kdoctor scan src/ notebook.ipynb README.md    what is wrong, and what to write instead
    kdoctor fix src/                              show the fixes as a diff; write nothing
    kdoctor fix src/ --apply                      write the fixes
    kdoctor baseline write                        accept today's findings; only new ones fail
    python train.py 2>&1 | kdoctor explain        what an error means, and how to fix it
    kdoctor rules KD101                           all about one rule
    kdoctor api keras.backend.dot                 where a name exists, and what replaced it
    kdoctor reference dice                        correct losses, layers and clipping to copy
    kdoctor verify train.py                       does the fixed code compute the same?
    kdoctor verify                                check the reference on this machine
    kdoctor target                                which Keras this project runs on, and why
    kdoctor config src/train.py                   the settings for a path, and their origin
    kdoctor model model.h5                        will Keras 3 load it, and what stands in the way?
    kdoctor migrate                               the way to Keras 3: what to do, in which order
    kdoctor run train.py --epochs 1               run a program, and explain its error
    kdoctor report --html report.html             progress of the migration, as a web page
    kdoctor env                                   check that the installed packages fit together
    kdoctor server                                a language server, which your editor starts

    \b
    Exit codes: 0 nothing found, 1 something found, 2 wrong usage or a file that
    could not be handled.
    """  # noqa: D301 - \b keeps the lines of the examples


def app_of(names: Iterable[str]) -> typer.Typer:
    """Return the program with these commands; building all takes longer than Python's start."""
    made = typer.Typer(
        name="kdoctor",
        cls=_Program,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    made.callback()(program)
    for name in names:
        command = getattr(importlib.import_module(f"kdoctor.cli.{name}"), name)
        if isinstance(command, typer.Typer):
            made.add_typer(command)
        else:
            made.command(name, context_settings=_PASSED_ON if name == "run" else None)(command)
    return made


def main() -> None:
    """Run the program with the arguments of this process."""
    try:
        words = habits.translated(sys.argv[1:], COMMANDS)
    except KdoctorError as error:
        sys.exit(exit_codes.report_error(error))
    called = words[:1]
    known = bool(called) and called[0] in COMMANDS
    app_of(called if known else COMMANDS)(words, prog_name="kdoctor")


def __getattr__(name: str) -> typer.Typer:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = whole = app_of(COMMANDS)
    return whole
