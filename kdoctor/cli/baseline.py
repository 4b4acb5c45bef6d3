"""``kdoctor baseline``: accept today's findings, and no new ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from kdoctor.cli import choices, options, streams

if TYPE_CHECKING:
    from kdoctor.engine import Options
    from kdoctor.engine.baseline import Comparison
    from kdoctor.report.output import Page

baseline = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

File = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="The baseline file.  [default: the one in the settings, else the nearest "
        ".kdoctor-baseline.json above, else one beside the project's settings]",
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Also add findings that the baseline does not have yet.")
]


@baseline.callback()
def _baseline() -> None:
    """Accept today's findings: only new ones fail, and fixed ones are removed.

    \b
    kdoctor baseline write src/       record all findings
    kdoctor baseline check src/       fail if one is new, or a recorded one is fixed
    kdoctor baseline prune src/       remove what is fixed
    kdoctor scan src/ --baseline .kdoctor-baseline.json

    A finding is recognized even if its lines move, its file is renamed or code around it changes.
    Keep the file in version control.
    """  # noqa: D301 - \b keeps the lines of the examples


@baseline.command("write")
def write(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    file: File = None,
    force: Force = False,
    target: options.TargetsOption = None,
    namespace: options.NamespaceOption = None,
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
    verbose: options.Verbose = False,
) -> None:
    """Record all findings as known.

    \b
    kdoctor baseline write src/
    kdoctor baseline write src/ --force         new findings too

    An existing baseline only shrinks: if there are new findings, or new files that cannot be
    checked, it is left unchanged, unless --force is given. Entries for files outside PATH are
    kept. Files that cannot be checked are named, and accepted.

    Exit code: 0 written, 1 not written because there is something new, 2 kdoctor failed on a
    file, nothing was read, or wrong usage.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.engine.baseline import is_acceptable  # noqa: PLC0415
    from kdoctor.report import baseline as report  # noqa: PLC0415

    how = choices.engine_options(
        target=",".join(target or ()) or None,
        namespace=namespace,
        backend=backend,
        select=select,
        ignore=ignore,
        preview=preview,
        project_types=project_types,
        trust_rules=trust_rules,
        exclude=exclude,
        config=config,
        isolated=isolated,
        no_cache=no_cache,
        jobs=jobs,
    )
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    compared = _compared(paths, file, how, notes, writes=True, may_be_new=True)
    page = streams.output(color, quiet=quiet, verbose=verbose)
    if compared.result.has_read_nothing:
        raise typer.Exit(2)
    is_new = bool(compared.result.findings or compared.result.unhandled)
    if compared.baseline.path.exists() and is_new and not force:
        report.write_new(compared, page)
        report.write_refused(compared, notes)
        raise typer.Exit(1)
    compared.baseline.write([*compared.entries, *compared.unseen], compared.not_checked)
    report.write_unread(compared, page)
    report.write_written(compared, page)
    raise typer.Exit(0 if all(map(is_acceptable, compared.result.unhandled)) else 2)


@baseline.command("check")
def check(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    file: File = None,
    target: options.TargetsOption = None,
    namespace: options.NamespaceOption = None,
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
    verbose: options.Verbose = False,
) -> None:
    """Show new findings, and which known ones are fixed. Writes nothing.

    \b
    kdoctor baseline check src/
    kdoctor baseline check src/ --baseline old.json --quiet

    Exit code: 0 findings and baseline agree, 1 some findings are new or fixed, 2 a file could not
    be handled, or wrong usage.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.report import baseline as report  # noqa: PLC0415

    how = choices.engine_options(
        target=",".join(target or ()) or None,
        namespace=namespace,
        backend=backend,
        select=select,
        ignore=ignore,
        preview=preview,
        project_types=project_types,
        trust_rules=trust_rules,
        exclude=exclude,
        config=config,
        isolated=isolated,
        no_cache=no_cache,
        jobs=jobs,
    )
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    compared = _compared(paths, file, how, notes)
    page = streams.output(color, quiet=quiet, verbose=verbose)
    report.write_new(compared, page)
    report.write_check(compared, page)
    raise typer.Exit(_problem(compared) or int(_has_changed(compared)))


@baseline.command("prune")
def prune(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    file: File = None,
    target: options.TargetsOption = None,
    namespace: options.NamespaceOption = None,
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
    verbose: options.Verbose = False,
) -> None:
    """Remove what is fixed. Adds nothing.

    \b
    kdoctor baseline prune src/

    Exit code: 0 done, even if there are new findings; 2 a file could not be handled (its entries
    are kept), or wrong usage.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.report import baseline as report  # noqa: PLC0415

    how = choices.engine_options(
        target=",".join(target or ()) or None,
        namespace=namespace,
        backend=backend,
        select=select,
        ignore=ignore,
        preview=preview,
        project_types=project_types,
        trust_rules=trust_rules,
        exclude=exclude,
        config=config,
        isolated=isolated,
        no_cache=no_cache,
        jobs=jobs,
    )
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    compared = _compared(paths, file, how, notes, writes=True)
    page = streams.output(color, quiet=quiet, verbose=verbose)
    if compared.fixed or compared.checked_again:
        compared.baseline.write(compared.pruned, compared.pruned_not_checked)
    report.write_unread(compared, page)
    report.write_pruned(compared, page)
    raise typer.Exit(_problem(compared))


def _compared(  # noqa: PLR0913 - what the three commands share
    paths: list[str] | None,
    file: str | None,
    how: Options,
    notes: Page,
    *,
    writes: bool = False,
    may_be_new: bool = False,
) -> Comparison:
    """Scan the paths and compare the findings with the baseline."""
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.engine.baseline import (  # noqa: PLC0415
        Baseline,
        check_writable,
        compare,
        default_file,
    )
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.report.summary import write_nothing_read, write_project  # noqa: PLC0415

    named = paths or ["."]
    if choices.STDIN in named:
        raise typer.BadParameter("a baseline needs files: - (standard input) has no name")
    policy = engine.FileSelection(named, how)
    path = Path(file) if file else default_file(policy)
    if writes and not file:
        check_writable(policy, path)
    known = Baseline(path) if may_be_new and not path.exists() else Baseline.read(path)
    with progress(
        sys.stderr, shown=is_terminal(sys.stderr) and notes.verbosity >= 0
    ) as report_progress:
        result = engine.scan(
            named, **how | {"edits": False, "diffs": False, "progress": report_progress}
        )
    compared = compare(result, known, named, policy.selects)
    # Of the files that cannot be checked, the accepted ones too; of remarks, those on the baseline.
    write_project(replace(result.project, remarks=compared.result.project.remarks), notes)
    if result.has_read_nothing:
        write_nothing_read(notes)
    return compared


def _has_changed(compared: Comparison) -> bool:
    return bool(compared.result.findings or compared.fixed or compared.checked_again)


def _problem(compared: Comparison) -> int:
    result = compared.result
    return 2 if result.unhandled or result.has_read_nothing else 0
