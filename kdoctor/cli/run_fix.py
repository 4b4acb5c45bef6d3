"""Run ``kdoctor fix`` with parsed arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kdoctor.cli import choices, streams

if TYPE_CHECKING:
    from kdoctor.engine import FixResult, Options
    from kdoctor.report.output import Page


def fix(  # noqa: PLR0913 - the options of the command
    paths: list[str] | None = None,
    *,
    apply: bool = False,
    undo: bool = False,
    unsafe: bool | None = None,
    verify: bool = False,
    add_ignores: bool = False,
    reason: str = "",
    python: str | None = None,
    seconds: float = 60.0,
    no_sandbox: bool = False,
    target: str | None = None,
    namespace: choices.Namespace | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    preview: bool | None = None,
    trust_rules: bool = False,
    exclude: list[str] | None = None,
    force_exclude: bool = False,
    stdin_filename: str | None = None,
    config: str | None = None,
    isolated: bool = False,
    kind: choices.DocumentKind | None = None,
    no_gate: bool = False,
    no_cache: bool = False,
    jobs: int | None = None,
    executor: str | None = None,
    shape: choices.FixFormat = choices.FixFormat.TEXT,
    output: list[str] | None = None,
    exit_zero: bool = False,
    exit_non_zero_on_fix: bool = False,
    color: choices.Color = choices.Color.AUTO,
    quiet: bool = False,
    verbose: bool = False,
) -> int:
    """Show or write the fixes; return the exit code.

    Raises:
        OptionConflict: options do not go together.
        KdoctorError: it cannot be done.
    """
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.engine.baseline import compare  # noqa: PLC0415
    from kdoctor.engine.schedule.gc_control import claim_process  # noqa: PLC0415
    from kdoctor.report import fix as report  # noqa: PLC0415
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.output_files import outputs_of, write_outputs  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415

    named = choices.named_paths(paths, stdin_filename)
    if undo:
        return _undo(named, apply=apply or verify, color=color, quiet=quiet)
    if apply and choices.STDIN in named and len(named) > 1:
        raise choices.OptionConflict("with --apply, - (standard input) must be the only path")
    if add_ignores and (verify or unsafe):
        raise choices.OptionConflict("--add-ignores fixes nothing: drop --unsafe and --verify")
    if reason and not add_ignores:
        raise choices.OptionConflict("--reason requires --add-ignores")
    as_json = shape is choices.FixFormat.JSON
    if apply and as_json and choices.STDIN in named:
        raise choices.OptionConflict(
            "with --apply, standard input is written back fixed, not as JSON"
        )
    outputs = outputs_of(output or [])
    stdin = choices.read_stdin(named)
    how: engine.Options = {
        "target": target,
        "namespace": namespace,
        "select": choices.split(select),
        "ignore": choices.split(ignore),
        "preview": preview,
        "trust_rules": trust_rules,
        "exclude": exclude,
        "force_exclude": force_exclude,
        "config": config,
        "isolated": isolated,
        "kind": choices.kind_of(kind),
        "gate": not no_gate,
        "cache": not no_cache,
        "jobs": jobs,
        "diffs": as_json or any(each.form.diffs for each in outputs),
        "replacements": as_json or any(each.form.replacements for each in outputs),
        "stdin": stdin,
        "stdin_filename": stdin_filename,
    }
    policy = engine.FileSelection(named, how)
    known = choices.effective_baseline(None, policy) if apply else None
    how["anchors"] = known is not None or any(each.form.fingerprints for each in outputs)
    with (
        choices.executor_at(executor, jobs) as workers,
        progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as told,
    ):
        claim_process()
        result = engine.fix(
            named,
            apply=False,
            unsafe=unsafe,
            add_ignores=reason if add_ignores else None,
            **how | {"progress": told, "executor": workers},
        )
    page = streams.output(color, quiet=quiet, verbose=verbose)
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    kept_back = False
    if verify:
        running = choices.VerifyOptions(python, seconds, sandboxed=not no_sandbox)
        result, kept_back = _verify(result, named, running, how, notes, unsafe=unsafe)
    if apply:
        report.write_uncommitted(engine.uncommitted_files(result), result.root, notes)
        result = engine.write(result)
    # What is known is fixed like all else; but what is left of it is no failure.
    left = compare(result.left, known, named, policy.selects).result if known else result.left
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
    if not force_exclude and _is_told_of_nothing(result, notes):
        return 2
    code = _exit_code(replace(result, left=left), on_fix=exit_non_zero_on_fix) or int(kept_back)
    return 0 if exit_zero and code == 1 else code


def _verify(  # noqa: PLR0913
    result: FixResult,
    paths: list[str],
    running: choices.VerifyOptions,
    how: Options,
    notes: Page,
    *,
    unsafe: bool | None,
) -> tuple[FixResult, bool]:
    """Write the verdicts; return the verified part of the fix, and whether some is left out."""
    from kdoctor.cli.run_verify import verified  # noqa: PLC0415
    from kdoctor.report.verdicts import write_kept_back, write_verdicts  # noqa: PLC0415

    if choices.STDIN in paths:
        raise choices.OptionConflict(
            "--verify needs files: - (standard input) belongs to no project"
        )
    done = verified(paths, result, how, running, unsafe=unsafe)
    from kdoctor.cli.verified_fixes import only_verified  # noqa: PLC0415 - of what cannot run everywhere

    kept = only_verified(result, done, how, unsafe=unsafe)
    write_verdicts(done.report, notes)
    write_kept_back(kept.unwritten, kept.in_part, notes)
    return kept.result, bool(kept.unwritten or kept.in_part)


def _undo(paths: list[str], *, apply: bool, color: choices.Color, quiet: bool) -> int:
    """Undo the last apply; return the exit code."""
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.report.fix import write_undone  # noqa: PLC0415

    if apply:
        raise choices.OptionConflict("--undo cannot be combined with --apply or --verify")
    if choices.STDIN in paths:
        raise choices.OptionConflict("--undo needs files: - (standard input) was never written")
    undone = engine.undo(paths)
    write_undone(undone, streams.output(color, quiet=quiet), streams.notes(color, quiet=quiet))
    return 2 if undone.left_alone else 0


def _print_fixed(result: FixResult, stdin: bytes) -> None:
    """Write the fixed standard input, unchanged if there is nothing to fix, as a filter must."""
    after = result.files[0].after if result.files else stdin
    sys.stdout.flush()
    sys.stdout.buffer.write(after)
    sys.stdout.buffer.flush()


def _is_told_of_nothing(result: FixResult, notes: Page) -> bool:
    """Report that no file was read, if so; return whether it was reported."""
    from kdoctor.report.summary import write_nothing_read  # noqa: PLC0415

    if not result.left.has_read_nothing:
        return False
    write_nothing_read(notes)
    return True


def _exit_code(result: FixResult, *, on_fix: bool) -> int:
    if result.left.unreadable or result.left_alone or result.left.project.unreadable:
        return 2
    if not result.written:
        return 1 if result.files else 0
    return 1 if result.left.findings or (on_fix and result.files) else 0
