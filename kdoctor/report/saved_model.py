"""What keeps a saved model from being loaded, as text and as JSON."""

from __future__ import annotations

import json

from kdoctor.models import Explained
from kdoctor.report.output import Page, printable

_MAX_SHOWN = 40  # obstacles; JSON has all


def write_text(found: Explained, page: Page) -> None:
    """Write what the file is, then each obstacle with its place."""
    page.line(f"{page.paint('path', printable(str(found.path)))}: {found.kind}")
    if found.is_refused:
        page.line(f"`keras.models.load_model` of {found.target} loads no file of this kind.")
        return
    if found.obstacles is None:
        page.line("The file has no configuration of a model: it may hold weights only.")
        return
    if not found.obstacles:
        page.line(
            f"{found.target} has each class of its configuration, and takes each argument. kdoctor "
            "looks at neither weights nor what the model was compiled with."
        )
        return
    page.line(f"What {found.target} does not make:")
    for each in found.obstacles[:_MAX_SHOWN]:
        place = page.paint("path", printable(each.place or "the model"))
        page.line(f"  {place}: {printable(each.cause)}")
    if len(found.obstacles) > _MAX_SHOWN:
        page.line(f"  … and {len(found.obstacles) - _MAX_SHOWN} more, all in --json")
    page.line("kdoctor looks at neither weights nor what the model was compiled with.")


def write_json(found: Explained, page: Page) -> None:
    """Write the same as one object."""
    told = None
    if found.obstacles is not None:
        told = [{"place": each.place, "cause": each.cause} for each in found.obstacles]
    page.line(
        json.dumps(
            {
                "file": str(found.path),
                "kind": str(found.kind),
                "target": str(found.target),
                "kind_is_loaded": not found.is_refused,
                "obstacles": told,
            },
            ensure_ascii=False,
        )
    )
