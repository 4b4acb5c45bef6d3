"""``kdoctor scan``: report findings."""

from __future__ import annotations

import typer

from kdoctor.cli import options
from kdoctor.cli.choices import Color, Show


def scan(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    target: options.TargetsOption = None,
    namespace: options.NamespaceOption = None,
    backend: options.BackendOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    preview: options.Preview = None,
    trust_rules: options.TrustRules = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    stdin_filename: options.StdinFilename = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    kind: options.As = None,
    no_gate: options.NoGate = False,
    project_types: options.ProjectTypes = None,
    no_cache: options.NoCache = False,
    jobs: options.Jobs = None,
    executor: options.ExecutorOption = None,
    format_name: options.FormatName = None,
    output: options.Output = None,
    statistics: options.Statistics = False,
    exit_zero: options.ExitZero = False,
    baseline: options.BaselineOption = None,
    no_baseline: options.NoBaseline = False,
    diff: options.DiffOption = None,
    show: options.ShowOption = Show.FOLDED,
    color: options.ColorOption = Color.AUTO,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Report what breaks, where, why, and what to write instead. Changes nothing.

    \b
    kdoctor scan                                   everything below this folder
    kdoctor scan train.py notebook.ipynb README.md
    kdoctor scan src --target tensorflow==2.15 --select KD1,KD2
    git show HEAD:train.py | kdoctor scan - --stdin-filename train.py
    kdoctor scan notes.txt --as markdown --format json
    kdoctor scan --statistics                      findings per rule, and how many can be fixed
    kdoctor scan --format concise | head           path:line:column: CODE message
    kdoctor scan --baseline .kdoctor-baseline.json   only what is new
    kdoctor scan --diff main                       only lines that this branch changes
    kdoctor scan repositories --executor dask://scheduler:8786
    kdoctor scan -o kdoctor.sarif -o junit=tests.xml -o gitlab=quality.json --exit-zero

    Exit code: 0 no findings (or --exit-zero), 1 findings of any severity, 2 a file could not be
    handled, or wrong usage.
    """  # noqa: D301 - \b keeps the lines of the examples
    # Imported here and in the other commands: `kdoctor --help` needs none of it.
    from kdoctor.cli import run_scan  # noqa: PLC0415

    with options.conflicts_as_bad_parameters():
        code = run_scan.scan(
            paths,
            target=",".join(target or ()) or None,
            namespace=namespace,
            backend=backend,
            select=select,
            ignore=ignore,
            preview=preview,
            trust_rules=trust_rules,
            exclude=exclude,
            force_exclude=force_exclude,
            stdin_filename=stdin_filename,
            config=config,
            isolated=isolated,
            kind=kind,
            no_gate=no_gate,
            project_types=project_types,
            no_cache=no_cache,
            jobs=jobs,
            executor=executor,
            format_name=format_name,
            output=output,
            statistics=statistics,
            exit_zero=exit_zero,
            baseline=baseline,
            no_baseline=no_baseline,
            diff=diff,
            show=show,
            color=color,
            quiet=quiet,
            verbose=verbose,
        )
    raise typer.Exit(code)
