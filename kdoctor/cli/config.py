"""``kdoctor config``: effective settings, and where each comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams


def config(  # noqa: PLR0913 - the options of the command
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A file, or a folder with its contents.")
    ] = ".",
    *,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Write the JSON schema of kdoctor.toml (for editors) instead."
        ),
    ] = False,
    file: options.ConfigOption = None,
    isolated: options.Isolated = False,
    target: options.TargetOption = None,
    namespace: options.NamespaceOption = None,
    backend: options.BackendOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    preview: options.Preview = None,
    project_types: options.ProjectTypes = None,
    trust_rules: options.TrustRules = False,
    exclude: options.Exclude = None,
    unsafe: options.Unsafe = None,
    format_name: options.FormatName = None,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """Show the effective settings for a path, and the file and line each comes from.

    \b
    kdoctor config src/train.py
    kdoctor config src --select KD1        including what the command line would change
    kdoctor config --json
    kdoctor config --schema > kdoctor.schema.json

    The nearest kdoctor.toml above a file applies to it, or the nearest pyproject.toml with a
    [tool.kdoctor] table. Settings are target, select, ignore, preview, per-file-ignores, exclude,
    extend, namespace, unsafe, format, baseline and cache-dir. The command line takes precedence.

    Exit code: 0, or 2 if a setting is invalid or a file of the project cannot be parsed.
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
        choices.engine_options(
            target=target,
            namespace=namespace,
            backend=backend,
            select=select,
            ignore=ignore,
            preview=preview,
            project_types=project_types,
            trust_rules=trust_rules,
            exclude=exclude,
            config=file,
            isolated=isolated,
        ),
        unsafe=unsafe,
        form=format_name,
    )
    form = next(each for each in found.settings if each.key == "format")
    format_by_name(form.value, f"{form.origins[0]}: format: ")
    (settings.write_json if json else settings.write_text)(found, page)
    write_project(found.project, streams.notes(color))
    if found.project.unreadable:
        raise typer.Exit(2)
