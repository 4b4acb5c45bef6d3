"""Run ``kdoctor fix`` with parsed arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple, Unpack

from msgspec.structs import replace

from kdoctor import own_process
from kdoctor.cli import choices, streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from kdoctor.engine import FixResult, Options, ScanResult
    from kdoctor.report.output import Page
    from kdoctor.report.output_files import Output


def fix(  # noqa: PLR0913 - the options of the command
    paths: list[str] | None = None,
    *,
    apply: bool = False,
    undo: bool = False,
    interactive: bool = False,
    unsafe: bool | None = None,
    verify: bool = False,
    add_ignores: bool = False,
    reason: str = "",
    python: str | None = None,
    seconds: float = 60.0,
    no_sandbox: bool = False,
    executor: str | None = None,
    shape: choices.FixFormat = choices.FixFormat.TEXT,
    output: list[str] | None = None,
    exit_zero: bool = False,
    exit_non_zero_on_fix: bool = False,
    color: choices.Color = choices.Color.AUTO,
    quiet: bool = False,
    verbose: bool = False,
    **typed: Unpack[choices.EngineChoices],
) -> int:
    """Show or write the fixes; return the exit code.

    Raises:
        OptionConflict: options do not go together.
        KdoctorError: it cannot be done.
    """
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.cli import run_interactive  # noqa: PLC0415
    from kdoctor.engine.baseline import compare  # noqa: PLC0415
    from kdoctor.engine.schedule.gc_control import claim_process  # noqa: PLC0415
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.output_files import outputs_of  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415

    named = choices.named_paths(paths, typed.get("stdin_filename"))
    as_json = shape is choices.FixFormat.JSON
    _check_together(
        apply=apply,
        undo=undo,
        interactive=interactive,
        verify=verify,
        add_ignores=add_ignores,
        unsafe=bool(unsafe),
        reason=bool(reason),
        json=as_json,
        output=bool(output),
        stdin=choices.STDIN in named,
        others=len(named) > 1,
    )
    if undo:
        return _undo(named, color=color, quiet=quiet)
    if interactive:
        from kdoctor.cli import run_interactive  # noqa: PLC0415

        asked = streams.output(color, arguments=choices.arguments_again(paths, **typed))
        code = run_interactive.fix(named, choices.engine_options(**typed), asked, unsafe=unsafe)
        return 0 if exit_zero and code == 1 else code
    outputs = outputs_of(output or [])
    stdin = choices.read_stdin(named)
    how = choices.engine_options(**typed)
    policy = engine.FileSelection(named, how)
    known = choices.effective_baseline(None, policy) if apply else None
    how |= {
        "diffs": as_json or any(each.form.diffs for each in outputs),
        "replacements": as_json or any(each.form.replacements for each in outputs),
        "anchors": known is not None or any(each.form.fingerprints for each in outputs),
        "stdin": stdin,
    }
    with (
        choices.executor_at(executor, typed.get("jobs")) as workers,
        progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as report_progress,
    ):
        claim_process()
        result = engine.fix(
            named,
            apply=False,
            unsafe=unsafe,
            add_ignores=reason if add_ignores else None,
            **how | {"progress": report_progress, "executor": workers},
        )
    arguments = choices.arguments_again(paths, **typed)
    page, notes = (
        on(color, quiet=quiet, verbose=verbose, arguments=arguments)
        for on in (streams.output, streams.notes)
    )
    kept_back = False
    if verify:
        running = choices.VerifyOptions(python, seconds, sandboxed=not no_sandbox)
        result, kept_back = _verify(result, named, running, how, notes, unsafe=unsafe)

    def beyond_baseline(found: ScanResult) -> ScanResult:
        # What is known is fixed like all else; but what is left of it is no failure.
        return compare(found, known, named, policy.selects).result if known else found

    to = _Destinations(page, notes, outputs, as_json=as_json, stdin=stdin)
    result, left = _write_and_report(result, to, beyond_baseline, named, apply=apply)
    if not typed.get("force_exclude") and _is_told_of_nothing(result, notes):
        return 2
    code = _exit_code(replace(result, left=left), on_fix=exit_non_zero_on_fix) or int(kept_back)
    return 0 if exit_zero and code == 1 else code


class _Destinations(NamedTuple):
    """Where the outcome goes, and in which form."""

    page: Page
    notes: Page
    outputs: list[Output]
    as_json: bool
    stdin: bytes | None


def _write_and_report(
    result: FixResult,
    to: _Destinations,
    beyond_baseline: Callable[[ScanResult], ScanResult],
    named: list[str],
    *,
    apply: bool,
) -> tuple[FixResult, ScanResult]:
    """Write the files if asked to, and report; return the fix, and what it leaves to be done.

    Raises:
        KeyboardInterrupt: with a sentence that says how many files were written.
    """
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.report import fix as report  # noqa: PLC0415
    from kdoctor.report.output_files import write_outputs  # noqa: PLC0415
    from kdoctor.report.summary import write_pins  # noqa: PLC0415

    if apply:
        report.write_uncommitted(engine.uncommitted_files(result), result.root, to.notes)
    wanted = len(result.files)
    try:
        if apply:
            result = engine.write(result)
        left = beyond_baseline(result.left)
        write_outputs(left, to.outputs)
        if to.as_json:
            report.write_json(result, to.page)
        elif apply and to.stdin is not None:
            _print_fixed(result, to.stdin)
        else:
            (report.write_written if apply else report.write_diff)(result, to.page)
        # Apart from the diff, so that standard output is a patch and nothing else.
        report.write_summary(result, to.notes)
        if apply and to.stdin is None:
            write_pins(named, left, to.notes)
        sys.stdout.flush()
        own_process.ignore_interrupts()  # all is done and said
    except KeyboardInterrupt as interrupt:
        if interrupt.args or not result.written:
            raise
        raise engine.interrupted_after_writing(result, wanted) from None
    return result, left


# What does not go together: of each row, the first and any other, with what is said of it.
_CONFLICTS: Final = (
    ("undo", ("apply", "verify"), "--undo cannot be combined with --apply or --verify"),
    ("undo", ("interactive",), "--undo cannot be combined with --interactive"),
    ("undo", ("stdin",), "--undo needs files: - (standard input) was never written"),
    (
        "interactive",
        ("verify", "add_ignores", "json", "output"),
        "--interactive cannot be combined with --verify, --add-ignores, --format json or --output",
    ),
    (
        "interactive",
        ("stdin",),
        "--interactive reads answers from standard input: drop the path -",
    ),
    (
        "add_ignores",
        ("verify", "unsafe"),
        "--add-ignores fixes nothing: drop --unsafe and --verify",
    ),
)


def _check_together(*, apply: bool, stdin: bool, others: bool, **asked: bool) -> None:
    """Check that options go together.

    Raises:
        OptionConflict: some do not.
    """
    given = asked | {"apply": apply, "stdin": stdin}
    for option, excluded, why in _CONFLICTS:
        if given[option] and any(given[each] for each in excluded):
            raise choices.OptionConflict(why)
    if apply and stdin and others:
        raise choices.OptionConflict("with --apply, - (standard input) must be the only path")
    if asked["reason"] and not asked["add_ignores"]:
        raise choices.OptionConflict("--reason requires --add-ignores")
    if apply and asked["json"] and stdin:
        raise choices.OptionConflict(
            "with --apply, standard input is written back fixed, not as JSON"
        )


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


def _undo(paths: list[str], *, color: choices.Color, quiet: bool) -> int:
    """Undo the last apply; return the exit code."""
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.report.fix import write_undone  # noqa: PLC0415

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
