"""``kdoctor target``: which Keras a project runs on, and how we know."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams


def target(  # noqa: PLR0913 - the options of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="A file or folder of the project.  [default: .]",
            show_default=False,
        ),
    ] = None,
    *,
    explicit: options.TargetOption = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """Show which Keras a project runs on: each place checked, what it says, and what counts.

    \b
    kdoctor target
    kdoctor target apps/classifier --json

    Exit code: 0, or 2 if a path does not exist or a file of the project cannot be parsed.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.project import Configs, show_chain  # noqa: PLC0415
    from kdoctor.project.root import check_exists  # noqa: PLC0415
    from kdoctor.report.target import write_json, write_problems, write_text  # noqa: PLC0415

    for path in paths or ():
        check_exists(path)
    configs = Configs(config, isolated=isolated)
    chain = show_chain(paths or ["."], explicit, configs=configs)
    page = streams.output(color)
    if json:
        write_json(chain, page)
    else:
        write_text(chain, page)
    write_problems(chain, streams.notes(color))
    if chain.problems:
        raise typer.Exit(2)
