"""``kdoctor fix``: show the repair, or write it."""

from __future__ import annotations

import enum
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from kdoctor.cli import options, streams

if TYPE_CHECKING:
    from kdoctor.engine import FixResult, Options
    from kdoctor.report.page import Page

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
        "with --apply, write only the files in which what the fix changes is still the same.",
    ),
]


class Shape(enum.StrEnum):
    """How a fix is written, for ``--format``."""

    TEXT = "text"
    JSON = "json"


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
    shape: ShapeOption = Shape.TEXT,
    output: options.Output = None,
    exit_zero: options.ExitZero = False,
    exit_non_zero_on_fix: ExitNonZeroOnFix = False,
    color: options.ColorOption = options.Color.AUTO,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Show the repair as a diff; with --apply, write it.

    \b
    kdoctor fix src/                        a coloured diff; writes nothing
    kdoctor fix src/ > keras3.patch         the same for `patch -p1`
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
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.cli.baseline import read_baseline  # noqa: PLC0415
    from kdoctor.engine.baseline import compare  # noqa: PLC0415
    from kdoctor.report import fix as report  # noqa: PLC0415
    from kdoctor.report.outputs import outputs_of, write_outputs  # noqa: PLC0415
    from kdoctor.report.page import is_terminal  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415

    named = options.named_paths(paths, stdin_filename)
    if undo:
        raise typer.Exit(_undo(named, apply=apply or verify, color=color, quiet=quiet))
    if apply and options.STDIN in named and len(named) > 1:
        raise typer.BadParameter("with --apply, - (standard input) must be the only path")
    if add_ignores and (verify or unsafe):
        raise typer.BadParameter("--add-ignores repairs nothing: leave --unsafe and --verify out")
    if reason and not add_ignores:
        raise typer.BadParameter("--reason belongs to --add-ignores")
    as_json = shape is Shape.JSON
    if apply and as_json and options.STDIN in named:
        raise typer.BadParameter("with --apply, standard input gives its repaired text, no JSON")
    outputs = outputs_of(output or [])
    stdin = options.read_stdin(named)
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
        "diffs": as_json or any(each.form.diffs for each in outputs),
        "replacements": as_json or any(each.form.replacements for each in outputs),
        "stdin": stdin,
        "stdin_filename": stdin_filename,
    }
    policy = engine.Policy(named, how)
    known = read_baseline(None, policy) if apply else None
    how["anchors"] = known is not None or any(each.form.fingerprints for each in outputs)
    with (
        options.executor_at(executor, jobs) as workers,
        progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as told,
    ):
        result = engine.fix(
            named,
            apply=False,
            unsafe=unsafe,
            add_ignores=reason if add_ignores else None,
            **how | {"progress": told, "executor": workers},
        )
    page = streams.output(color, quiet=quiet, verbose=verbose)
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    refused: dict[str, str] = {}
    if verify:
        refused = _verify(result, named, python, how, notes, unsafe=unsafe, limit=seconds)
    if apply:
        report.write_uncommitted(engine.at_risk(result, refused), notes)
        result = engine.write(result, refused)
    # What is known is fixed like all else; but what is left of it is no failure.
    left = compare(result.left, known, named, policy.asks).result if known else result.left
    write_outputs(left, outputs)
    if as_json:
        report.write_json(result, page)
    elif apply and stdin is not None:
        _print_fixed(result, stdin)
    elif apply:
        report.write_written(result, page)
    else:
        report.write_diff(result, page)
    # Apart from the diff, so that standard output is a patch and nothing else.
    report.write_summary(result, notes)
    code = _exit_code(replace(result, left=left), on_fix=exit_non_zero_on_fix) or int(bool(refused))
    raise typer.Exit(0 if exit_zero and code == 1 else code)


def _verify(  # noqa: PLR0913
    result: FixResult,
    paths: list[str],
    python: str | None,
    how: Options,
    notes: Page,
    *,
    unsafe: bool | None,
    limit: float,
) -> dict[str, str]:
    """Write the verdicts; return the files that must not be written, and why."""
    from kdoctor.cli.verified import not_verified, verified  # noqa: PLC0415
    from kdoctor.report.verdicts import write_refused, write_verdicts  # noqa: PLC0415

    if options.STDIN in paths:
        raise typer.BadParameter("--verify needs files: - (standard input) has no project")
    report = verified(paths, result, how, python=python, seconds=limit, unsafe=unsafe)
    refused = not_verified(result, report)
    write_verdicts(report, notes)
    write_refused(refused, notes)
    return refused


def _undo(paths: list[str], *, apply: bool, color: options.Color, quiet: bool) -> int:
    """Take back the last apply. Return the exit code."""
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.report.fix import write_undone  # noqa: PLC0415

    if apply:
        raise typer.BadParameter("--undo goes without --apply and --verify")
    if options.STDIN in paths:
        raise typer.BadParameter("--undo is of files: - (standard input) was never written")
    undone = engine.undo(paths)
    write_undone(undone, streams.output(color, quiet=quiet), streams.notes(color, quiet=quiet))
    return 2 if undone.left_alone else 0


def _print_fixed(result: FixResult, stdin: bytes) -> None:
    """Write the repaired standard input; as it came where nothing changes: a filter loses none."""
    after = result.files[0].after if result.files else stdin
    sys.stdout.flush()
    sys.stdout.buffer.write(after)
    sys.stdout.buffer.flush()


def _exit_code(result: FixResult, *, on_fix: bool) -> int:
    if result.left.unreadable or result.left_alone or result.left.project.unreadable:
        return 2
    if not result.written:
        return 1 if result.files else 0
    return 1 if result.left.findings or (on_fix and result.files) else 0
