"""``kdoctor env``: health check of a Python environment."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams


def env(
    *,
    python: Annotated[
        str | None,
        typer.Option(
            "--python",
            metavar="PATH",
            help="The Python to check: an executable, or the folder of an environment.  [default: "
            "the activated one, the project's .venv, or the one that runs kdoctor]",
            show_default=False,
        ),
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also import the frameworks, in a separate process.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """Check that what is installed works together: TensorFlow, Keras, NumPy, settings, files.

    \b
    kdoctor env
    kdoctor env --python .venv/bin/python --deep

    Nothing is imported without --deep. Each line is ok, a warning or broken, with a remedy.

    Exit code: 0 healthy (even with warnings), 1 broken, 2 there is no such Python.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.diagnose.environment import examine  # noqa: PLC0415
    from kdoctor.report.environment import write_json, write_text  # noqa: PLC0415

    health_report = examine(python, deep=deep)
    page = streams.output(color)
    if json:
        write_json(health_report, page)
    else:
        write_text(health_report, page)
    if not health_report.healthy:
        raise typer.Exit(1)
