"""``kdoctor migrate``: the plan of a migration."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.errors import UsageProblem


def migrate(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    target: options.TargetOption = None,
    namespace: options.NamespaceOption = None,
    backend: options.BackendOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    preview: options.Preview = None,
    trust_rules: options.TrustRules = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    project_types: options.ProjectTypes = None,
    kind: options.As = None,
    no_cache: options.NoCache = False,
    jobs: options.Jobs = None,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Carry the plan out in git, on a branch of its own, and run the tests after each "
            "step. They run with all your permissions.",
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what was begun and interrupted.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove the branch and its working tree.")
    ] = False,
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="COMMAND",
            help="With --apply: what runs the tests. A runner other than pytest writes JUnit XML "
            "to the file that {junit} in the command stands for.  [default: pytest]",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="COMMAND",
            help="With --apply: a program that must run before and after, where there are no "
            "tests.",
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            "--python",
            metavar="PYTHON",
            help="With --apply: the Python with Keras 3.  [default: the one that is activated, "
            "else that of the project's .venv, else the one that runs kdoctor]",
            show_default=False,
        ),
    ] = None,
    old_python: Annotated[
        str | None,
        typer.Option(
            "--old-python",
            metavar="PYTHON",
            help="With --apply: a Python with Keras 2.  [default: that of --python, with tf_keras "
            "under the names keras and tensorflow.keras]",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=1.0,
            metavar="N",
            help="With --apply: stop a run of the tests that takes longer.  [default: 1800]",
            show_default=False,
        ),
    ] = None,
    test_seconds: Annotated[
        float | None,
        typer.Option(
            "--test-seconds",
            min=1.0,
            metavar="N",
            help="With --apply: fail a test of pytest that takes longer.  [default: 300]",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            min=0.01,
            metavar="MINUTES",
            help="With --apply: stop when all runs of the tests have taken so long, with what was "
            "reached.  [default: no limit]",
            show_default=False,
        ),
    ] = None,
    output_format: Annotated[
        choices.FixFormat, typer.Option("--format", help="Output format.")
    ] = choices.FixFormat.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a page to this file as well: the plan, or what a migration came to.",
            show_default=False,
        ),
    ] = None,
    color: options.ColorOption = choices.Color.AUTO,
    quiet: options.Quiet = False,
) -> None:
    """Plan the way of a project to Keras 3: what to do, in which order; or carry it out.

    The requirements that keep it on Keras 2 (also in Dockerfiles, CI files and notebooks), packages
    that do not come along, the errors that stop most files, fixes that are proven safe, fixes that
    tests must judge, saved models, and what is left for people. Nothing is written.

    With --apply, the tests are run on Keras 2, then the steps are carried out one by one: what
    loses a test is taken out, and fixes that no proof calls safe are kept where a test that passes
    runs them. Your own files stay as they are until you merge the branch.

    \b
    kdoctor migrate
    kdoctor migrate src --target keras==3.15.1 --html plan.html
    kdoctor migrate --apply --test "pytest -q tests" --old-python .venv-keras2/bin/python
    kdoctor migrate --apply --run "python train.py --epochs 1"
    kdoctor migrate --resume

    Exit code: 0 nothing is left to do, 1 something is, 2 a file could not be handled, nothing
    was read, or the plan cannot be carried out here.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.cli import run_migrate  # noqa: PLC0415
    from kdoctor.migrate import plan as plan_of  # noqa: PLC0415
    from kdoctor.migrate import target_of  # noqa: PLC0415
    from kdoctor.project import Configs, show_chain  # noqa: PLC0415
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.plan import write_json, write_text  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.report.summary import write_nothing_read, write_project  # noqa: PLC0415

    work = run_migrate.Work(apply, resume, undo)
    to = run_migrate.Written(json or output_format is choices.FixFormat.JSON, html)
    how = run_migrate.Carried(test, run, python, old_python, seconds, test_seconds, budget)
    run_migrate.check(work, how, paths, to)
    if undo:
        raise typer.Exit(run_migrate.undo(streams.output(color, quiet=quiet)))
    named = paths or ["."]
    if choices.STDIN in named:
        raise UsageProblem("a plan needs files or folders, not standard input")
    about: choices.EngineChoices = {
        "target": target,
        "namespace": namespace,
        "backend": backend,
        "select": select,
        "ignore": ignore,
        "preview": preview,
        "trust_rules": trust_rules,
        "exclude": exclude,
        "force_exclude": force_exclude,
        "config": config,
        "isolated": isolated,
        "project_types": project_types,
        "kind": kind,
        "no_cache": no_cache,
        "jobs": jobs,
    }
    wanted = choices.engine_options(**about)
    wanted |= {"edits": False, "diffs": False, "anchors": False}
    pages = streams.output(color, quiet=quiet), streams.notes(color, quiet=quiet)
    if resume:
        code = run_migrate.carry_out(work, how, named, wanted, None, pages, to=to)
        raise typer.Exit(code)
    chain = show_chain(named, configs=Configs(config, isolated=isolated))
    is_named = chain.taken or chain.settings.layer("target") is not None
    now = chain.target if is_named else None
    if apply:
        targets = (now, target_of(now, target))
        code = run_migrate.carry_out(work, how, named, wanted, targets, pages, to=to)
        raise typer.Exit(code)
    with progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as report_progress:
        found = plan_of(
            named,
            now,
            {**wanted, "progress": report_progress},
        )
    arguments = choices.arguments_again(paths, **about)
    page = streams.output(color, quiet=quiet, arguments=arguments)
    notes = streams.notes(color, quiet=quiet)
    (write_json if to.as_json else write_text)(found, page)
    to.write_plan(found, page, notes)
    scan = found.overview.scan
    write_project(scan.project, notes)
    if scan.has_read_nothing:
        write_nothing_read(notes)
    if scan.has_read_nothing or scan.unreadable or scan.project.unreadable:
        raise typer.Exit(2)
    raise typer.Exit(1 if found.steps else 0)
