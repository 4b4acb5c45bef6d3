"""``kdoctor config``: the settings in force, and where each comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams


def config(  # noqa: PLR0913 - the options of the command
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A file, or a folder and what lies in it.")
    ] = ".",
    *,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Write the JSON schema of kdoctor.toml instead, for editors."
        ),
    ] = False,
    file: options.ConfigOption = None,
    isolated: options.Isolated = False,
    target: options.TargetOption = None,
    namespace: options.NamespaceOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    preview: options.Preview = None,
    exclude: options.Exclude = None,
    unsafe: options.Unsafe = None,
    format_name: options.FormatName = None,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """Say which settings are in force for a path, and which file and line each comes from.

    \b
    kdoctor config src/train.py
    kdoctor config src --select KD1        with what the command line would change
    kdoctor config --json
    kdoctor config --schema > kdoctor.schema.json

    The kdoctor.toml nearest above a file decides for it, or the pyproject.toml with a table
    [tool.kdoctor]; its settings are target, select, ignore, preview, per-file-ignores, exclude,
    extend, namespace, unsafe, format, baseline and cache-dir. The command line comes first.

    Exit code: 0, or 2 where a setting cannot be what it is or a file of the project cannot be
    understood.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.engine.selection.effective_settings import overview  # noqa: PLC0415
    from kdoctor.report import settings  # noqa: PLC0415
    from kdoctor.report.formats import format_by_name  # noqa: PLC0415
    from kdoctor.report.summary import write_project  # noqa: PLC0415

    page = streams.output(color)
    if schema:
        settings.write_schema(page)
        return
    found = overview(
        path,
        {
            "target": target,
            "namespace": namespace,
            "select": choices.split(select),
            "ignore": choices.split(ignore),
            "preview": preview,
            "exclude": exclude,
            "config": file,
            "isolated": isolated,
        },
        unsafe=unsafe,
        form=format_name,
    )
    form = next(each for each in found.settings if each.key == "format")
    format_by_name(form.value, f"{form.origins[0]}: format: ")
    (settings.write_json if json else settings.write_text)(found, page)
    write_project(found.project, streams.notes(color))
    if found.project.unreadable:
        raise typer.Exit(2)
