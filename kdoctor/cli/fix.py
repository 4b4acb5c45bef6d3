"""``kdoctor fix``: show the fixes, or write them."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import options
from kdoctor.cli.choices import Color, FixFormat

Apply = Annotated[bool, typer.Option("--apply", help="Write the fixed files.")]
Undo = Annotated[
    bool,
    typer.Option(
        "--undo",
        help="Undo the last --apply in this project: restore the files, except those changed "
        "since. Repeat to undo the one before it.",
    ),
]
Interactive = Annotated[
    bool,
    typer.Option(
        "--interactive",
        "-i",
        help="Ask about each fix, and write those that are accepted. A fix that is not proven safe "
        "is asked about as well, and says why.",
    ),
]
AddIgnores = Annotated[
    bool,
    typer.Option(
        "--add-ignores",
        help="Fix nothing: add `# kdoctor: ignore[…]` to the line of every finding, so that only "
        "new ones are reported from now on.",
    ),
]
Reason = Annotated[
    str,
    typer.Option(
        "--reason", metavar="TEXT", help="Text that --add-ignores writes after the codes."
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Run the definitions of each file before the fix on Keras 2 and after it on Keras 3, "
        "and write only the fixes that definitions with equal results need. The rest is left "
        "unchanged, and listed.",
    ),
]
ShapeOption = Annotated[
    FixFormat,
    typer.Option("--format", help="The diff (text), or all that is fixed and left (json)."),
]
ExitNonZeroOnFix = Annotated[
    bool,
    typer.Option(
        "--exit-non-zero-on-fix", help="With --apply, exit with 1 even if everything was fixed."
    ),
]


def fix(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    apply: Apply = False,
    undo: Undo = False,
    interactive: Interactive = False,
    unsafe: options.Unsafe = None,
    verify: Verify = False,
    add_ignores: AddIgnores = False,
    reason: Reason = "",
    python: options.PythonOption = None,
    seconds: options.SecondsOption = 60.0,
    no_sandbox: options.NoSandbox = False,
    target: options.TargetsOption = None,
    namespace: options.NamespaceOption = None,
    backend: options.BackendOption = None,
    keras_2_helpers: options.Keras2HelpersOption = None,
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
    shape: ShapeOption = FixFormat.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    exit_non_zero_on_fix: ExitNonZeroOnFix = False,
    color: options.ColorOption = Color.AUTO,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Show the fixes as a diff; with --apply, write them.

    \b
    kdoctor fix src/                        show a coloured diff; write nothing
    kdoctor fix src/ > keras3.patch         the same for `patch -p1` (notebooks: to read only)
    kdoctor fix src/ --apply                write the safe fixes
    kdoctor fix src/ --apply --unsafe --select KD101
    kdoctor fix src/ --interactive          ask about each fix, as `git add --patch` does
    kdoctor fix src/ --apply --verify       write only what computes the same on Keras 3
    kdoctor fix --undo                      undo the last --apply
    kdoctor fix src/ --namespace keras      moves imports of tf.keras to keras, too
    kdoctor fix src/ --apply --add-ignores --reason "until we leave Keras 2"
    kdoctor fix - --apply --stdin-filename src/old.py < old.py > new.py
    kdoctor fix src/ --apply --output left.sarif --exit-non-zero-on-fix

    Reports written with --output list what is left after the fix.

    Exit code without --apply: 0 nothing to fix, 1 something to fix. With --apply: that of
    `kdoctor scan` afterwards, 0 no findings left (beyond the baseline in the settings), 1 findings
    left. In both cases 2 if a file could not be handled. With --undo: 0 all files restored, 2 some
    were changed since and left alone.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.cli import run_fix  # noqa: PLC0415

    with options.conflicts_as_bad_parameters():
        code = run_fix.fix(
            paths,
            apply=apply,
            undo=undo,
            interactive=interactive,
            unsafe=unsafe,
            verify=verify,
            add_ignores=add_ignores,
            reason=reason,
            python=python,
            seconds=seconds,
            no_sandbox=no_sandbox,
            target=",".join(target or ()) or None,
            namespace=namespace,
            backend=backend,
            keras_2_helpers=keras_2_helpers,
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
            shape=shape,
            output=output,
            exit_zero=exit_zero,
            exit_non_zero_on_fix=exit_non_zero_on_fix,
            color=color,
            quiet=quiet,
            verbose=verbose,
        )
    raise typer.Exit(code)
