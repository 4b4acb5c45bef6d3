"""``kdoctor scan``: say what is wrong."""

from __future__ import annotations

import sys

import typer

from kdoctor.cli import options, streams


def scan(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    target: options.TargetOption = None,
    namespace: options.NamespaceOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    stdin_filename: options.StdinFilename = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    kind: options.As = None,
    no_gate: options.NoGate = False,
    no_cache: options.NoCache = False,
    jobs: options.Jobs = None,
    executor: options.ExecutorOption = None,
    format_name: options.FormatName = None,
    output: options.Output = None,
    statistics: options.Statistics = False,
    exit_zero: options.ExitZero = False,
    baseline: options.BaselineOption = None,
    no_baseline: options.NoBaseline = False,
    color: options.ColorOption = options.Color.AUTO,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what breaks, where, why, and what to write instead. Changes nothing.

    \b
    kdoctor scan                                   everything below this folder
    kdoctor scan train.py notebook.ipynb README.md
    kdoctor scan src --target tensorflow==2.15 --select KD1,KD2
    git show HEAD:train.py | kdoctor scan - --stdin-filename train.py
    kdoctor scan notes.txt --as markdown --format json
    kdoctor scan --statistics                      how often each rule, and what can be fixed
    kdoctor scan --format concise | head           path:line:column: CODE message
    kdoctor scan --baseline .kdoctor-baseline.json   only what is not known yet
    kdoctor scan repositories --executor dask://scheduler:8786
    kdoctor scan -o kdoctor.sarif -o junit=tests.xml -o gitlab=quality.json --exit-zero

    Exit code: 0 no finding (with --exit-zero also with findings), 1 findings of whatever severity,
    2 a file could not be handled or the call cannot be done as asked.
    """  # noqa: D301 - \b keeps the lines of the examples
    # Imported here and in the other commands: `kdoctor --help` needs none of it.
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.cli.baseline import read_baseline  # noqa: PLC0415
    from kdoctor.engine.baseline import compare  # noqa: PLC0415
    from kdoctor.report.baseline import write_note  # noqa: PLC0415
    from kdoctor.report.formats import format_by_name, statistics_of  # noqa: PLC0415
    from kdoctor.report.outputs import outputs_of, write_outputs  # noqa: PLC0415
    from kdoctor.report.page import is_terminal  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.report.summary import write_project  # noqa: PLC0415

    named = options.named_paths(paths, stdin_filename)
    how: engine.Options = {
        "target": target,
        "namespace": namespace,
        "select": options.split(select),
        "ignore": options.split(ignore),
        "exclude": exclude,
        "force_exclude": force_exclude,
        "config": config,
        "isolated": isolated,
        "kind": options.kind_of(kind),
        "gate": not no_gate,
        "cache": not no_cache,
        "jobs": jobs,
        "stdin_filename": stdin_filename,
    }
    policy = engine.Policy(named, how)
    known = None if no_baseline else read_baseline(baseline, policy)
    chosen = options.format_in_force(format_name, policy)
    form = format_by_name(*chosen)
    write = statistics_of(chosen[0]) if statistics else form.write
    outputs = outputs_of(output or [])
    shown = [form, *(each.form for each in outputs)]
    page = streams.output(color, quiet=quiet, verbose=verbose)
    how |= {
        "diffs": any(each.diffs for each in shown),
        "replacements": any(each.replacements for each in shown),
        "anchors": known is not None or any(each.fingerprints for each in shown),
        "stdin": options.read_stdin(named),
    }
    with (
        options.executor_at(executor, jobs) as workers,
        progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as told,
    ):
        result = engine.scan(named, **how | {"progress": told, "executor": workers})
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    compared = known and compare(result, known, named, policy.asks)
    result = compared.result if compared else result
    write_outputs(result, outputs)
    write(result, page)
    write_project(result.project, notes)
    if compared:
        write_note(compared, notes)
    if result.unreadable or result.project.unreadable:
        raise typer.Exit(2)
    if result.findings and not exit_zero:
        raise typer.Exit(1)
