"""Run ``kdoctor scan`` with parsed arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kdoctor.cli import choices, streams

if TYPE_CHECKING:
    from kdoctor.engine import FileSelection, ScanResult
    from kdoctor.engine.baseline import Baseline, Comparison


def scan(  # noqa: PLR0913 - the options of the command
    paths: list[str] | None = None,
    *,
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
    format_name: str | None = None,
    output: list[str] | None = None,
    statistics: bool = False,
    exit_zero: bool = False,
    baseline: str | None = None,
    no_baseline: bool = False,
    color: choices.Color = choices.Color.AUTO,
    quiet: bool = False,
    verbose: bool = False,
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
    from kdoctor.report.summary import write_nothing_read, write_project  # noqa: PLC0415

    named = choices.named_paths(paths, stdin_filename)
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
        "stdin_filename": stdin_filename,
    }
    policy = engine.FileSelection(named, how)
    known = None if no_baseline else choices.effective_baseline(baseline, policy)
    chosen = choices.effective_format(format_name, policy)
    form = format_by_name(*chosen)
    write = statistics_of(chosen[0]) if statistics else form.write
    outputs = outputs_of(output or [])
    shown = [form, *(each.form for each in outputs)]
    page = streams.output(color, quiet=quiet, verbose=verbose)
    how |= {
        "edits": False,  # of a fix, reports tell the diff or the replacements
        "diffs": any(each.diffs for each in shown),
        "replacements": any(each.replacements for each in shown),
        "anchors": known is not None or any(each.fingerprints for each in shown),
        "stdin": choices.read_stdin(named),
    }
    with (
        choices.executor_at(executor, jobs) as workers,
        progress(sys.stderr, shown=is_terminal(sys.stderr) and not quiet) as told,
    ):
        claim_process()
        result = engine.scan(named, **how | {"progress": told, "executor": workers})
    notes = streams.notes(color, quiet=quiet, verbose=verbose)
    compared = _compared(result, known, named, policy)
    result = compared.result if compared else result
    write_outputs(result, outputs)
    write(result, page)
    write_project(result.project, notes)
    if compared:
        from kdoctor.report.baseline import write_note  # noqa: PLC0415

        write_note(compared, notes)
    if result.has_read_nothing and not force_exclude:
        write_nothing_read(notes)
        return 2
    if result.unreadable or result.project.unreadable:
        return 2
    return 1 if result.findings and not exit_zero else 0


def _compared(
    result: ScanResult, known: Baseline | None, paths: list[str], policy: FileSelection
) -> Comparison | None:
    if known is None:
        return None
    from kdoctor.engine.baseline import compare  # noqa: PLC0415

    return compare(result, known, paths, policy.selects)
