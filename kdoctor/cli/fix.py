"""``kdoctor fix``: show the repair, or write it."""

from __future__ import annotations

from typing import Annotated

import typer

from kdoctor.cli import options
from kdoctor.cli.choices import Color, Shape

Apply = Annotated[bool, typer.Option("--apply", help="Write the repaired files.")]
Undo = Annotated[
    bool,
    typer.Option(
        "--undo",
        help="Take back the last --apply in this project: write what the files were before, all "
        "but those that were changed since. Again for the one before it.",
    ),
]
AddIgnores = Annotated[
    bool,
    typer.Option(
        "--add-ignores",
        help="Repair nothing: put `# kdoctor: ignore[…]` on the line of every finding, so that "
        "only what is new is reported from now on.",
    ),
]
Reason = Annotated[
    str,
    typer.Option("--reason", metavar="TEXT", help="What --add-ignores writes behind the codes."),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Run the definitions of each file before the fix on Keras 2 and after it on Keras 3; "
        "what is fixed is what such a definition needs, and was found equal. The rest stays as it "
        "is, and is named.",
    ),
]
ShapeOption = Annotated[
    Shape,
    typer.Option("--format", help="Write the diff (text), or all that is fixed and left (json)."),
]
ExitNonZeroOnFix = Annotated[
    bool,
    typer.Option(
        "--exit-non-zero-on-fix", help="With --apply, end with 1 also where all was fixed."
    ),
]


def fix(  # noqa: PLR0913 - the options of the command
    paths: options.Paths = None,
    *,
    apply: Apply = False,
    undo: Undo = False,
    unsafe: options.Unsafe = None,
    verify: Verify = False,
    add_ignores: AddIgnores = False,
    reason: Reason = "",
    python: options.PythonOption = None,
    seconds: options.SecondsOption = 60.0,
    no_sandbox: options.NoSandbox = False,
    target: options.TargetOption = None,
    namespace: options.NamespaceOption = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    preview: options.Preview = None,
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
    shape: ShapeOption = Shape.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    exit_non_zero_on_fix: ExitNonZeroOnFix = False,
    color: options.ColorOption = Color.AUTO,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Show the repair as a diff; with --apply, write it.

    \b
    kdoctor fix src/                        a coloured diff; writes nothing
    kdoctor fix src/ > keras3.patch         the same for `patch -p1` (notebooks: to read only)
    kdoctor fix src/ --apply                writes the safe fixes
    kdoctor fix src/ --apply --unsafe --select KD101
    kdoctor fix src/ --apply --verify       writes only what computes the same on Keras 3
    kdoctor fix --undo                      takes the last --apply back
    kdoctor fix src/ --namespace keras      moves imports of tf.keras to keras, too
    kdoctor fix src/ --apply --add-ignores --reason "until we leave Keras 2"
    kdoctor fix - --apply --stdin-filename src/old.py < old.py > new.py
    kdoctor fix src/ --apply --output left.sarif --exit-non-zero-on-fix

    A report that --output asks for is about what is left.

    Exit code without --apply: 0 nothing to fix, 1 there is. With --apply: that of `kdoctor scan`
    afterwards, 0 no finding is left but what the settings' baseline knows, 1 findings are left. In
    both cases 2 where a file could not be handled. With --undo: 0 all files are as they were
    before, 2 some were changed since and left alone.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.cli import run_fix  # noqa: PLC0415

    with options.misuse_shown():
        code = run_fix.fix(
            paths,
            apply=apply,
            undo=undo,
            unsafe=unsafe,
            verify=verify,
            add_ignores=add_ignores,
            reason=reason,
            python=python,
            seconds=seconds,
            no_sandbox=no_sandbox,
            target=target,
            namespace=namespace,
            select=select,
            ignore=ignore,
            preview=preview,
            exclude=exclude,
            force_exclude=force_exclude,
            stdin_filename=stdin_filename,
            config=config,
            isolated=isolated,
            kind=kind,
            no_gate=no_gate,
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
