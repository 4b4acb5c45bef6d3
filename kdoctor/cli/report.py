"""``kdoctor report``: progress of a migration."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.errors import UsageProblem

Html = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Write the page to this file.", show_default=False),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="REV",
        help="Add a burndown: also scan the commits from this one (a tag, a branch, HEAD~50) to "
        "the newest. The working tree is not touched.",
        show_default=False,
    ),
]
Commits = Annotated[
    int,
    typer.Option("--commits", min=2, max=500, metavar="N", help="Scan at most N commits."),
]


def report(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    html: Html = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write the numbers to standard output, as JSON.")
    ] = False,
    since: Since = None,
    commits: Commits = 24,
    target: options.TargetOption = None,
    backend: options.BackendOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    preview: options.Preview = None,
    project_types: options.ProjectTypes = None,
    trust_rules: options.TrustRules = False,
    exclude: options.Exclude = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    no_cache: options.NoCache = False,
    jobs: options.Jobs = None,
    color: options.ColorOption = choices.Color.AUTO,
    quiet: options.Quiet = False,
) -> None:
    """Write a page on the progress of a migration: what is left, and what breaks first.

    The page is one file that needs no network and no scripts: findings by folder, rule and effort,
    errors that stop imports, finished files, a burndown over the git history, and what couples the
    code to TensorFlow.

    \b
    kdoctor report --html report.html
    kdoctor report src --html report.html --since v1.0
    kdoctor report --json --target keras==3

    Exit code: 0 written, whatever it says; 2 not written, or nothing was read. Files that could
    not be checked are named on the page.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor import progress as migration_progress  # noqa: PLC0415
    from kdoctor.report.migration import html_page, write_json, write_summary  # noqa: PLC0415
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.output_files import check_place, write_whole  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.report.summary import (  # noqa: PLC0415
        write_nothing_read,
        write_project,
        write_unread,
    )

    named = paths or ["."]
    if html is None and not json:
        raise UsageProblem("say what to write: --html report.html, or --json")
    if choices.STDIN in named:
        raise UsageProblem("a report needs files or folders, not standard input")
    if html is not None:
        check_place(html, f"--html {html}")
    shown = is_terminal(sys.stderr) and not quiet
    wanted = choices.engine_options(
        target=target,
        backend=backend,
        select=select,
        ignore=ignore,
        preview=preview,
        project_types=project_types,
        trust_rules=trust_rules,
        exclude=exclude,
        # Earlier commits are scanned in another folder.
        config=config and os.path.abspath(config),  # noqa: PTH100
        isolated=isolated,
        no_cache=no_cache,
        jobs=jobs,
    )
    wanted |= {"edits": False, "diffs": False, "anchors": False}
    past = None if since is None else migration_progress.history(named, since, commits)
    with progress(sys.stderr, shown=shown) as report_progress:
        found = migration_progress.overview(named, {**wanted, "progress": report_progress})
    if past is not None:
        with progress(sys.stderr, shown=shown, what="Commits") as report_progress:
            history = migration_progress.burndown(past, found.scan.target, wanted, report_progress)
        found = replace(found, burndown=history)
    page = streams.output(color, quiet=quiet)
    if html is not None:
        write_whole(html, html_page(found, _made()), f"--html {html}")
    if json:
        write_json(found, page)
    elif not quiet:
        page.line(f"Wrote {html}.")
        write_summary(found, page)
    if found.scan.unreadable or found.scan.project.unreadable:
        write_unread(found.scan, streams.notes(color, quiet=quiet))
        write_project(found.scan.project, streams.notes(color, quiet=quiet))
    if found.scan.has_read_nothing:
        write_nothing_read(streams.notes(color, quiet=quiet))
        raise typer.Exit(2)


def _made() -> int | None:
    """Return the build time from SOURCE_DATE_EPOCH (reproducible-builds.org), None without it."""
    try:
        return int(os.environ.get("SOURCE_DATE_EPOCH", ""))
    except ValueError:
        return None
