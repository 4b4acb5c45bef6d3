"""Run ``kdoctor model`` with parsed arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from kdoctor.cli import choices, streams
from kdoctor.errors import UsageProblem
from kdoctor.report.output import printable

if TYPE_CHECKING:
    from kdoctor.target import Target


class Asked(NamedTuple):
    """The arguments of the command."""

    paths: tuple[str, ...]
    target: str | None = None
    output_format: str = "text"
    exclude: tuple[str, ...] = ()
    color: choices.Color = choices.Color.AUTO
    quiet: bool = False


def model(asked: Asked) -> int:
    """Look at the saved models and write what was found; return the exit code.

    Raises:
        UsageProblem: a path does not exist, or there is no such target.
    """
    from kdoctor.models.looking import look_at  # noqa: PLC0415
    from kdoctor.report import saved_model  # noqa: PLC0415
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415

    if choices.STDIN in asked.paths:
        raise UsageProblem("a saved model is read from a file: name it")
    target = target_of(asked.target)
    with progress(sys.stderr, shown=is_terminal(sys.stderr) and not asked.quiet) as report_progress:
        found = look_at(asked.paths, target, asked.exclude, report_progress)
    page = streams.output(asked.color, quiet=asked.quiet)
    notes = streams.notes(asked.color, quiet=asked.quiet)
    if asked.output_format == "sarif":
        from kdoctor.report.saved_model_sarif import write_sarif  # noqa: PLC0415

        write_sarif(found, page)
    elif asked.output_format == "json":
        saved_model.write_models_json(found, page)
    else:
        saved_model.write_models(found, page)
    for each in found.leading_out if page.verbosity >= 0 else ():
        notes.line(f"kdoctor: {printable(each)}: not read: a link out of the folder; name it")
    for each in found.without:
        notes.line(f"kdoctor: {printable(each)}: loads no saved model that is here by its path")
    if found.has_read_nothing and not found.without:
        notes.line("kdoctor: no saved model was found: name a file to have it looked at")
    if found.unreadable or found.has_read_nothing:
        return 2
    return int(any(each.is_known for each in found.models))


def target_of(given: str | None) -> Target:
    """Return the target that was asked for, else the newest Keras 3.

    Raises:
        UsageProblem: there is no such release.
    """
    from kdoctor.keras_api import newest_target, resolve_target  # noqa: PLC0415

    return newest_target() if given is None else resolve_target(given, "--target")
