"""``kdoctor run``: run a program, with the diagnosis under its traceback."""

from __future__ import annotations

from typing import Annotated

import typer


def run(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM ...", help="The arguments you would give to `python`."),
    ],
) -> None:
    """Run a program; if it ends with a Keras error, explain it below the traceback.

    \b
    kdoctor run train.py --epochs 1
    kdoctor run -m package.train --epochs 1
    kdoctor run --python .venv/bin/python train.py

    The program runs as with `python`: its output, input, exit code and signals are unchanged. Its
    Python is the activated one, the project's .venv, or the one that runs kdoctor. Nothing is
    explained with Python's -I and -E, or if the program catches the error itself.

    Exit code: that of the program; 2 if it cannot be started.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.watch.command import run as become  # noqa: PLC0415

    raise typer.Exit(become(program))
