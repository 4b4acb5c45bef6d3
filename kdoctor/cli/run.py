"""``kdoctor run``: a program as it is, with the diagnosis under its traceback."""

from __future__ import annotations

from typing import Annotated

import typer


def run(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM ...", help="What `python` would be given, as it is."),
    ],
) -> None:
    """Run a program; where it ends with an error of Keras, say under it what that means.

    \b
    kdoctor run train.py --epochs 1
    kdoctor run -m package.train --epochs 1
    kdoctor run --python .venv/bin/python train.py

    The program runs as with `python`: its output, input, exit code and signals are its own. Its
    Python is the one that is activated, the project's .venv, or the one that runs kdoctor. With
    Python's -I and -E nothing is said. What the program catches itself, it keeps to itself.

    Exit code: that of the program; 2 where it cannot be started.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.watch.command import run as become  # noqa: PLC0415

    raise typer.Exit(become(program))
