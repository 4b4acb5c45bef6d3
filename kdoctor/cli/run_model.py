"""Run ``kdoctor model`` with parsed arguments."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kdoctor.cli import choices, streams
from kdoctor.errors import FileProblem

if TYPE_CHECKING:
    from kdoctor.models import Explained
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
    from kdoctor.report import saved_model  # noqa: PLC0415

    target = target_of(asked.target)
    page = streams.output(asked.color, quiet=asked.quiet)
    unreadable = 0
    known = False
    for path in asked.paths:
        try:
            found = look_at(path, target)
        except FileProblem as problem:
            print(f"kdoctor: {problem}", file=sys.stderr)
            unreadable += 1
            continue
        write = saved_model.write_json if asked.output_format == "json" else saved_model.write_text
        write(found, page)
        known |= found.is_known
    return 2 if unreadable else int(known)


def target_of(given: str | None) -> Target:
    """Return the target that was asked for, else the newest Keras 3.

    Raises:
        UsageProblem: there is no such release.
    """
    from kdoctor.keras_api import newest_target, resolve_target  # noqa: PLC0415

    return newest_target() if given is None else resolve_target(given, "--target")


def look_at(path: str, target: Target) -> Explained:
    """Return what is known of one saved model.

    Raises:
        FileProblem: it cannot be read.
    """
    from kdoctor.models import explained  # noqa: PLC0415

    return explained(Path(path), target)
