"""Run ``kdoctor scan`` with parsed arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Unpack

from kdoctor.cli import choices, streams

if TYPE_CHECKING:
    from kdoctor.engine import FileSelection, ScanResult
    from kdoctor.engine.baseline import Baseline, Comparison
    from kdoctor.project.changed_lines import ChangedLines


def scan(  # noqa: PLR0913 - the options of the command
    paths: list[str] | None = None,
    *,
    executor: str | None = None,
    format_name: str | None = None,
    output: list[str] | None = None,
    statistics: bool = False,
    exit_zero: bool = False,
    baseline: str | None = None,
    no_baseline: bool = False,
    diff: str | None = None,
    show: choices.Show = choices.Show.FOLDED,
    color: choices.Color = choices.Color.AUTO,
    quiet: bool = False,
    verbose: bool = False,
    **typed: Unpack[choices.EngineChoices],
) -> int:
    """Scan the paths and write the findings; return the exit code.

    Raises:
        OptionConflict: options do not go together.
        KdoctorError: it cannot be done.
    """
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.engine.schedule.gc_control import claim_process  # noqa: PLC0415
    from kdoctor.report.formats import format_by_name, statistics_of  # noqa: PLC0415
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.output_files import outputs_of, write_outputs  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.report.summary import (  # noqa: PLC0415
        write_changed_only,
        write_nothing_read,
        write_pins,
        write_project,
    )

    named = choices.named_paths(paths, typed.get("stdin_filename"))
    changed = _changed_since(diff, named)
    how = choices.engine_options(**typed)
    policy = engine.FileSelection(named, how)
    known = None if no_baseline else choices.effective_baseline(baseline, policy)
    chosen = choices.effective_format(format_name, policy)
    form = format_by_name(*chosen)
    write = statistics_of(chosen[0]) if statistics else form.write
    outputs = outputs_of(output or [])
    shown = [form, *(each.form for each in outputs)]
    page = streams.output(
        color,
        quiet=quiet,
        verbose=verbose,
        arguments=choices.arguments_again(paths, **typed),
        folded=show is choices.Show.FOLDED,
    )
    how |= {
        "edits": False,  # of a fix, reports tell the diff or the replacements
        "diffs": any(each.diffs for each in shown),
        "replacements": any(each.replacements for each in shown),
        "anchors": known is not None or any(each.fingerprints for each in shown),
        "stdin": choices.read_stdin(named),
    }
    with (
        choices.executor_at(executor, typed.get("jobs")) as workers,
        progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as report_progress,
    ):
        claim_process()
        result = engine.scan(named, **how | {"progress": report_progress, "executor": workers})
    notes = streams.notes(color, quiet=quiet, verbose=verbose, arguments=page.arguments)
    compared = _compared(result, known, named, policy)
    result = compared.result if compared else result
    everything = result
    if changed is not None:
        from kdoctor.engine.selection.changed_only import only_changed  # noqa: PLC0415

        result = only_changed(result, changed)
    write_outputs(result, outputs)
    write(result, page)
    write_project(result.project, notes)
    if choices.STDIN not in named and chosen[0] == "text":
        write_pins(named, everything, notes)
    if compared:
        from kdoctor.report.baseline import write_note  # noqa: PLC0415

        write_note(compared, notes)
    if changed is not None:
        write_changed_only(everything, result, diff or "", changed, notes)
    if everything.has_read_nothing and not typed.get("force_exclude"):
        write_nothing_read(notes)
        return 2
    if result.unreadable or result.project.unreadable:
        return 2
    return 1 if result.findings and not exit_zero else 0


def _changed_since(commit: str | None, named: list[str]) -> ChangedLines | None:
    """Return the lines that changed since a commit, None where none is given.

    Raises:
        OptionConflict: standard input is to be read, which git does not know.
        UsageProblem: git knows no such commit.
    """
    if commit is None:
        return None
    if choices.STDIN in named:
        raise choices.OptionConflict("--diff needs files: git does not know - (standard input)")
    from kdoctor.project.changed_lines import ChangedLines  # noqa: PLC0415
    from kdoctor.project.root import start_of  # noqa: PLC0415

    return ChangedLines.since(commit, start_of(named))


def _compared(
    result: ScanResult, known: Baseline | None, paths: list[str], policy: FileSelection
) -> Comparison | None:
    if known is None:
        return None
    from kdoctor.engine.baseline import compare  # noqa: PLC0415

    return compare(result, known, paths, policy.selects)
